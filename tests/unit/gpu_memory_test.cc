// SPDX-License-Identifier: Apache-2.0
// Statistics, limits and trimming of a GPU's memory, against what a driver that counts has given.
#include <gtest/gtest.h>

#include "beeswax/graph.h"
#include "beeswax/system.h"
#include "beeswax/tensor.h"
#include "support/apart.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

constexpr int64_t kMiB = 1 << 20;

Tensor bytes_on(const Device& device, int64_t bytes) { return Tensor::empty({bytes}, DType::U8, device); }

void expect_memory(const Device& device, int64_t used, int64_t kept, int64_t peak, int64_t driver_calls) {
  const MemoryStatistics found = memory_statistics(device);
  EXPECT_EQ(found.used_bytes, static_cast<size_t>(used));
  EXPECT_EQ(found.kept_bytes, static_cast<size_t>(kept));
  EXPECT_EQ(found.peak_bytes, static_cast<size_t>(peak));
  EXPECT_EQ(found.driver_calls, static_cast<size_t>(driver_calls));
}

class GpuMemory : public testing::TestWithParam<FakeGpu> {
 protected:
  static void run(const std::function<void(fake::Control&, const Device&)>& body) {
    run_apart([&] {
      body(GetParam().control(), GetParam().device());
      return "";
    });
  }
};

TEST_P(GpuMemory, StatisticsAreExact) {
  run([](fake::Control& control, const Device& device) {
    expect_memory(device, 0, 0, 0, 0);
    Tensor a = bytes_on(device, 3 * kMiB), b = bytes_on(device, 1);  // the least block has 512 bytes
    expect_memory(device, 3 * kMiB + 512, 0, 3 * kMiB + 512, 2);
    a = Tensor();
    expect_memory(device, 512, 3 * kMiB, 3 * kMiB + 512, 2);
    a = bytes_on(device, 3 * kMiB - 100);  // the same block again
    expect_memory(device, 3 * kMiB + 512, 0, 3 * kMiB + 512, 2);
    a = b = Tensor();
    expect_memory(device, 0, 3 * kMiB + 512, 3 * kMiB + 512, 2);
    EXPECT_EQ(control.allocations, 2);
    EXPECT_EQ(memory_statistics(device).limit_bytes, 0u);
  });
}

TEST_P(GpuMemory, TrimmingGivesBackWhatWaitsForUse) {
  run([](fake::Control& control, const Device& device) {
    const Tensor held = bytes_on(device, kMiB);
    static_cast<void>(bytes_on(device, 2 * kMiB));
    expect_memory(device, kMiB, 2 * kMiB, 3 * kMiB, 2);
    trim_memory(device);
    expect_memory(device, kMiB, 0, 3 * kMiB, 2);
    EXPECT_EQ(control.allocations, 1);
    static_cast<void>(bytes_on(device, 2 * kMiB));  // is asked for anew
    expect_memory(device, kMiB, 2 * kMiB, 3 * kMiB, 3);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
  });
}

TEST_P(GpuMemory, WhatTheDriverDoesNotTakeStaysKept) {
  run([](fake::Control& control, const Device& device) {
    const auto free_fails = [&](int64_t nth) {
      set_fault(control, GetParam().name == "cuda:0" ? "cuMemFree_v2" : "hipFree", nth, 801);
    };
    {
      const Tensor a = bytes_on(device, kMiB), b = bytes_on(device, 2 * kMiB);
    }
    free_fails(2);
    EXPECT_ERROR(trim_memory(device), Device, "giving kept memory back: ");
    expect_memory(device, 0, 2 * kMiB, 3 * kMiB, 2);  // the other one went
    EXPECT_EQ(control.allocations, 1);
    free_fails(1);
    EXPECT_ERROR(set_memory_limit(device, kMiB), Device, "giving kept memory back: ");
    set_memory_limit(device, 0);
    static_cast<void>(bytes_on(device, 2 * kMiB));  // the one that stayed
    expect_memory(device, 0, 2 * kMiB, 3 * kMiB, 2);
    set_memory_limit(device, 2 * kMiB);
    free_fails(1);
    EXPECT_ERROR(bytes_on(device, kMiB), Device, "giving kept memory back: ");
    expect_memory(device, 0, 2 * kMiB, 3 * kMiB, 2);
    trim_memory(device);
    expect_memory(device, 0, 0, 3 * kMiB, 2);
    EXPECT_EQ(control.allocations, 0);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
  });
}

TEST_P(GpuMemory, KeptMemoryGoesBackBeforeTheLimitCounts) {
  run([](fake::Control& control, const Device& device) {
    set_memory_limit(device, 4 * kMiB);
    EXPECT_EQ(memory_statistics(device).limit_bytes, size_t{4 * kMiB});
    static_cast<void>(bytes_on(device, 3 * kMiB));
    const Tensor held = bytes_on(device, 2 * kMiB);  // both together are over it
    expect_memory(device, 2 * kMiB, 0, 3 * kMiB, 2);
    EXPECT_EQ(control.allocations, 1);
    static_cast<void>(bytes_on(device, kMiB));
    EXPECT_ERROR(bytes_on(device, 2 * kMiB + 1), OutOfMemory,
                 "2097153 bytes on " + GetParam().name +
                     ": over the limit of 4194304 that was set; 2097152 bytes are in use here");
    expect_memory(device, 2 * kMiB, 0, 3 * kMiB, 3);  // not without giving back first
    EXPECT_EQ(control.allocations, 1);
    const Tensor rest = bytes_on(device, 2 * kMiB);  // as much as the limit says
    set_memory_limit(device, 0);
    const Tensor more = bytes_on(device, 8 * kMiB);
    EXPECT_EQ(memory_statistics(device).used_bytes, size_t{12 * kMiB});
  });
}

TEST_P(GpuMemory, ALimitUnderWhatIsUsedHoldsForWhatIsKeptLater) {
  run([](fake::Control& control, const Device& device) {
    Tensor held = bytes_on(device, 3 * kMiB);
    static_cast<void>(bytes_on(device, kMiB));
    set_memory_limit(device, 2 * kMiB);
    expect_memory(device, 3 * kMiB, 0, 4 * kMiB, 2);
    EXPECT_EQ(control.allocations, 1);
    held = Tensor();  // 3 MiB wait for use, and may not be used
    EXPECT_ERROR(bytes_on(device, 3 * kMiB), OutOfMemory, "over the limit of 2097152");
    expect_memory(device, 0, 0, 4 * kMiB, 2);
    EXPECT_EQ(control.allocations, 0);
    held = bytes_on(device, 2 * kMiB);
    expect_memory(device, 2 * kMiB, 0, 4 * kMiB, 3);
  });
}

TEST_P(GpuMemory, GraphsHoldWhatTheyUse) {
  run([](fake::Control& control, const Device& device) {
    const Tensor x = Tensor::ones({kMiB / 4}, DType::F32, device);
    Tensor y = x.exp();
    y = Tensor();
    {
      const Graph graph = Graph::capture(device, [&] {
        EXPECT_ERROR(trim_memory(device), Unsupported, "[trim_memory] a graph cannot record");
        EXPECT_ERROR(set_memory_limit(device, kMiB), Unsupported, "[set_memory_limit] a graph cannot record");
        y = x.exp();
      });
      y = Tensor();
      expect_memory(device, 2 * kMiB, 0, 2 * kMiB, 2);
      trim_memory(device);
      graph.replay();
      EXPECT_EQ(memory_statistics(device).limit_bytes, 0u);
    }
    expect_memory(device, kMiB, kMiB, 2 * kMiB, 2);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
  });
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuMemory, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuMemory);

}  // namespace
}  // namespace beeswax::test
