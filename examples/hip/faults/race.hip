// SPDX-License-Identifier: Apache-2.0
// A fault to be found: adds up tiles through shared memory, and forgets the barrier that ends a tile's use.
// It often works by luck; BEESWAX_EMU_CHECK=race finds it whatever the luck.
#include <vector>

#include "../check.h"

constexpr int kTile = 256, kTiles = 4;

__global__ void add_tiles(const int* tiles, int* sums) {
  __shared__ int staged[kTile];
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    staged[threadIdx.x] = tiles[tile * kTile + threadIdx.x];
    __syncthreads();
    sum += staged[kTile - 1 - threadIdx.x];
    // __syncthreads() is missing here: a fast wave overwrites what a slow one still reads.
  }
  sums[threadIdx.x] = sum;
}

int main() {
  std::vector<int> tiles(kTile * kTiles), sums(kTile);
  for (size_t i = 0; i < tiles.size(); ++i) tiles[i] = static_cast<int>(i);
  Buffer<int> from(tiles.size()), to(kTile);
  from.put(tiles.data());
  add_tiles<<<1, kTile>>>(from.get(), to.get());
  CHECK(hipDeviceSynchronize());
  to.take(sums.data());
  int wrong = 0;
  for (int i = 0; i < kTile; ++i) {
    int expected = 0;
    for (int tile = 0; tile < kTiles; ++tile) expected += tiles[tile * kTile + kTile - 1 - i];
    wrong += sums[i] != expected;
  }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
