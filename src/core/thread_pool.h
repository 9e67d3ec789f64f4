// SPDX-License-Identifier: Apache-2.0
// ThreadPool: a fixed set of threads that spin for a short while between jobs and then sleep.
//
// parallel_for(tasks, fn) calls fn(task) once for every task in [0, tasks), on the calling thread and the
// pool's, and returns when all are done. Each thread begins with its own part of the tasks, the same part for
// the same number of tasks, so that repeated work finds its memory in the same core's caches; then it helps
// the others. So how tasks spread over threads is not deterministic; callers make each task's result
// independent of that, so results are the same for any number of threads. A call from
// inside a task, or while another thread uses the pool, runs its tasks on the calling thread. An exception
// in a task is rethrown by parallel_for (the first one; the remaining tasks are skipped).
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "beeswax/export.h"

namespace beeswax {

/// A reference to a callable: two words, no allocation. The callable must outlive it.
class TaskFn {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, TaskFn>)
  // NOLINTNEXTLINE(google-explicit-constructor): parallel_for(n, [&](int64_t i) { ... })
  TaskFn(F&& fn)
      : object_(const_cast<void*>(static_cast<const void*>(&fn))),
        call_([](void* object, int64_t task) { (*static_cast<std::remove_reference_t<F>*>(object))(task); }) {
  }
  void operator()(int64_t task) const { call_(object_, task); }

 private:
  void* object_;
  void (*call_)(void*, int64_t);
};

class BW_API ThreadPool {
 public:
  /// As many threads, the caller's included, or as many of them as the system lets start.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The process's pool. Its size: BEESWAX_THREADS, or the physical cores this process may run on. A child
  /// of fork() has its own, with as many threads.
  static ThreadPool& global();

  int threads() const;
  /// For tests and the command line: another number of threads, with the constructor's meaning.
  void set_threads(int threads);

  void parallel_for(int64_t tasks, TaskFn fn);

 private:
  struct Impl;
  static void begin_in_child();
  std::unique_ptr<Impl> impl_;
};

/// Splits [0, count) into ranges of `grain` (the last may be shorter) and calls fn(begin, end) for each on
/// the global pool. The split depends on count and grain only.
template <class F>
void parallel_ranges(int64_t count, int64_t grain, F&& fn) {
  const int64_t tasks = (count + grain - 1) / grain;
  if (tasks <= 1) {
    if (count > 0) fn(int64_t{0}, count);
    return;
  }
  ThreadPool::global().parallel_for(tasks, [&](int64_t task) {
    const int64_t begin = task * grain;
    const int64_t end = begin + grain < count ? begin + grain : count;
    fn(begin, end);
  });
}

}  // namespace beeswax
