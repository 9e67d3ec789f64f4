// SPDX-License-Identifier: Apache-2.0
// Streams: each has a worker thread that does its tasks in order. A task first waits for tickets of other
// streams; tickets are always older than the task, so nothing waits in a circle.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emu/hip/abi.h"

namespace emu::hip {

class Device;
class Capture;

/// Is done once.
class Completion {
 public:
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  void finish() {
    done_.store(1, std::memory_order_release);
    done_.notify_all();
  }
  /// For host threads: while one waits, no worker dawdles.
  void wait() const;
  /// For workers.
  void wait_quietly() const { done_.wait(0, std::memory_order_acquire); }

 private:
  std::atomic<uint32_t> done_{0};
};
using Ticket = std::shared_ptr<Completion>;
using Work = std::function<void()>;

class Stream {
 public:
  static constexpr unsigned kNonBlocking = 1;

  Stream(Device& device, unsigned flags, int priority, bool null_stream = false);
  /// Waits for what was asked for.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  bool is_null() const { return null_; }
  bool blocking() const { return (flags_ & kNonBlocking) == 0; }

  /// Appends a task; only Device::submit calls this, under its lock.
  Ticket push(Work work, std::vector<Ticket> waits, bool always);
  /// The ticket of the newest task; done when there was none.
  Ticket last() const;
  /// Forgets what has not begun; its tickets count as done. Nothing begins any more.
  void end();
  /// After end(): waits for the worker. False when it still waits for a host function by then, or is the
  /// calling thread; it may look at this stream later.
  bool join(std::chrono::steady_clock::time_point patience_until);
  /// Calls a host function; on the worker.
  void call_host(const Work& function);

  /// The capture this stream takes part in, if any; guarded by the capture lock (graph.cc).
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;

 private:
  struct Task {
    Work work;
    std::vector<Ticket> waits;
    Ticket done;
    bool always = false;
  };
  void loop();

  Device& device_;
  const unsigned flags_;
  const int priority_;
  const bool null_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  Ticket last_;
  bool stopping_ = false, ended_ = false;
  std::atomic<bool> elsewhere_{false};  // waits for a host function, its own or another stream's
  std::thread worker_;
};

/// The stream whose worker the calling thread is; null for other threads.
Stream* stream_of_worker();
/// Work that calls this function of the program on the worker that does it.
inline Work host_work(Work function) {
  return [function = std::move(function)] { stream_of_worker()->call_host(function); };
}

/// While one lives, workers do not dawdle (BEESWAX_EMU_DELAY).
class Hurry {
 public:
  Hurry();
  ~Hurry();
};

}  // namespace emu::hip
