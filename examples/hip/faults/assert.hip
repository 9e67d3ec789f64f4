// SPDX-License-Identifier: Apache-2.0
// A fault to be found: an assertion that one work-item's value fails.
#include <cassert>
#include <vector>

#include "../check.h"

__global__ void halve(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  assert(values[i] % 2 == 0);
  values[i] /= 2;
}

int main() {
  constexpr int n = 200;
  std::vector<int> values(n, 6);
  values[150] = 7;
  Buffer<int> device(n);
  device.put(values.data());
  halve<<<(n + 127) / 128, 128>>>(device.get(), n);
  CHECK(hipDeviceSynchronize());
  device.take(values.data());
  std::printf("%d\n", values[0]);
  return values[0] != 3;
}
