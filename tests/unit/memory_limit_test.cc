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
  EXPECT_LE(physical_memory_bytes(), control_group_limit());
}

}  // namespace
}  // namespace beeswax::os
