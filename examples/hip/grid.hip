// SPDX-License-Identifier: Apache-2.0
// A cooperative launch: heat spreads along a rod, step by step, and all blocks wait for each other in
// between.
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "check.h"

__global__ void spread(float* heat, float* next, int n, int steps) {
  const auto grid = cooperative_groups::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
      const float left = heat[i == 0 ? i : i - 1], right = heat[i == n - 1 ? i : i + 1];
      next[i] = heat[i] + 0.25f * (left - 2 * heat[i] + right);
    }
    grid.sync();
    float* const swapped = heat;
    heat = next;
    next = swapped;
  }
}

int main() {
  constexpr int n = 20000, block = 256;
  int steps = 20, count = n;
  std::vector<float> heat(n), next(n), result(n);
  for (int i = 0; i < n; ++i) heat[i] = static_cast<float>(i % 1000 < 500);
  int each = 0, device = 0;
  hipDeviceProp_t properties;
  CHECK(hipGetDevice(&device));
  CHECK(hipGetDeviceProperties(&properties, device));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&each, spread, block, 0));
  const int most = each * properties.multiProcessorCount;
  Buffer<float> a(n), b(n);
  a.put(heat.data());
  float *from = a.get(), *to = b.get();
  void* arguments[] = {&from, &to, &count, &steps};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(spread), std::min(most, 50), block,
                                   arguments, 0, nullptr));
  CHECK(hipDeviceSynchronize());
  a.take(result.data());
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < n; ++i) {
      const float left = heat[i == 0 ? i : i - 1], right = heat[i == n - 1 ? i : i + 1];
      next[i] = heat[i] + 0.25f * (left - 2 * heat[i] + right);
    }
    std::swap(heat, next);
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::max(result[i] - heat[i], heat[i] - result[i]) > 1e-5f;
  // More blocks than the device can hold are refused.
  const hipError_t refused = hipLaunchCooperativeKernel(reinterpret_cast<const void*>(spread), most + 1,
                                                        block, arguments, 0, nullptr);
  wrong += properties.cooperativeLaunch != 1 || refused != hipErrorCooperativeLaunchTooLarge;
  std::printf("%d cells, %d wrong\n", n, wrong);
  return wrong != 0;
}
