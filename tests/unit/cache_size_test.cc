// SPDX-License-Identifier: Apache-2.0
// What the files of the system say of caches.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/os/cpu.h"

namespace beeswax::os {
namespace {

class CacheSize : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ =
        std::filesystem::temp_directory_path() / ("beeswax_caches_" + std::to_string(::getpid()) + name);
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void add(int cpu, int index, const std::string& level, const std::string& size,
           const std::string& sharers) {
    const std::filesystem::path cache =
        folder_ / ("cpu" + std::to_string(cpu)) / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "level") << level << "\n";
    std::ofstream(cache / "size") << size << "\n";
    std::ofstream(cache / "shared_cpu_list") << sharers << "\n";
  }
  size_t found() const { return last_level_cache_bytes(mine_, folder_.string()); }
  template <class F>
  void each_cpu(F f) const {
    for (int cpu = 0; cpu < 1024; ++cpu)
      if (mine_.has(cpu)) f(cpu);
  }

  ProcessorSet mine_ = ProcessorSet::of_this_thread();
  std::filesystem::path folder_;
};

TEST_F(CacheSize, OneThatAllShareCountsOnce) {
  each_cpu([&](int cpu) {
    add(cpu, 0, "1", "48K", std::to_string(cpu));
    add(cpu, 1, "1", "32K", std::to_string(cpu));
    add(cpu, 2, "2", "1024K", std::to_string(cpu));
    add(cpu, 3, "3", "32768K", "0-1023");
  });
  EXPECT_EQ(found(), size_t{32} << 20);
}

TEST_F(CacheSize, ThoseOfOtherProcessorsAddUp) {
  each_cpu([&](int cpu) {
    add(cpu, 0, "1", "48K", "0-1023");
    add(cpu, 1, "2", "512K", std::to_string(cpu));
  });
  EXPECT_EQ(found(), static_cast<size_t>(mine_.count()) * (size_t{512} << 10));
}

TEST_F(CacheSize, ProcessorsOfOthersDoNotCount) {
  for (int cpu = 0; cpu < 1024; ++cpu)
    if (!mine_.has(cpu)) {
      add(cpu, 0, "3", "32768K", "0");
      break;
    }
  EXPECT_EQ(found(), 0u);
}

TEST_F(CacheSize, WhatIsNotUnderstoodIsLeftOut) {
  EXPECT_EQ(found(), 0u);
  each_cpu([&](int cpu) {
    add(cpu, 0, "2", "256K", "0-1023");
    add(cpu, 1, "3", "many", "0-1023");
    add(cpu, 2, "4", "1G", "0-1023");
  });
  EXPECT_EQ(found(), size_t{256} << 10);
}

TEST_F(CacheSize, OfThisMachine) {
  const size_t of_files = last_level_cache_bytes(mine_, "/sys/devices/system/cpu");
  EXPECT_GE(last_level_cache_bytes(), size_t{16} << 10);
  if (of_files == 0) GTEST_SKIP() << "the system describes no caches";
  EXPECT_LE(last_level_cache_bytes(), of_files);
}

}  // namespace
}  // namespace beeswax::os
