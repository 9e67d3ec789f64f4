// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the host while they run: ROCm's hostcall buffer, with the layout that the device
// libraries of ROCm 5 and 6 have (ockl). A wave takes a packet from the stack of free ones, fills in a slot
// for each of its lanes, pushes it on the stack of ready ones, rings, and waits until the packet's ready bit
// is 0; then its lanes read two words each, and the packet goes back.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "emu/heap.h"
#include "emu/memory.h"

namespace emu {

class Hostcall {
 public:
  /// packets: not fewer than the waves that run at once; rounded up to a power of two. The buffer lies in
  /// `memory`. Throws std::bad_alloc.
  Hostcall(Memory& memory, uint32_t packets);
  ~Hostcall();
  Hostcall(const Hostcall&) = delete;
  Hostcall& operator=(const Hostcall&) = delete;

  /// For the hidden argument; the buffer ends bytes() behind it.
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }

  /// Answers every packet that is ready. heap: for the service that allocates. Throws Fault for what cannot
  /// be answered; then the buffer must not be used again. Its lane is that of the packet, whose wave is
  /// surely the one that rang only when the packet was alone (wave = 0, else -1).
  void serve(KernelHeap& heap);

 private:
  struct Buffer;
  struct Header;
  using Slot = uint64_t[8];

  Buffer& buffer() const { return *reinterpret_cast<Buffer*>(address_); }
  void answer(uint32_t service, uint64_t* slot, KernelHeap& heap);
  void take_message(uint64_t* slot);

  Memory& memory_;
  uint64_t address_ = 0, bytes_ = 0, packets_ = 2;
  std::mutex mutex_;
  std::map<uint64_t, std::vector<uint64_t>> messages_;  // begun and not ended, by their number
  uint64_t next_message_ = 0;
};

}  // namespace emu
