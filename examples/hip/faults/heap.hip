// SPDX-License-Identifier: Apache-2.0
// A fault to be found: a block of a kernel's own malloc, one element too short.
#include <vector>

#include "../check.h"

struct Row {
  int* cells;
  int count;
};

__global__ void fill(Row* rows, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  rows[i].count = n + i;
  rows[i].cells = static_cast<int*>(malloc(static_cast<size_t>(n + i) * sizeof(int)));
  for (int k = 0; k <= rows[i].count; ++k) rows[i].cells[k] = k;
}

int main() {
  Buffer<Row> rows(64);
  std::vector<Row> result(64);
  fill<<<1, 64>>>(rows.get(), 10);
  CHECK(hipDeviceSynchronize());
  rows.take(result.data());
  std::printf("%d\n", result[3].count);
  return result[3].count != 13;
}
