// SPDX-License-Identifier: Apache-2.0
// Memory limits of control groups, as Linux shows them in files: made here as containers have them.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/os/memory.h"

namespace beeswax::os {
namespace {

namespace fs = std::filesystem;

class MemoryLimit : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("beeswax_groups_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  size_t limit() const {
    return control_group_limit((folder_ / "self").string(), (folder_ / "cgroup").string());
  }
  size_t room() const {
    return control_group_room((folder_ / "self").string(), (folder_ / "cgroup").string());
  }

 private:
  fs::path folder_;
};

TEST_F(MemoryLimit, OfTheGroupOrOneAbove) {
  write("self", "0::/user/session\n");
  write("cgroup/user/session/memory.max", "max\n");
  EXPECT_EQ(limit(), SIZE_MAX);
  write("cgroup/user/memory.max", "3000000\n");
  EXPECT_EQ(limit(), 3000000u);
  write("cgroup/user/session/memory.max", "2000000\n");
  EXPECT_EQ(limit(), 2000000u);
  write("cgroup/user/session/memory.max", "4000000\n");
  EXPECT_EQ(limit(), 3000000u);
}

// Files in memory give way; what else is used does not. The least of all groups counts.
TEST_F(MemoryLimit, LeavesWhatIsNotUsed) {
  write("self", "0::/user/session\n");
  EXPECT_EQ(room(), SIZE_MAX);
  write("cgroup/user/memory.max", "9000\n");
  EXPECT_EQ(room(), 9000u) << "nothing says what is used";
  write("cgroup/user/memory.current", "5000\n");
  EXPECT_EQ(room(), 4000u);
  write("cgroup/user/memory.stat", "anon 1500\nfile 3500\ninactive_file 2000\nactive_file 1000\nshmem 500\n");
  EXPECT_EQ(room(), 7000u);
  write("cgroup/user/session/memory.max", "3000\n");
  write("cgroup/user/session/memory.current", "2900\n");
  EXPECT_EQ(room(), 100u);
  write("cgroup/user/session/memory.current", "3100\n");
  EXPECT_EQ(room(), 0u) << "more than its limit";
}

TEST_F(MemoryLimit, LeavesWhatIsNotUsedOfTheFirstVersion) {
  write("self", "5:memory:/docker/1f\n");
  write("cgroup/memory/memory.limit_in_bytes", "8000\n");
  write("cgroup/memory/memory.usage_in_bytes", "6000\n");
  write("cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 700\n");
  EXPECT_EQ(room(), 3000u);
}

// A container that sees its own group as the root.
TEST_F(MemoryLimit, OfAContainer) {
  write("self", "0::/\n");
  write("cgroup/memory.max", "536870912\n");
  EXPECT_EQ(limit(), 536870912u);
}

// The first version: one tree for each controller; the name is the host's, the files are the container's.
TEST_F(MemoryLimit, OfTheFirstVersion) {
  write("self", "12:cpu,cpuacct:/docker/1f\n5:memory:/docker/1f\n1:name=systemd:/docker/1f\n");
  write("cgroup/memory/memory.limit_in_bytes", "268435456\n");
  write("cgroup/cpu/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limit(), 268435456u);
  write("cgroup/memory/docker/1f/memory.limit_in_bytes", "9223372036854771712\n");  // none
  EXPECT_EQ(limit(), 268435456u);
}

TEST_F(MemoryLimit, NoneWithoutFiles) {
  EXPECT_EQ(limit(), SIZE_MAX);
  write("self", "no line of a group\n0::/gone\n");
  EXPECT_EQ(limit(), SIZE_MAX);
}

TEST(PhysicalMemory, IsWithinTheLimit) {
  EXPECT_GT(physical_memory_bytes(), 0u);
  EXPECT_LE(available_memory_bytes(), physical_memory_bytes());
#if defined(__linux__)
  EXPECT_GT(available_memory_bytes(), 0u);
#endif
  EXPECT_LE(physical_memory_bytes(), control_group_limit());
}

}  // namespace
}  // namespace beeswax::os
