// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/streams.h"

#include <algorithm>

#include "backends/gpu/gpu.h"
#include "core/fail.h"

namespace beeswax::gpu {

DeviceStream::DeviceStream(Streams& streams, uint32_t index)
    : streams_(streams),
      index_(index),
      handle_(streams.gpu().driver()),
      slot_(streams.slots().take()),
      staging_(streams.gpu(), streams.gpu().driver()),
      event_(streams.gpu().driver()) {
  Gpu& gpu = streams.gpu();
  check(gpu.driver(), gpu.with_memory([&] { return gpu.driver().create_stream(handle_.out()); }),
        "creating a stream");
}

void DeviceStream::wait_for(const Mark& mark) {
  if (has_seen(mark)) return;
  Gpu& gpu = streams_.gpu();
  const Driver& driver = gpu.driver();
  DeviceStream& other = *streams_.at(mark.stream);
  gpu.use();
  const std::scoped_lock lock(other.mutex_);
  std::atomic<uint64_t>& seen = seen_[other.index_];
  if (other.finished_ >= mark.ticket) {
    seen.store(std::max(seen.load(), other.finished_), std::memory_order_release);
    return;
  }
  if (other.recorded_ < mark.ticket) {
    if (!other.event_)
      check(driver, gpu.with_memory([&] { return driver.create_event(false, other.event_.out()); }),
            "creating an event of a stream");
    const uint64_t now = other.ticket();
    gpu.check_work(driver.record_event(other.event_.get(), other.handle()), "recording an event of a stream");
    other.recorded_ = now;
  }
  gpu.check_work(driver.make_stream_wait(handle(), other.event_.get()), "making a stream wait for another");
  count();
  seen.store(std::max(seen.load(), other.recorded_), std::memory_order_release);
}

void DeviceStream::wait() {
  const uint64_t now = ticket();
  streams_.gpu().check_work(streams_.gpu().driver().wait_for_stream(handle()), "waiting for the device");
  const std::scoped_lock lock(mutex_);
  finished_ = std::max(finished_, now);
}

bool DeviceStream::idle() const {
  const Result result = streams_.gpu().driver().query_stream(handle());
  if (result.code == Code::NotReady) return false;
  streams_.gpu().check_work(result, "asking whether a stream is done on");
  return true;
}

void DeviceStream::look_at(const SlotRef& slot) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(others_, slot) == others_.end()) others_.push_back(slot);
}

std::optional<ErrorSlot> DeviceStream::wait_for_errors() {
  // Graphs that are replayed from now on are looked at by the next wait.
  std::vector<SlotRef> others;
  {
    const std::scoped_lock lock(mutex_);
    others.swap(others_);
  }
  const auto keep = [&] {
    for (const SlotRef& slot : others) look_at(slot);
  };
  try {
    wait();
  } catch (...) {
    keep();
    throw;
  }
  std::optional<ErrorSlot> found = slot_->take();
  for (const SlotRef& slot : others)
    if (!found.has_value()) found = slot->take();
  std::erase_if(others, [](const SlotRef& slot) { return !slot->reported(); });
  keep();
  return found;
}

std::optional<ErrorSlot> DeviceStream::take_locked() {
  std::optional<ErrorSlot> found = slot_->take();
  if (found.has_value()) return found;
  for (const SlotRef& slot : others_)
    if (!found.has_value()) found = slot->take();
  // What has nothing to tell by now belongs to who replays it next.
  std::erase_if(others_, [](const SlotRef& slot) { return !slot->reported(); });
  return found;
}

std::optional<ErrorSlot> DeviceStream::take_error_until(uint64_t done) {
  const std::scoped_lock lock(mutex_);
  // A replay is counted before look_at, so none that is under way loses its slot.
  return ticket() == done ? take_locked() : std::nullopt;
}

std::optional<ErrorSlot> DeviceStream::take_error() {
  const std::scoped_lock lock(mutex_);
  return take_locked();
}

size_t DeviceStream::events() const {
  const std::scoped_lock lock(mutex_);
  return staging_.buffers() + (event_ ? 1 : 0);
}

Streams::Streams(Gpu& gpu) : gpu_(gpu), slots_(gpu.driver()) { owned_.reserve(kMostStreams); }

DeviceStream& Streams::make(uint32_t index) {
  DeviceStream& stream = *owned_.emplace_back(std::make_unique<DeviceStream>(*this, index));
  streams_[index].store(&stream, std::memory_order_release);
  count_.store(index + 1, std::memory_order_release);
  return stream;
}

void Streams::start() { make(0); }

DeviceStream& Streams::taken(DeviceStream& stream) {
  // What its last holder did not ask after is not the next one's.
  while (const std::optional<ErrorSlot> found = stream.take_error()) leave_behind(*found);
  stream.hold();
  return stream;
}

void Streams::leave_behind(const ErrorSlot& found) {
  const std::scoped_lock lock(leaving_);
  if (left_behind_.size() < kMostStreams) left_behind_.push_back(found);
}

std::optional<ErrorSlot> Streams::take_left_behind() {
  const std::scoped_lock lock(leaving_);
  if (left_behind_.empty()) return std::nullopt;
  const ErrorSlot first = left_behind_.front();
  left_behind_.erase(left_behind_.begin());
  return first;
}

DeviceStream& Streams::lease() {
  const std::scoped_lock lock(leasing_);
  gpu_.use();
  DeviceStream* busy = nullptr;
  for (uint32_t i = 1; i < count(); ++i) {
    DeviceStream& stream = *at(i);
    if (stream.held()) continue;
    if (stream.idle()) return taken(stream);
    if (busy == nullptr) busy = &stream;
  }
  if (count() < kMostStreams) {
    DeviceStream& stream = make(count());
    if (!several()) {
      several_.store(true, std::memory_order_seq_cst);
      gpu_.pool().number_blocks({0, first().ticket()});
    }
    stream.hold();
    return stream;
  }
  if (busy == nullptr)
    fail(ErrorKind::Unsupported, "stream", kMostStreams - 1, " streams of ", gpu_.device(),
         " are held beside its default one, which is the most; let go of some");
  busy->wait();
  return taken(*busy);
}

size_t Streams::events() const {
  size_t sum = 0;
  for (uint32_t i = 0; i < count(); ++i) sum += at(i)->events();
  return sum;
}

size_t Streams::buffers() const {
  size_t sum = 0;
  for (uint32_t i = 0; i < count(); ++i) sum += at(i)->staging().buffers();
  return sum;
}

}  // namespace beeswax::gpu
