// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/os/cpu.h"
#include "support/apart.h"
#include "support/emulated.h"

namespace {
// How many threads the system lets start from now on.
std::atomic<int> startable{INT32_MAX};
}  // namespace

// The system's own, but for that limit.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*),
                                                                     void* argument) noexcept {
  if (startable.fetch_sub(1) <= 0) return EAGAIN;
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}

namespace beeswax {
namespace {

// As a container's limit of processes has it.
TEST(ThreadPool, WorksWithTheThreadsThatStart) {
  for (const int limit : {0, 1, 5}) {
    startable = limit;
    ThreadPool pool(20);
    startable = INT32_MAX;
    EXPECT_EQ(pool.threads(), limit + 1);
    std::atomic<int> count{0};
    pool.parallel_for(100, [&](int64_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 100);
    startable = 2;
    pool.set_threads(9);
    startable = INT32_MAX;
    EXPECT_EQ(pool.threads(), 3);
    pool.set_threads(4);
    EXPECT_EQ(pool.threads(), 4);
    pool.parallel_for(100, [&](int64_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 200);
  }
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
      pool.parallel_for(tasks, [&](int64_t task) { runs[static_cast<size_t>(task)].fetch_add(1); });
      for (const auto& run : runs) ASSERT_EQ(run.load(), 1);
    }
  }
}

TEST(ThreadPool, NestedCallsRunInline) {
  ThreadPool pool(3);
  std::atomic<int> count{0};
  pool.parallel_for(10, [&](int64_t) { pool.parallel_for(10, [&](int64_t) { count.fetch_add(1); }); });
  EXPECT_EQ(count.load(), 100);
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.parallel_for(100,
                                   [&](int64_t task) {
                                     if (task == 37) throw std::runtime_error("37");
                                   }),
                 std::runtime_error);
    std::atomic<int> count{0};
    pool.parallel_for(100, [&](int64_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 100);
  }
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) pool.parallel_for(20, [&](int64_t task) { sum.fetch_add(task); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 200 * 190);
}

TEST(ThreadPool, SleepsAndWakes) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the worker has gone to sleep by now
    std::atomic<int> count{0};
    pool.parallel_for(4, [&](int64_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 4);
  }
}

// A worker that wakes for a job may not run where the job's caller did.
TEST(ThreadPool, WakesOnOtherProcessors) {
  const int all = os::ProcessorSet::of_this_thread().count();
  if (all < 2) GTEST_SKIP() << "one processor";
  for (const int threads : {2, all + 1}) {  // more threads than processors run anywhere
    ThreadPool pool(threads);
    std::vector<int> allowed(static_cast<size_t>(threads));
    for (int round = 0; round < 5; ++round) {  // on a busy machine not every worker sleeps the first time
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::atomic<int> begun{0};
      pool.parallel_for(threads, [&](int64_t task) {
        allowed[static_cast<size_t>(task)] = os::ProcessorSet::of_this_thread().count();
        begun.fetch_add(1);
        while (begun.load() < threads) std::this_thread::yield();
      });
    }
    EXPECT_EQ(allowed[0], all);
    for (size_t i = 1; i < allowed.size(); ++i) EXPECT_EQ(allowed[i], threads <= all ? all - 1 : all) << i;
  }
}

// Every task waits for all others to begin, so each thread runs one; it must be the same one every time.
TEST(ThreadPool, EachThreadBeginsWithItsOwnPart) {
  constexpr int kThreads = 3;
  ThreadPool pool(kThreads);
  std::vector<std::thread::id> first(kThreads);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread::id> now(kThreads);
    std::atomic<int> begun{0};
    pool.parallel_for(kThreads, [&](int64_t task) {
      now[static_cast<size_t>(task)] = std::this_thread::get_id();
      begun.fetch_add(1);
      while (begun.load() < kThreads) std::this_thread::yield();
    });
    if (round == 0) first = now;
    ASSERT_EQ(now, first);
    ASSERT_EQ(now[0], std::this_thread::get_id());
  }
}

TEST(ThreadPool, ChangesSize) {
  ThreadPool pool(2);
  for (int threads : {4, 1, 3}) {
    pool.set_threads(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::atomic<int> count{0};
    pool.parallel_for(50, [&](int64_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 50);
  }
}

int sum_of_tasks(int tasks) {
  std::atomic<int> sum{0};
  ThreadPool::global().parallel_for(tasks, [&](int64_t task) { sum.fetch_add(static_cast<int>(task) + 1); });
  return sum.load();
}

// On which threads that wait for one another tasks run.
[[maybe_unused]] size_t threads_at_work(int threads) {
  std::atomic<int> begun{0};
  std::vector<std::thread::id> ids(static_cast<size_t>(threads));
  ThreadPool::global().parallel_for(threads, [&](int64_t task) {
    ids[static_cast<size_t>(task)] = std::this_thread::get_id();
    begun.fetch_add(1);
    while (begun.load() < threads) std::this_thread::yield();
  });
  std::ranges::sort(ids);
  return static_cast<size_t>(std::ranges::unique(ids).begin() - ids.begin());
}

#ifndef __SANITIZE_THREAD__  // it takes no threads in children of a process with threads
TEST(ThreadPool, ForkedChildrenHaveTheirOwn) {
  SKIP_UNDER_QEMU("threads in forked children");
  ThreadPool::global().set_threads(3);
  EXPECT_EQ(sum_of_tasks(100), 5050);
  test::run_apart([] {
    EXPECT_EQ(ThreadPool::global().threads(), 3);
    EXPECT_EQ(threads_at_work(3), 3U);
    EXPECT_EQ(sum_of_tasks(100), 5050);
    return "";
  });
  test::run_apart([] {
    ThreadPool::global().set_threads(2);
    EXPECT_EQ(ThreadPool::global().threads(), 2);
    EXPECT_EQ(threads_at_work(2), 2U);
    test::run_apart([] {
      EXPECT_EQ(threads_at_work(2), 2U);
      return "";
    });
    return "";
  });
  test::run_apart([] { return ""; });  // ends without work
  EXPECT_EQ(threads_at_work(3), 3U);
}

// In the middle of another thread's job.
TEST(ThreadPool, ForkedChildrenDoNotWaitForOthersJobs) {
  SKIP_UNDER_QEMU("threads in forked children");
  ThreadPool::global().set_threads(2);
  std::atomic<bool> inside{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    ThreadPool::global().parallel_for(2, [&](int64_t) {
      inside = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  test::run_apart([] {
    EXPECT_EQ(threads_at_work(2), 2U);
    return "";
  });
  done = true;
  other.join();
}
#endif

// The last thing that a child does.
struct WorksAtTheEnd {
  bool on = false;
  ~WorksAtTheEnd() {
    if (on && sum_of_tasks(100) != 5050) std::_Exit(1);
  }
} works_at_the_end;  // lives before the pool, and so ends after what is made later

TEST(ThreadPool, WorksWhileStaticObjectsEnd) {
  SKIP_UNDER_QEMU("threads in forked children");
  test::run_apart([] {
    works_at_the_end.on = true;
    EXPECT_EQ(sum_of_tasks(100), 5050);
    return "";
  });
}

TEST(ThreadPool, TellsItsSizeWhileItChanges) {
  ThreadPool pool(2);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const int threads = pool.threads();
      EXPECT_TRUE(threads >= 1 && threads <= 3) << threads;
    }
  });
  for (int i = 0; i < 100; ++i) pool.set_threads(1 + i % 3);
  done = true;
  reader.join();
}

TEST(ParallelRanges, CoverWithoutOverlap) {
  for (int64_t count : {0, 1, 99, 100, 101, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    parallel_ranges(count, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
    });
    for (const auto& s : seen) ASSERT_EQ(s.load(), 1);
  }
}

}  // namespace
}  // namespace beeswax
