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

// What a scatter needs beside its operands is as much as its ids, not as what they could name.
TEST(DeviceMemory, OfFewIdsIsLittle) {
  if (on_cpu()) GTEST_SKIP() << "the CPU's memory is the system's";
  const Device device = Device::default_device();
  Tensor x = Tensor::zeros({1 << 20}, DType::U8, device);
  const Tensor ids = Tensor::from_vec(std::vector<int32_t>{5, (1 << 20) - 1, 5}, {3}, device);
  const Tensor source = Tensor::from_vec(std::vector<uint8_t>{1, 2, 3}, {3}, device);
  const MemoryStatistics earlier = memory_statistics(device);  // more must be a new peak
  const Tensor filler =
      Tensor::empty({static_cast<int64_t>(earlier.peak_bytes - earlier.used_bytes)}, DType::U8, device);
  const size_t before = memory_statistics(device).peak_bytes;
  x.scatter_set(ids, source, 0);
  EXPECT_LT(memory_statistics(device).peak_bytes, before + (64 << 10));
  EXPECT_EQ(x.get(5).to_scalar<uint8_t>(), 3);
  EXPECT_EQ(x.get((1 << 20) - 1).to_scalar<uint8_t>(), 2);
  EXPECT_EQ(x.sum_all().to_scalar<uint8_t>(), 5);
}

// Operands that repeat are read as they are.
TEST(DeviceMemory, OfComparisonsIsTheResults) {
  if (on_cpu()) GTEST_SKIP() << "the CPU's memory is the system's";
  const Device device = Device::default_device();
  const Tensor column = Tensor::arange(0, 512, DType::I64, device).reshape({512, 1});
  const Tensor row = Tensor::arange(0, 512, DType::I64, device).reshape({1, 512});
  const MemoryStatistics earlier = memory_statistics(device);  // more must be a new peak
  const Tensor filler =
      Tensor::empty({static_cast<int64_t>(earlier.peak_bytes - earlier.used_bytes)}, DType::U8, device);
  const size_t before = memory_statistics(device).peak_bytes;
  const Tensor mask = column.broadcast_gt(row);
  EXPECT_LT(memory_statistics(device).peak_bytes, before + 512 * 512 + (64 << 10));
  EXPECT_EQ(mask.to_dtype(DType::I64).sum_all().to_scalar<int64_t>(), 512 * 511 / 2);
}

}  // namespace
}  // namespace beeswax::test
