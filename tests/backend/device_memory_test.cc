// SPDX-License-Identifier: Apache-2.0
// Statistics, limits and trimming of a device's memory, and results that do not depend on them.
#include <gtest/gtest.h>

#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "support/devices.h"
#include "support/expect_error.h"

namespace beeswax::test {
namespace {

TEST(DeviceMemory, OfTheCpuIsTheSystems) {
  EXPECT_ERROR(memory_statistics(Device::cpu()), Unsupported, "[memory_statistics] the memory of the device");
  EXPECT_ERROR(set_memory_limit(Device::cpu(), 1), Unsupported,
               "[set_memory_limit] the memory of the device");
  EXPECT_ERROR(trim_memory(Device::cpu()), Unsupported, "[trim_memory] the memory of the device");
}

TEST(DeviceMemory, LimitsAndTrimming) {
  if (on_cpu()) GTEST_SKIP() << "the CPU's memory is the system's";
  const Device device = Device::default_device();
  trim_memory(device);
  const size_t before = memory_statistics(device).used_bytes;
  constexpr size_t kMiB = 1 << 20;
  constexpr int64_t kCount = 1 << 18;  // of f32: 1 MiB
  const Tensor x = Tensor::ones({kCount}, DType::F32, device);
  EXPECT_EQ(memory_statistics(device).used_bytes, before + kMiB);
  static_cast<void>(x + 1.0);
  EXPECT_EQ(memory_statistics(device).kept_bytes, kMiB);
  set_memory_limit(device, before + 2 * kMiB + (kMiB >> 4));  // sums need a little
  const Tensor y = x + 1.0;
  EXPECT_ERROR(y + 1.0, OutOfMemory, "over the limit of ");
  EXPECT_EQ(y.sum_all().to_vec<float>(), std::vector<float>({2 * kCount}));  // what is there works on
  set_memory_limit(device, 0);
  EXPECT_EQ((y + 1.0).sum_all().to_vec<float>(), std::vector<float>({3 * kCount}));
  trim_memory(device);
  EXPECT_EQ(memory_statistics(device).kept_bytes, 0u);
  EXPECT_EQ((x + y).sum_all().to_vec<float>(), std::vector<float>({3 * kCount}));
  EXPECT_GE(memory_statistics(device).peak_bytes, before + 3 * kMiB);
}

}  // namespace
}  // namespace beeswax::test
