// SPDX-License-Identifier: Apache-2.0
// A fault to be found: the bound is <= where it must be <, so one work-item reads and writes past the end.
#include <vector>

#include "../check.h"

__global__ void scale(float* values, float by, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) values[i] *= by;
}

int main() {
  constexpr int n = 1000;
  std::vector<float> values(n, 2.0f);
  Buffer<float> device(n);
  device.put(values.data());
  scale<<<(n + 255) / 256, 256>>>(device.get(), 3.0f, n);
  CHECK(hipDeviceSynchronize());
  device.take(values.data());
  std::printf("%g\n", static_cast<double>(values[n - 1]));
  return values[n - 1] != 6.0f;
}
