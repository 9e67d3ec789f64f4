// SPDX-License-Identifier: Apache-2.0
// A fault to be found: blocks without work of their own leave before the barrier of the whole grid.
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include <vector>

#include "../check.h"

__global__ void total(const int* values, int* partial, int* result, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (static_cast<int>(blockIdx.x * blockDim.x) >= n) return;
  if (threadIdx.x == 0) partial[blockIdx.x] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&partial[blockIdx.x], values[i]);
  cooperative_groups::this_grid().sync();
  if (i == 0)
    for (unsigned block = 0; block < gridDim.x; ++block) *result += partial[block];
}

int main() {
  int n = 300;
  std::vector<int> values(static_cast<size_t>(n), 2);
  int result = 0;
  Buffer<int> device(static_cast<size_t>(n)), partial(8), sum(1);
  device.put(values.data());
  sum.put(&result);
  const int* from = device.get();
  int *parts = partial.get(), *to = sum.get();
  void* arguments[] = {&from, &parts, &to, &n};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(total), 8, 64, arguments, 0, nullptr));
  CHECK(hipDeviceSynchronize());
  sum.take(&result);
  std::printf("%d\n", result);
  return result != 600;
}
