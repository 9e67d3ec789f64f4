// SPDX-License-Identifier: Apache-2.0
// Multiplies two matrices by tiles in shared memory. The sizes are no multiples of the tile.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kTile + y, column = static_cast<int>(blockIdx.x) * kTile + x;
  float sum = 0;
  for (int start = 0; start < inner; start += kTile) {
    tile_a[y][x] = row < rows && start + x < inner ? a[row * inner + start + x] : 0.0f;
    tile_b[y][x] = start + y < inner && column < columns ? b[(start + y) * columns + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

int main() {
  constexpr int rows = 77, inner = 130, columns = 53;
  std::vector<float> a(rows * inner), b(inner * columns), c(rows * columns);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 53 % 97) - 48) / 48.0f;
  Buffer<float> da(a.size()), db(b.size()), dc(c.size());
  da.put(a.data());
  db.put(b.data());
  multiply<<<dim3((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile), dim3(kTile, kTile)>>>(
      da.get(), db.get(), dc.get(), rows, inner, columns);
  CHECK(hipGetLastError());
  dc.take(c.data());
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double exact = 0;
      for (int k = 0; k < inner; ++k) exact += static_cast<double>(a[i * inner + k]) * b[k * columns + j];
      worst = std::max(worst, std::fabs(exact - c[i * columns + j]));
    }
  std::printf("%d x %d x %d: largest error %.2e\n", rows, inner, columns, worst);
  return worst > 130 * 2 * 6e-8 * 130;
}
