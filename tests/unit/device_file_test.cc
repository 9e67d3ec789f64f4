// SPDX-License-Identifier: Apache-2.0
// What is said of files that stand for devices.
#include "core/os/device_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace beeswax::os {
namespace {

TEST(DeviceFile, IsAbsentRefusedOrGranted) {
  const std::string path = testing::TempDir() + "beeswax_device_file";
  std::filesystem::remove(path);
  EXPECT_EQ(access_to(path.c_str()), FileAccess::Absent);
  std::ofstream(path) << "x";
  EXPECT_EQ(access_to(path.c_str()), FileAccess::Granted);
  EXPECT_EQ(access_to((path + "/inside").c_str()), FileAccess::Absent);
  EXPECT_EQ(access_to(testing::TempDir().c_str()), FileAccess::Refused);  // nobody writes to a folder
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace beeswax::os
