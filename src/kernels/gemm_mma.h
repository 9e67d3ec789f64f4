// SPDX-License-Identifier: Apache-2.0
// The main loop of products on matrix units: tiles of both sides go through registers into one of two buffers
// in shared memory while the other is multiplied. A side fetches its share of a tile at k into registers and
// later stores it to shared memory, lanes by packs of 16 bytes along k (mma_place); past the end of k it
// gives zeros.
#pragma once

#include "kernels/gemm.h"
#include "kernels/mma/mma.h"

namespace beeswax::gpu {

/// How the waves of a block share a tile.
template <int rows, int columns>
struct MmaTile {
  static constexpr int kRows = rows, kColumns = columns;
  static constexpr int kWaves = kGemmThreads / kWave;
  static constexpr int kDown = 2, kAcross = kWaves / kDown;
  static constexpr int kWaveRows = rows / kDown, kWaveColumns = columns / kAcross;
  static constexpr int kRowAtoms = kWaveRows / kMmaSize, kColumnAtoms = kWaveColumns / kMmaSize;
  /// Of this thread's wave.
  BW_DEVICE_MEMBER static uint32_t first_row() { return thread() / kWave % kDown * kWaveRows; }
  BW_DEVICE_MEMBER static uint32_t first_column() { return thread() / kWave / kDown * kWaveColumns; }
};

template <class Tile>
struct alignas(16) MmaShared {
  MmaPack a[2][Tile::kRows * 4], b[2][Tile::kColumns * 4];
};

template <class T, class Tile>
struct MmaSums {
  typename Mma<T>::Sum v[Tile::kRowAtoms][Tile::kColumnAtoms][Mma<T>::kSums];

  /// Calls to(row, column, sum) with every sum of this thread and its place in the tile.
  template <class To>
  BW_DEVICE_MEMBER void each(To to) const {
#pragma unroll
    for (int i = 0; i < Tile::kRowAtoms; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kColumnAtoms; ++j)
#pragma unroll
        for (int s = 0; s < Mma<T>::kSums; ++s)
          to(Tile::first_row() + i * kMmaSize + Mma<T>::row(s),
             Tile::first_column() + j * kMmaSize + Mma<T>::column(s), v[i][j][s]);
  }
};

template <class T, class Tile, class A, class B>
BW_DEVICE void mma_sums(A& a, B& b, uint32_t k_size, MmaShared<Tile>& shared, MmaSums<T, Tile>& sums) {
  using Unit = Mma<T>;
  constexpr uint32_t kStep = mma_step(sizeof(T));
#pragma unroll
  for (int i = 0; i < Tile::kRowAtoms; ++i)
#pragma unroll
    for (int j = 0; j < Tile::kColumnAtoms; ++j)
#pragma unroll
      for (int s = 0; s < Unit::kSums; ++s) sums.v[i][j][s] = 0;

  const uint32_t wave_row = Tile::first_row(), wave_column = Tile::first_column();
  typename A::Share next_a;
  typename B::Share next_b;
  a.fetch(0, next_a);
  b.fetch(0, next_b);
  a.store(shared.a[0], next_a);
  b.store(shared.b[0], next_b);
  barrier();
  uint32_t buffer = 0;
#pragma unroll 1
  for (uint32_t k = 0; k < k_size; k += kStep) {
    const bool more = k + kStep < k_size;
    if (more) {
      a.fetch(k + kStep, next_a);
      b.fetch(k + kStep, next_b);
    }
    typename Unit::Fragment y[Tile::kColumnAtoms];
#pragma unroll
    for (int j = 0; j < Tile::kColumnAtoms; ++j)
      y[j] = Unit::load_columns(shared.b[buffer], wave_column + j * kMmaSize);
#pragma unroll
    for (int i = 0; i < Tile::kRowAtoms; ++i) {
      const auto x = Unit::load(shared.a[buffer], wave_row + i * kMmaSize);
#pragma unroll
      for (int j = 0; j < Tile::kColumnAtoms; ++j) Unit::multiply(x, y[j], sums.v[i][j]);
    }
    buffer ^= 1;
    if (more) {
      a.store(shared.a[buffer], next_a);
      b.store(shared.b[buffer], next_b);
      barrier();
    }
  }
}

}  // namespace beeswax::gpu
