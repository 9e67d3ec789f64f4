// SPDX-License-Identifier: Apache-2.0
// Streams and events as programs call them.
#include <algorithm>
#include <chrono>

#include "emu/hip/device.h"
#include "emu/hip/graph.h"
#include "emu/hip/runtime.h"
#include "emu/hip/tables.h"

namespace emu::hip {

// Has to be complete where its handles are.
class Event {
 public:
  static constexpr unsigned kDisableTiming = 2, kKnownFlags = 0xe0000007;

  explicit Event(Device& home, unsigned what_flags) : device(home), flags(what_flags) {}
  struct Record {
    Ticket ticket;
    std::chrono::steady_clock::time_point time;
  };
  Device& device;
  const unsigned flags;
  std::mutex mutex;
  std::shared_ptr<Record> record;  // null before the first
  CapturedPlace captured;          // instead, when it was last recorded in a capture
};

namespace {
Handles<Event> live_events;
}  // namespace

template <>
Handles<Event>& handles<Event>() {
  return live_events;
}

void clear_events() { live_events.clear(); }

namespace {

std::shared_ptr<Event::Record> record_of(Event& event) {
  const std::lock_guard lock(event.mutex);
  require(event.captured.capture.expired(), hipErrorCapturedEvent, "the event was recorded in a capture");
  return event.record;
}

// They run on the stream's worker, and may not call HIP.
using HostFunction = void (*)(void*);
using Callback = void (*)(StreamHandle, int, void*);

}  // namespace
}  // namespace emu::hip

using namespace emu::hip;

EMU_API int hipStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int priority) {
  return api("hipStreamCreateWithPriority", [&] {
    require(stream != nullptr && flags <= Stream::kNonBlocking, hipErrorInvalidValue, "unknown flags");
    Device& device = Runtime::get().current();
    device.check();
    *stream = device.create_stream(flags, std::max(-1, std::min(1, priority)));
  });
}
EMU_API int hipStreamCreateWithFlags(StreamHandle* stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}
EMU_API int hipStreamCreate(StreamHandle* stream) { return hipStreamCreateWithPriority(stream, 0, 0); }

EMU_API int hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api("hipDeviceGetStreamPriorityRange", [&] {
    if (least != nullptr) *least = 1;
    if (greatest != nullptr) *greatest = -1;
  });
}

EMU_API int hipStreamDestroy(StreamHandle handle) {
  return api("hipStreamDestroy", [&] {
    require(reinterpret_cast<uintptr_t>(handle) > kPerThreadStream, hipErrorInvalidHandle,
            "this stream cannot be destroyed");
    Stream& stream = find_stream(handle);
    leave_capture(stream);
    stream.device().destroy_stream(&stream);
  });
}

EMU_API int hipStreamSynchronize(StreamHandle handle) {
  return api("hipStreamSynchronize", [&] {
    Stream& stream = find_stream(handle);
    forbid_captured(stream);
    forbid_while_capturing();
    // The null stream's work waits for the blocking streams, so waiting for the null stream means them too.
    if (stream.is_null()) {
      stream.device().submit(stream, nullptr)->wait();
    } else {
      stream.last()->wait();
    }
    stream.device().check();
  });
}

EMU_API int hipStreamQuery(StreamHandle handle) {
  return api("hipStreamQuery", [&] {
    Stream& stream = find_stream(handle);
    forbid_captured(stream);
    stream.device().check();
    require(stream.last()->done(), hipErrorNotReady);
    stream.device().check();
  });
}

EMU_API int hipStreamGetFlags(StreamHandle handle, unsigned* flags) {
  return api("hipStreamGetFlags", [&] {
    require(flags != nullptr, hipErrorInvalidValue);
    *flags = find_stream(handle).flags();
  });
}
EMU_API int hipStreamGetPriority(StreamHandle handle, int* priority) {
  return api("hipStreamGetPriority", [&] {
    require(priority != nullptr, hipErrorInvalidValue);
    *priority = find_stream(handle).priority();
  });
}
EMU_API int hipStreamGetDevice(StreamHandle handle, int* device) {
  return api("hipStreamGetDevice", [&] {
    require(device != nullptr, hipErrorInvalidValue);
    *device = find_stream(handle).device().index();
  });
}

EMU_API int hipStreamWaitEvent(StreamHandle handle, Event* event_handle, unsigned flags) {
  return api("hipStreamWaitEvent", [&] {
    require(flags == 0, hipErrorInvalidValue, "flags must be 0");
    Stream& stream = find_stream(handle);
    Event& event = handles<Event>().check(event_handle);
    CapturedPlace place;
    std::shared_ptr<Event::Record> record;
    {
      const std::lock_guard lock(event.mutex);
      place = event.captured;
      record = event.record;
    }
    if (wait_for_captured(stream, place)) return;
    if (record) stream.device().submit(stream, nullptr, {record->ticket});
  });
}

EMU_API int hipLaunchHostFunc(StreamHandle handle, HostFunction function, void* data) {
  return api("hipLaunchHostFunc", [&] {
    require(function != nullptr, hipErrorInvalidValue, "no function");
    enqueue(find_stream(handle), {NodeType::Host, host_work([=] { function(data); }), nullptr});
  });
}

EMU_API int hipStreamAddCallback(StreamHandle handle, Callback function, void* data, unsigned flags) {
  return api("hipStreamAddCallback", [&] {
    require(function != nullptr && flags == 0, hipErrorInvalidValue, "no function, or flags");
    Stream& stream = find_stream(handle);
    forbid_captured(stream);
    // It learns of a kernel's failure too, unlike a host function.
    const Device& device = stream.device();
    enqueue(stream, {NodeType::Host, host_work([=, &device] { function(handle, device.failure(), data); }),
                     nullptr, true});
  });
}

EMU_API int hipEventCreateWithFlags(Event** event, unsigned flags) {
  return api("hipEventCreateWithFlags", [&] {
    require(event != nullptr && (flags & ~Event::kKnownFlags) == 0, hipErrorInvalidValue, "unknown flags");
    *event = handles<Event>().add(std::make_unique<Event>(Runtime::get().current(), flags));
  });
}
EMU_API int hipEventCreate(Event** event) { return hipEventCreateWithFlags(event, 0); }

EMU_API int hipEventDestroy(Event* event) {
  return api("hipEventDestroy", [&] { handles<Event>().take(event); });
}

EMU_API int hipEventRecord(Event* handle, StreamHandle stream_handle) {
  return api("hipEventRecord", [&] {
    Event& event = handles<Event>().check(handle);
    Stream& stream = find_stream(stream_handle);
    CapturedPlace place = captured_place(stream);
    if (!place.capture.expired()) {
      const std::lock_guard lock(event.mutex);
      event.captured = std::move(place);
      return;
    }
    require(&stream.device() == &event.device, hipErrorInvalidHandle,
            "the event and the stream are of different devices");
    stream.device().check();
    const auto record = std::make_shared<Event::Record>();
    // The ticket is set before the event shows the record; the task itself needs only the time.
    record->ticket =
        stream.device().submit(stream, [record] { record->time = std::chrono::steady_clock::now(); });
    const std::lock_guard lock(event.mutex);
    event.captured = {};
    event.record = record;
  });
}

EMU_API int hipEventRecordWithFlags(Event* event, StreamHandle stream, unsigned flags) {
  if (flags != 0)
    return api("hipEventRecordWithFlags",
               [] { throw ApiError(hipErrorNotSupported, "external events are not there"); });
  return hipEventRecord(event, stream);
}

EMU_API int hipEventSynchronize(Event* handle) {
  return api("hipEventSynchronize", [&] {
    Event& event = handles<Event>().check(handle);
    const auto record = record_of(event);
    if (!record) return;
    record->ticket->wait();
    event.device.check();
  });
}

EMU_API int hipEventQuery(Event* handle) {
  return api("hipEventQuery", [&] {
    Event& event = handles<Event>().check(handle);
    const auto record = record_of(event);
    if (!record) return;
    require(record->ticket->done(), hipErrorNotReady);
    event.device.check();
  });
}

EMU_API int hipEventElapsedTime(float* milliseconds, Event* from_handle, Event* to_handle) {
  return api("hipEventElapsedTime", [&] {
    require(milliseconds != nullptr, hipErrorInvalidValue);
    Event& from = handles<Event>().check(from_handle);
    Event& to = handles<Event>().check(to_handle);
    require(&from.device == &to.device, hipErrorInvalidHandle, "events of different devices");
    require(((from.flags | to.flags) & Event::kDisableTiming) == 0, hipErrorInvalidHandle,
            "an event without timing");
    const auto first = record_of(from), second = record_of(to);
    require(first != nullptr && second != nullptr, hipErrorInvalidHandle, "an event that was never recorded");
    require(first->ticket->done() && second->ticket->done(), hipErrorNotReady);
    from.device.check();
    *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
  });
}
