// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/os/cpu.h"
#include "core/os/process.h"

namespace beeswax {
namespace {

// About 50 microseconds of polling before a thread sleeps: longer than the gap between two operations of a
// model, shorter than anyone notices as load.
constexpr int kSpins = 4000;
constexpr int kAnywhere = -1;

thread_local bool inside_task = false;

ThreadPool* the_pool = nullptr;

}  // namespace

// A job is published by bumping `generation_` and is open until the caller has run out of tasks. A worker
// counts itself into `inside` before it looks whether a job is open, and the caller closes the job before it
// waits for that count to fall to 0: one of the two sees the other, so nobody looks at a job when the next
// one is written, and nobody waits for a worker that still sleeps.
struct ThreadPool::Impl {
  // The tasks that one thread begins with.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  struct Worker {
    std::thread thread;
    bool asleep = false;       // guarded by sleep_mutex, as is
    int kept_off = kAnywhere;  // the processor that it may not run on
  };

  std::mutex use;  // held by the thread whose job runs
  std::vector<Worker> workers;
  std::atomic<int> threads{1};                        // the workers and the caller
  int to_start = 0;                                   // threads of a forked child's pool before its first job
  os::ProcessorSet processors;                        // of the thread that started the workers
  std::vector<Share> shares = std::vector<Share>(1);  // of the caller and each worker

  std::atomic<uint64_t> generation{0};
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  const TaskFn* fn = nullptr;

  std::mutex sleep_mutex;
  std::condition_variable wake;
  int sleepers = 0;  // guarded by sleep_mutex
  std::atomic<bool> stop{false};

  std::mutex error_mutex;
  std::exception_ptr error;

  Impl* parents = nullptr;  // of the process that forked this one; never freed

  void deal(int64_t tasks) {
    const auto threads = static_cast<int64_t>(shares.size());
    int64_t first = 0;
    for (int64_t i = 0; i < threads; ++i) {
      Share& share = shares[static_cast<size_t>(i)];
      share.next.store(first, std::memory_order_relaxed);
      first += tasks / threads + (i < tasks % threads ? 1 : 0);
      share.end = first;
    }
  }

  void take_tasks(size_t self) {
    inside_task = true;
    try {
      for (size_t i = 0; i < shares.size(); ++i) {
        Share& share = shares[(self + i) % shares.size()];
        for (int64_t task; (task = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
          (*fn)(task);
      }
    } catch (...) {
      for (Share& share : shares) share.next.store(share.end, std::memory_order_relaxed);
      const std::lock_guard<std::mutex> lock(error_mutex);
      if (!error) error = std::current_exception();
    }
    inside_task = false;
  }

  void work(uint64_t seen, size_t self) {
    for (;;) {
      seen = wait_for_job(seen, workers[self - 1]);
      if (stop.load(std::memory_order_acquire)) return;
      inside.fetch_add(1, std::memory_order_seq_cst);
      if (open.load(std::memory_order_seq_cst)) take_tasks(self);
      inside.fetch_sub(1, std::memory_order_release);
    }
  }

  uint64_t wait_for_job(uint64_t seen, Worker& self) {
    for (int spin = 0; spin < kSpins; ++spin) {
      const uint64_t now = generation.load(std::memory_order_acquire);
      if (now != seen) return now;
      os::cpu_relax();
    }
    std::unique_lock<std::mutex> lock(sleep_mutex);
    ++sleepers;
    self.asleep = true;
    wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
    --sleepers;
    self.asleep = false;
    return generation.load(std::memory_order_acquire);
  }

  void publish() {
    bool wake_them = false;
    {
      const std::lock_guard<std::mutex> lock(sleep_mutex);
      generation.fetch_add(1, std::memory_order_release);
      wake_them = sleepers > 0;
      if (wake_them) keep_sleepers_away();
    }
    if (wake_them) wake.notify_all();
  }

  // Those that sleep will wake on other processors than the caller's. Linux under KVM would wake them on it,
  // since no idle processor looks idle there, and leave both threads on it for milliseconds.
  void keep_sleepers_away() {
    if (processors.count() < static_cast<int>(shares.size())) return;
    const int here = os::current_processor();
    for (Worker& worker : workers) {
      if (!worker.asleep || worker.kept_off == here) continue;
      processors.without(here).give_to(worker.thread);
      worker.kept_off = here;
    }
  }

  void start(int wanted) {
    to_start = 0;
    const uint64_t seen = generation.load(std::memory_order_relaxed);
    processors = os::ProcessorSet::of_this_thread();
    workers = std::vector<Worker>(static_cast<size_t>(wanted) - 1);
    size_t started = 0;
    try {
      for (; started < workers.size(); ++started)
        workers[started].thread = std::thread([this, seen, self = started + 1] { work(seen, self); });
    } catch (const std::exception&) {  // a limit of the system's: the threads that there are do the work
      workers.resize(started);
    }
    shares = std::vector<Share>(workers.size() + 1);  // nobody looks at them before a job
    threads.store(static_cast<int>(shares.size()), std::memory_order_relaxed);
  }

  void join() {
    stop.store(true, std::memory_order_release);
    publish();
    for (Worker& worker : workers) worker.thread.join();
    workers.clear();
    stop.store(false, std::memory_order_relaxed);
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) { impl_->start(threads); }
ThreadPool::~ThreadPool() { impl_->join(); }

ThreadPool& ThreadPool::global() {
  // Never destroyed: other static objects and threads may compute while the process ends.
  static ThreadPool& pool = *[] {
    the_pool = new ThreadPool(os::default_threads());
    os::in_forked_children(begin_in_child);
    return the_pool;
  }();
  return pool;
}

// A child has none of its parent's workers, and whatever they and other threads held stays held there: it
// leaves all that alone and begins anew, with threads that start when there is work for them.
void ThreadPool::begin_in_child() {
  auto fresh = std::make_unique<Impl>();
  const int threads = the_pool->threads();
  fresh->threads.store(threads, std::memory_order_relaxed);
  fresh->to_start = threads;
  the_pool->impl_.swap(fresh);
  the_pool->impl_->parents = fresh.release();
}

int ThreadPool::threads() const { return impl_->threads.load(std::memory_order_relaxed); }

void ThreadPool::set_threads(int threads) {
  const std::lock_guard<std::mutex> lock(impl_->use);
  impl_->join();
  impl_->start(threads < 1 ? 1 : threads);
}

void ThreadPool::parallel_for(int64_t tasks, TaskFn fn) {
  Impl& pool = *impl_;
  std::unique_lock<std::mutex> use(pool.use, std::defer_lock);
  const auto has_workers = [&] {
    if (pool.to_start > 0) pool.start(pool.to_start);
    return !pool.workers.empty();
  };
  if (tasks <= 1 || inside_task || !use.try_lock() || !has_workers()) {
    if (use.owns_lock()) use.unlock();
    for (int64_t task = 0; task < tasks; ++task) fn(task);
    return;
  }
  pool.fn = &fn;
  pool.deal(tasks);
  pool.open.store(true, std::memory_order_seq_cst);
  pool.publish();
  pool.take_tasks(0);
  pool.open.store(false, std::memory_order_seq_cst);
  for (int spin = 0; pool.inside.load(std::memory_order_seq_cst) != 0; ++spin) {
    if (spin < kSpins) {
      os::cpu_relax();
    } else {
      std::this_thread::yield();
    }
  }
  if (pool.error) {
    const std::exception_ptr error = std::exchange(pool.error, nullptr);
    use.unlock();
    std::rethrow_exception(error);
  }
}

}  // namespace beeswax
