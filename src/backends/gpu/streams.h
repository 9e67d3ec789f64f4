// SPDX-License-Identifier: Apache-2.0
// DeviceStream, Streams: the streams of a GPU, and which of them waits for which.
//
// Everything that is submitted to a stream is counted, after the driver's call returned. So an event that is
// recorded when the counter shows t stands behind everything with a ticket up to t, whichever thread
// submitted it: "behind ticket t" is all that others need to know, and one event a stream is enough for them.
// Waits are counted like work: who waits for a stream waits for what that one waits for.
//
// A stream remembers how far it has waited for each other one, so that nobody waits twice for the same.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backends/gpu/error_slots.h"
#include "backends/gpu/handles.h"
#include "backends/gpu/staging.h"

namespace beeswax::gpu {

class Gpu;
class Streams;

inline constexpr int kMostGpus = 32;
inline constexpr uint32_t kMostStreams = 32;  ///< of a device

/// What a stream was given up to a ticket.
struct Mark {
  uint32_t stream = 0;
  uint64_t ticket = 0;
};

class DeviceStream {
 public:
  /// Makes it in the driver, with the device in use by the caller.
  DeviceStream(Streams& streams, uint32_t index);
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  StreamHandle handle() const { return handle_.get(); }
  uint32_t index() const { return index_; }
  const SlotRef& slot() const { return slot_; }
  Staging& staging() { return staging_; }

  /// Counts what was just submitted, and gives its ticket. One order of all counters and of
  /// Streams::several(): that one tells why.
  uint64_t count() { return ticket_.fetch_add(1, std::memory_order_seq_cst) + 1; }
  uint64_t ticket() const { return ticket_.load(std::memory_order_seq_cst); }
  bool has_seen(const Mark& mark) const {
    return mark.stream == index_ || seen_[mark.stream].load(std::memory_order_acquire) >= mark.ticket;
  }
  /// What is submitted here from now on starts after the mark. Nobody waits on the host.
  void wait_for(const Mark& mark);
  /// Waits on the host. Throws what the driver says, not what kernels reported.
  void wait();
  /// Whether all of its work is done.
  bool idle() const;

  /// Kernels that run here report to this slot too.
  void look_at(const SlotRef& slot);
  /// Waits on the host, and takes the first error that its kernels reported.
  std::optional<ErrorSlot> wait_for_errors();
  /// Takes the first error that its kernels reported, if it was given nothing after the ticket `done`, up to
  /// which the host knows its work to be done.
  std::optional<ErrorSlot> take_error_until(uint64_t done);
  /// The same of a stream that is idle and nobody's.
  std::optional<ErrorSlot> take_error();

  // Public streams that stand for it; one without any may be leased again.
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() { holders_.fetch_sub(1, std::memory_order_release); }
  bool held() const { return holders_.load(std::memory_order_acquire) != 0; }
  /// Events that exist.
  size_t events() const;

 private:
  std::optional<ErrorSlot> take_locked();

  Streams& streams_;
  uint32_t index_;
  DriverStream handle_;
  SlotRef slot_;
  Staging staging_;
  std::atomic<uint64_t> ticket_{0};
  std::atomic<uint32_t> holders_{0};
  // How far this one has waited for others; an entry changes under the other's mutex_.
  std::array<std::atomic<uint64_t>, kMostStreams> seen_{};
  mutable std::mutex mutex_;
  Event event_;                  // for others to wait for
  uint64_t recorded_ = 0;        // the ticket that it stands behind
  uint64_t finished_ = 0;        // that the host has waited for
  std::vector<SlotRef> others_;  // slots of graphs that were replayed here since the last wait
};

class Streams {
 public:
  explicit Streams(Gpu& gpu);

  /// Makes the first stream, every thread's until it takes another, with the device in use by the caller.
  void start();
  DeviceStream& first() const { return *at(0); }
  /// One that nobody else holds: an idle one, or a new one, or one that is waited for. It is held once.
  /// Throws Unsupported where kMostStreams are held.
  DeviceStream& lease();
  /// Whether a second stream was ever made. A thread that sees false after it counted a launch submitted that
  /// before the second stream took the first one's ticket, for the counter and this flag have one order: so
  /// Pool::number_blocks covers what was never noted.
  bool several() const { return several_.load(std::memory_order_seq_cst); }

  /// The first error that is left of streams which were leased again before anybody asked.
  std::optional<ErrorSlot> take_left_behind();

  DeviceStream* at(uint32_t index) const { return streams_[index].load(std::memory_order_acquire); }
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// Events and pinned buffers that exist, of all streams.
  size_t events() const;
  size_t buffers() const;
  Gpu& gpu() const { return gpu_; }
  ErrorSlots& slots() { return slots_; }
  const ErrorSlots& slots() const { return slots_; }

 private:
  DeviceStream& make(uint32_t index);
  DeviceStream& taken(DeviceStream& stream);
  void leave_behind(const ErrorSlot& found);

  Gpu& gpu_;
  ErrorSlots slots_;
  std::mutex leasing_;
  std::mutex leaving_;
  std::vector<ErrorSlot> left_behind_;  // kMostStreams at most
  std::vector<std::unique_ptr<DeviceStream>> owned_;
  std::array<std::atomic<DeviceStream*>, kMostStreams> streams_{};
  std::atomic<uint32_t> count_{0};
  std::atomic<bool> several_{false};
};

/// The calling thread's stream of each GPU by its number; null: the first.
inline constinit thread_local std::array<DeviceStream*, kMostGpus> current_streams{};

}  // namespace beeswax::gpu
