// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/device.h"

#include <cstring>

#include "emu/hip/graph.h"
#include "emu/hip/report.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {
namespace {

// Streams that programs hold, of every device.
std::mutex live_mutex;
std::set<Stream*> live_streams;

// hipStreamPerThread: one for each thread and device, gone with the thread, as if it were destroyed. Nobody
// waits for its work, because exit() is an end of the calling thread too.
struct ThreadStreams {
  std::map<Device*, Stream*> streams;
  ~ThreadStreams() {
    const UnderWay call;
    if (!alive()) return;
    for (const auto& [device, stream] : streams) {
      leave_capture(*stream);
      device->leave_stream(stream);
    }
  }
};
thread_local ThreadStreams thread_streams;

}  // namespace

Device::Device(int index, const Chip& chip, uint64_t memory_bytes, const HostSpace& host)
    : index_(index), chip_(chip), memory_bytes_(memory_bytes), host_(host) {
  null_ = std::make_unique<Stream>(*this, 0, 0, true);
}

Device::~Device() {
  end_streams();
  join_streams(std::chrono::steady_clock::now());
  const std::lock_guard lock(live_mutex);
  for (const auto& [handle, stream] : streams_) live_streams.erase(handle);
}

Memory& Device::memory() {
  std::call_once(memory_once_, [&] {
    memory_ = std::make_unique<Memory>(memory_bytes_, &host_);
    kernel_heap_ = std::make_unique<KernelHeap>(*memory_);
    ready_memory_.store(memory_.get());
  });
  return *memory_;
}

bool Device::contains(uint64_t address) const {
  const Memory* memory = ready_memory_.load();
  return memory != nullptr && memory->contains(address);
}

Ticket Device::submit(Stream& stream, Work work, std::vector<Ticket> waits, bool always) {
  const std::lock_guard lock(order_);
  if (stream.is_null()) {
    for (const auto& [handle, other] : streams_)
      if (other->blocking()) waits.push_back(other->last());
  } else if (stream.blocking()) {
    waits.push_back(null_->last());
  }
  std::erase_if(waits, [](const Ticket& ticket) { return ticket->done(); });
  return stream.push(std::move(work), std::move(waits), always);
}

void Device::perform(const Work& work, bool always) {
  if (!always && failure_.load() != hipSuccess) return;
  try {
    work();
  } catch (const Fault& fault) {
    fail(fault);
  } catch (const std::exception& error) {
    fail(Fault(Fault::Kind::Unsupported, error.what()));
  }
}

void Device::fail(const Fault& fault) {
  const bool address = fault.kind == Fault::Kind::OutOfBounds || fault.kind == Fault::Kind::UseAfterFree;
  const std::lock_guard lock(report_mutex_);
  if (failure_.load() != hipSuccess) return;
  report_ = report_text(fault, *this);
  if (!Runtime::get().settings().silent) print_report(report_);
  failure_.store(address ? hipErrorIllegalAddress : hipErrorLaunchFailure);
}

std::string Device::last_report() const {
  const std::lock_guard lock(report_mutex_);
  return report_;
}

void Device::check() const {
  const Error failure = failure_.load();
  if (failure != hipSuccess) throw ApiError(failure, "an earlier kernel stopped the device");
}

Stream* Device::create_stream(unsigned flags, int priority) {
  sweep();
  auto stream = std::make_unique<Stream>(*this, flags, priority);
  Stream* handle = stream.get();
  const std::lock_guard lock(order_);
  streams_[handle] = std::move(stream);
  const std::lock_guard live_lock(live_mutex);
  live_streams.insert(handle);
  return handle;
}

void Device::destroy_stream(Stream* handle) {
  {
    const std::lock_guard lock(live_mutex);
    live_streams.erase(handle);
  }
  // What it still has to do is done before it goes; others may wait for it meanwhile.
  handle->last()->wait();
  std::unique_ptr<Stream> stream;
  const std::lock_guard lock(order_);
  if (const auto found = streams_.find(handle); found != streams_.end()) {
    stream = std::move(found->second);
    streams_.erase(found);
  }
}

void Device::leave_stream(Stream* handle) {
  {
    const std::lock_guard lock(live_mutex);
    live_streams.erase(handle);
  }
  {
    const std::lock_guard lock(order_);
    left_.push_back(handle);
  }
  sweep();
}

void Device::sweep() {
  std::vector<std::unique_ptr<Stream>> done;  // they go when the lock is free again
  const std::lock_guard lock(order_);
  std::erase_if(left_, [&](Stream* stream) {
    if (!stream->last()->done()) return false;
    const auto found = streams_.find(stream);
    done.push_back(std::move(found->second));
    streams_.erase(found);
    return true;
  });
}

std::vector<Ticket> Device::pending() {
  const std::lock_guard lock(order_);
  std::vector<Ticket> tickets{null_->last()};
  for (const auto& [handle, stream] : streams_) tickets.push_back(stream->last());
  return tickets;
}

void Device::synchronize() {
  for (const Ticket& ticket : pending()) ticket->wait();
}

void* Device::allocate(size_t bytes) {
  void* block = memory().allocate(bytes);
  if (block == nullptr)
    throw ApiError(hipErrorOutOfMemory, std::to_string(bytes) + " bytes wanted, " +
                                            std::to_string(memory().capacity() - memory().used()) + " free");
  const std::lock_guard lock(blocks_mutex_);
  blocks_.insert(block);
  return block;
}

bool Device::disown(void* block) {
  const std::lock_guard lock(blocks_mutex_);
  return blocks_.erase(block) == 1;
}

bool Device::release(void* block) { return disown(block) && memory().release(block); }

void Device::reset() {
  synchronize();
  std::set<void*> blocks;
  {
    const std::lock_guard lock(blocks_mutex_);
    blocks.swap(blocks_);
  }
  for (void* block : blocks) memory().release(block);
  kernel_heap().clear();
  {
    const std::lock_guard lock(host_mutex_);
    if (library_heap_ != 0) memory().release(reinterpret_cast<void*>(library_heap_));
    library_heap_ = 0;
  }
  reset_pools(*this);
  reset_modules(*this);
  reset_fat_binaries(*this);
  forget_peers();
  print_bytes_.store(kPrintBytes);
  failure_.store(hipSuccess);
}

void Device::forget_peers() {
  {
    const std::lock_guard lock(blocks_mutex_);
    peers_.clear();
  }
  for (const auto& other : Runtime::get().devices()) {
    if (other.get() == this || other->ready_memory_.load() == nullptr) continue;
    memory().set_peer(other->ready_memory_.load(), false);
    // What a pool of this device let the other one touch; its own peers are its own affair.
    if (!other->has_peer(index_)) other->memory().set_peer(&memory(), false);
  }
}

KernelHeap& Device::kernel_heap() {
  memory();
  return *kernel_heap_;
}

uint64_t Device::library_heap() {
  const std::lock_guard lock(host_mutex_);
  if (library_heap_ == 0) {
    void* block = memory().allocate(kLibraryHeapBytes);
    if (block == nullptr)
      throw Fault(Fault::Kind::Unsupported, "no device memory is left for the heap of kernels");
    std::memset(block, 0, kLibraryHeapBytes);
    library_heap_ = reinterpret_cast<uint64_t>(block);
    memory().mark_initialized(library_heap_, kLibraryHeapBytes);
  }
  return library_heap_;
}

std::unique_ptr<Hostcall> Device::take_hostcall() {
  {
    const std::lock_guard lock(host_mutex_);
    if (!hostcalls_.empty()) {
      auto hostcall = std::move(hostcalls_.back());
      hostcalls_.pop_back();
      return hostcall;
    }
  }
  // On pinned memory, where AMD's runtime has it too; a packet for each wave that the chip could hold.
  const uint32_t waves = chip_.compute_units * chip_.simds_per_unit * chip_.waves_per_simd;
  return std::make_unique<Hostcall>(Runtime::get().host().pinned(), waves);
}

void Device::give_back(std::unique_ptr<Hostcall> hostcall) {
  const std::lock_guard lock(host_mutex_);
  hostcalls_.push_back(std::move(hostcall));
}

bool Device::add_peer(int device) {
  const std::lock_guard lock(blocks_mutex_);
  return peers_.insert(device).second;
}

bool Device::has_peer(int device) {
  const std::lock_guard lock(blocks_mutex_);
  return peers_.contains(device);
}

bool Device::remove_peer(int device) {
  const std::lock_guard lock(blocks_mutex_);
  return peers_.erase(device) == 1;
}

void Device::end_streams() {
  ending_.store(true);
  const std::lock_guard lock(order_);
  null_->end();
  for (const auto& [handle, stream] : streams_) stream->end();
}

bool Device::join_streams(std::chrono::steady_clock::time_point patience_until) {
  const std::lock_guard lock(order_);
  bool all = null_->join(patience_until);
  for (const auto& [handle, stream] : streams_) all = stream->join(patience_until) && all;
  return all;
}

Stream& find_stream(StreamHandle handle) {
  Device& device = Runtime::get().current();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number == 0 || number == kLegacyStream) return device.null_stream();
  if (number == kPerThreadStream) {
    auto& streams = thread_streams.streams;
    auto found = streams.find(&device);
    if (found == streams.end()) found = streams.emplace(&device, device.create_stream(0, 0)).first;
    return *found->second;
  }
  const std::lock_guard lock(live_mutex);
  require(live_streams.contains(handle), hipErrorInvalidHandle, "no such stream");
  return *handle;
}

}  // namespace emu::hip
