// SPDX-License-Identifier: Apache-2.0
// Sums integers: each wave by shuffles, the waves of a block through shared memory, the blocks by an atomic.
#include <vector>

#include "check.h"

__global__ void sum(const int* values, int n, int* total) {
  __shared__ int of_wave[32];
  int mine = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    mine += values[i];
  for (int step = warpSize / 2; step > 0; step /= 2) mine += __shfl_down(mine, step);
  const int lane = static_cast<int>(threadIdx.x) % warpSize, wave = static_cast<int>(threadIdx.x) / warpSize;
  if (lane == 0) of_wave[wave] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < static_cast<int>(blockDim.x) / warpSize; ++w) mine += of_wave[w];
    atomicAdd(total, mine);
  }
}

int main() {
  constexpr int n = 200001;
  std::vector<int> values(n);
  long long expected = 0;
  for (int i = 0; i < n; ++i) expected += values[i] = (i * 7919) % 1000 - 400;
  Buffer<int> device(n), total(1);
  device.put(values.data());
  int result = 0;
  total.put(&result);
  sum<<<40, 256>>>(device.get(), n, total.get());
  CHECK(hipGetLastError());
  total.take(&result);
  std::printf("sum %d, expected %lld\n", result, expected);
  return result != expected;
}
