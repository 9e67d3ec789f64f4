// SPDX-License-Identifier: Apache-2.0
// One device: its memory, its streams and the rules between them, and the fault that stopped it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emu/chips.h"
#include "emu/exec/run.h"
#include "emu/heap.h"
#include "emu/hip/stream.h"
#include "emu/hostcall.h"
#include "emu/memory.h"

namespace emu::hip {

class Device {
 public:
  Device(int index, const Chip& chip, uint64_t memory_bytes, const HostSpace& host);
  ~Device();

  int index() const { return index_; }
  const Chip& chip() const { return chip_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  /// Reserved at the first use.
  Memory& memory();
  /// Whether the address lies in this device's range.
  bool contains(uint64_t address) const;

  /// Appends work to a stream of this device, after what HIP orders before it: the null stream and blocking
  /// streams wait for each other. always: even when a kernel has stopped the device by then.
  Ticket submit(Stream& stream, Work work, std::vector<Ticket> waits = {}, bool always = false);
  /// Runs work on a worker; a Fault is reported and stops the device.
  void perform(const Work& work, bool always);

  Stream& null_stream() { return *null_; }
  Stream* create_stream(unsigned flags, int priority);
  /// Waits for its work first.
  void destroy_stream(Stream* stream);
  /// The stream is no program's any more, and goes some time after its work.
  void leave_stream(Stream* stream);
  /// Null, a number with a meaning, or a handle; the stream may be another device's.
  void synchronize();
  /// Every stream's newest ticket.
  std::vector<Ticket> pending();

  /// Throws the error that stopped this device.
  void check() const;
  Error failure() const { return failure_.load(); }
  void fail(const Fault& fault);
  std::string last_report() const;
  /// Waits, and puts the device back into the state it began in: memory, pools, variables of modules, peers,
  /// limits; the failure is forgotten. Streams, events and modules stay.
  void reset();

  /// Blocks that programs own. Throws hipErrorOutOfMemory.
  void* allocate(size_t bytes);
  /// False when it is none.
  bool release(void* block);
  /// The program owns the block no more, though its memory is still there. False when it did not own it.
  bool disown(void* block);

  /// What kernels allocate.
  KernelHeap& kernel_heap();
  /// Zeroed memory in which the device library keeps account of its own heap (code objects of version 5 and
  /// later).
  uint64_t library_heap();
  static constexpr size_t kLibraryHeapBytes = 131072;
  /// A buffer for the calls of one run of a kernel; given back when the run has ended well.
  std::unique_ptr<Hostcall> take_hostcall();
  void give_back(std::unique_ptr<Hostcall> hostcall);
  /// Room for what one run may print (`-mprintf-kind=buffered`).
  size_t print_bytes() const { return print_bytes_.load(); }
  void set_print_bytes(size_t bytes) { print_bytes_.store(bytes); }

  /// Devices whose memory kernels here may touch. False when nothing changes.
  bool add_peer(int device);
  bool remove_peer(int device);
  bool has_peer(int device);

  /// The process ends: nothing begins any more, and running kernels go no further.
  void end_streams();
  /// After end_streams(): waits for the workers, as Stream::join does.
  bool join_streams(std::chrono::steady_clock::time_point patience_until);
  /// Whether they were ended; kernels look at it.
  const std::atomic<bool>& ending() const { return ending_; }

 private:
  static constexpr size_t kPrintBytes = size_t{1} << 20;
  void forget_peers();
  /// Streams that were left and have done their work go.
  void sweep();

  const int index_;
  const Chip& chip_;
  const uint64_t memory_bytes_;
  const HostSpace& host_;
  std::once_flag memory_once_;
  std::unique_ptr<Memory> memory_;
  std::atomic<Memory*> ready_memory_{nullptr};
  std::mutex order_;  // of submissions, and guards streams_
  std::unique_ptr<Stream> null_;
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> left_;  // of streams_; guarded by order_
  std::atomic<bool> ending_{false};
  std::atomic<Error> failure_{hipSuccess};
  mutable std::mutex report_mutex_;
  std::string report_;
  std::mutex blocks_mutex_;
  std::set<void*> blocks_;
  std::set<int> peers_;                      // guarded by blocks_mutex_
  std::unique_ptr<KernelHeap> kernel_heap_;  // made with the memory
  std::mutex host_mutex_;
  uint64_t library_heap_ = 0;
  std::vector<std::unique_ptr<Hostcall>> hostcalls_;  // that are not in use
  std::atomic<size_t> print_bytes_{kPrintBytes};
};

/// A stream by its handle, for the calling thread's device.
Stream& find_stream(StreamHandle handle);

}  // namespace emu::hip
