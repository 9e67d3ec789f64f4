// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/stream.h"

#include <chrono>

#include "emu/hip/device.h"
#include "emu/hip/runtime.h"

namespace emu::hip {
namespace {

std::mutex hurry_mutex;
// Never destroyed: that would wait for whoever waits here, in a forked child for workers that are not there.
std::condition_variable& hurry_wake = *new std::condition_variable;
int hurried = 0;

thread_local Stream* worker_of = nullptr;

// While a worker depends on what is not this library's: a host function, or another stream that may be in
// one.
class Elsewhere {
 public:
  explicit Elsewhere(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Elsewhere() { flag_ = false; }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// Gives the host time to show that it did not wait; ends at once when somebody waits.
void dawdle(uint64_t microseconds) {
  if (microseconds == 0) return;
  std::unique_lock lock(hurry_mutex);
  hurry_wake.wait_for(lock, std::chrono::microseconds(microseconds), [] { return hurried > 0; });
}

}  // namespace

Hurry::Hurry() {
  const std::lock_guard lock(hurry_mutex);
  ++hurried;
  hurry_wake.notify_all();
}

Hurry::~Hurry() {
  const std::lock_guard lock(hurry_mutex);
  --hurried;
}

Stream* stream_of_worker() { return worker_of; }

void Completion::wait() const {
  if (done()) return;
  const Hurry hurry;
  wait_quietly();
}

Stream::Stream(Device& device, unsigned flags, int priority, bool null_stream)
    : device_(device),
      flags_(flags),
      priority_(priority),
      null_(null_stream),
      last_(std::make_shared<Completion>()) {
  last_->finish();
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  const Hurry hurry;
  if (worker_.joinable()) worker_.join();
}

Ticket Stream::push(Work work, std::vector<Ticket> waits, bool always) {
  const std::lock_guard lock(mutex_);
  auto ticket = std::make_shared<Completion>();
  if (stopping_) {
    ticket->finish();
    return ticket;
  }
  // A stream that is never used costs no thread. Where there can be none, nothing has been asked for.
  if (!worker_.joinable()) worker_ = std::thread([this] { loop(); });
  tasks_.push_back({std::move(work), std::move(waits), ticket, always});
  last_ = ticket;
  wake_.notify_one();
  return ticket;
}

Ticket Stream::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void Stream::end() {
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
    wake_.notify_all();
  }
  for (Task& task : dropped) task.done->finish();
}

bool Stream::join(std::chrono::steady_clock::time_point patience_until) {
  if (!worker_.joinable()) return true;
  const Hurry hurry;
  std::unique_lock lock(mutex_);
  const auto lost = [&] {
    return stream_of_worker() == this ||
           (elsewhere_.load() && std::chrono::steady_clock::now() >= patience_until);
  };
  while (!ended_ && !lost()) wake_.wait_for(lock, std::chrono::milliseconds(20));
  const bool joined = ended_;
  lock.unlock();
  joined ? worker_.join() : worker_.detach();
  return joined;
}

void Stream::call_host(const Work& function) {
  const Elsewhere elsewhere(elsewhere_);
  function();
}

void Stream::loop() {
  worker_of = this;
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        ended_ = true;
        wake_.notify_all();
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    {
      const Elsewhere elsewhere(elsewhere_);
      for (const Ticket& wait : task.waits) wait->wait_quietly();
    }
    dawdle(Runtime::get().settings().delay_us);
    if (task.work && !device_.ending()) device_.perform(task.work, task.always);
    task.work = nullptr;  // what it holds is gone before anybody hears that it is done
    task.done->finish();
  }
}

}  // namespace emu::hip
