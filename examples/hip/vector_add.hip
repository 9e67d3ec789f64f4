// SPDX-License-Identifier: Apache-2.0
// Adds two vectors.
#include <vector>

#include "check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 100003;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.25f * static_cast<float>(i % 8);
  }
  Buffer<float> da(n), db(n), dc(n);
  da.put(a.data());
  db.put(b.data());
  add<<<(n + 255) / 256, 256>>>(da.get(), db.get(), dc.get(), n);
  CHECK(hipGetLastError());
  dc.take(c.data());
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  std::printf("%d sums, %d wrong\n", n, wrong);
  return wrong != 0;
}
