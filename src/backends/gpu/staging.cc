// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/staging.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "backends/gpu/gpu.h"
#include "core/thread_pool.h"

namespace beeswax::gpu {
namespace {

constexpr size_t kLeastBytes = size_t{64} << 10;  // of a buffer
constexpr int64_t kShare = int64_t{256} << 10;    // bytes that are worth a thread

void copy_with_threads(void* to, const void* from, size_t bytes) {
  parallel_ranges(static_cast<int64_t>(bytes), kShare, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

}  // namespace

Staging::Staging(Gpu& gpu, const Driver& driver)
    : gpu_(gpu), driver_(driver), buffers_{Buffer(driver), Buffer(driver), Buffer(driver), Buffer(driver)} {}

size_t Staging::buffers() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<size_t>(
      std::ranges::count_if(buffers_, [](const Buffer& buffer) { return buffer.bytes > 0; }));
}

void Staging::wait(Buffer& buffer) {
  if (!buffer.busy) return;
  gpu_.check_work(driver_.wait_for_event(buffer.done.get()), "waiting for a copy");
  buffer.busy = false;
}

void Staging::prepare(Buffer& buffer, size_t bytes) {
  wait(buffer);
  if (bytes <= buffer.bytes) return;
  const size_t wanted = std::max(std::bit_ceil(bytes), kLeastBytes);
  void* seen = nullptr;
  Buffer larger(driver_);
  gpu_.check_work(gpu_.with_memory([&] { return driver_.allocate_host(wanted, larger.memory.out(), &seen); }),
                  "allocating pinned memory");
  gpu_.check_work(gpu_.with_memory([&] { return driver_.create_event(false, larger.done.out()); }),
                  "creating an event");
  larger.bytes = wanted;
  std::swap(buffer, larger);
}

void Staging::start(Buffer& buffer, void* to, const void* from, size_t bytes, Direction direction,
                    StreamHandle stream) {
  gpu_.check_work(driver_.copy(to, from, bytes, direction, stream),
                  direction == Direction::HostToDevice ? "copying to the device" : "copying from the device");
  const Result recorded = driver_.record_event(buffer.done.get(), stream);
  // Without the event the buffer is free when the stream is.
  if (!recorded.ok()) gpu_.check_work(driver_.wait_for_stream(stream), "waiting for a copy");
  gpu_.check_work(recorded, "recording an event");
  buffer.busy = true;
}

void Staging::upload(void* to, const void* from, size_t bytes, StreamHandle stream) {
  const std::scoped_lock lock(mutex_);
  for (size_t at = 0; at < bytes; at += kMostBytes) {
    const size_t part = std::min(bytes - at, kMostBytes);
    Buffer& buffer = buffers_[next_];
    next_ = (next_ + 1) % kBuffers;
    prepare(buffer, part);
    copy_with_threads(buffer.memory.get(), static_cast<const std::byte*>(from) + at, part);
    start(buffer, static_cast<std::byte*>(to) + at, buffer.memory.get(), part, Direction::HostToDevice,
          stream);
  }
}

void Staging::download(void* to, const void* from, size_t bytes, StreamHandle stream) {
  const std::scoped_lock lock(mutex_);
  constexpr size_t kAhead = (kBuffers - 1) * kMostBytes;
  // A part is begun, and the one that was begun three before it is emptied.
  for (size_t at = 0; at < bytes + kAhead; at += kMostBytes) {
    if (at < bytes) {
      const size_t part = std::min(bytes - at, kMostBytes);
      Buffer& buffer = buffers_[at / kMostBytes % kBuffers];
      prepare(buffer, part);
      start(buffer, buffer.memory.get(), static_cast<const std::byte*>(from) + at, part,
            Direction::DeviceToHost, stream);
    }
    if (at < kAhead || at - kAhead >= bytes) continue;
    const size_t behind = at - kAhead;
    Buffer& buffer = buffers_[behind / kMostBytes % kBuffers];
    wait(buffer);
    copy_with_threads(static_cast<std::byte*>(to) + behind, buffer.memory.get(),
                      std::min(bytes - behind, kMostBytes));
  }
}

}  // namespace beeswax::gpu
