// SPDX-License-Identifier: Apache-2.0
// Memory that kernels allocate and free: blocks of the device's memory, each watched as any other. Any thread
// may call anything here.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "emu/memory.h"

namespace emu {

class KernelHeap {
 public:
  explicit KernelHeap(Memory& memory) : memory_(memory) {}
  ~KernelHeap() { clear(); }
  KernelHeap(const KernelHeap&) = delete;
  KernelHeap& operator=(const KernelHeap&) = delete;

  /// The address of a new block, at a multiple of `alignment` (a power of two); 0 when there is no memory
  /// left.
  uint64_t allocate(uint64_t bytes, size_t alignment = Memory::kGranule);
  /// False when no live block of this heap starts there.
  bool release(uint64_t address);
  /// Where the address lies, for a person.
  std::string describe(uint64_t address) const { return memory_.describe(address); }
  /// Frees what kernels did not.
  void clear();
  size_t live_blocks() const;

 private:
  Memory& memory_;
  mutable std::mutex mutex_;
  std::unordered_set<uint64_t> live_;
};

}  // namespace emu
