// SPDX-License-Identifier: Apache-2.0
// The stable order of a tile's elements by one digit, in one block. An element's number in the tile is
// (wave * n + round) * kWave + lane: a wave takes a run of n * kWave elements, in rounds of neighbours.
#pragma once

#include "kernels/wave.h"
#include "tables/index_limits.h"

namespace beeswax::gpu {

inline constexpr int kSortWaves = kSortThreads / kWave;

/// Shared memory of tile_places.
struct TileCounts {
  uint32_t of_wave[kSortWaves][kDigits];
  uint32_t sums[kSortWaves];
};

/// The sum of `value` over threads before this one; `sums` is shared. Ends with a barrier before `sums` may
/// be used again.
BW_DEVICE uint32_t sum_before(uint32_t value, uint32_t (&sums)[kSortWaves]) {
  uint32_t sum = value;
#pragma unroll
  for (uint32_t d = 1; d < kWave; d *= 2) {
    const uint32_t other = shuffle(sum, lane() >= d ? lane() - d : lane());
    if (lane() >= d) sum += other;
  }
  const uint32_t wave = thread() / kWave;
  if (lane() == kWave - 1) sums[wave] = sum;
  barrier();
  uint32_t before = 0;
#pragma unroll
  for (uint32_t w = 0; w < kSortWaves; ++w)
    if (w < wave) before += sums[w];
  barrier();
  return before + sum - value;
}

/// Threads of the wave whose digit is this thread's.
BW_DEVICE WaveMask same_digit(uint32_t digit) {
  WaveMask mask = ~WaveMask{0};
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const bool set = ((digit >> bit) & 1u) != 0;
    const WaveMask votes = wave_ballot(set);
    mask &= set ? votes : ~votes;
  }
  return mask;
}

/// The number of this thread's element `round` in the tile.
template <int n>
BW_DEVICE uint32_t tile_index(int round) {
  return (thread() / kWave * n + static_cast<uint32_t>(round)) * kWave + lane();
}

/// place[k]: where the tile's stable order by digit(k) puts the element of round k. Returns where the
/// elements with the digit thread() begin. Begins and ends with barriers around its use of `counts`.
template <int n, class Digit>
BW_DEVICE uint32_t tile_places(Digit digit, uint32_t (&place)[n], TileCounts& counts) {
  static_assert(kSortThreads == kDigits);
  const uint32_t wave = thread() / kWave;
  const uint32_t t = thread();
  barrier();
#pragma unroll
  for (int w = 0; w < kSortWaves; ++w) counts.of_wave[w][t] = 0;
  barrier();
  const WaveMask below = (WaveMask{1} << lane()) - 1;
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const WaveMask same = same_digit(digit(k));
    const uint32_t before = bits_in(static_cast<WaveMask>(same & below));
    place[k] = counts.of_wave[wave][digit(k)] + before;
    wave_barrier();
    if (before == 0) counts.of_wave[wave][digit(k)] += bits_in(same);
    wave_barrier();
  }
  barrier();
  uint32_t total = 0;
#pragma unroll
  for (int w = 0; w < kSortWaves; ++w) {
    const uint32_t count = counts.of_wave[w][t];
    counts.of_wave[w][t] = total;
    total += count;
  }
  const uint32_t begin = sum_before(total, counts.sums);
#pragma unroll
  for (int w = 0; w < kSortWaves; ++w) counts.of_wave[w][t] += begin;
  barrier();
#pragma unroll
  for (int k = 0; k < n; ++k) place[k] += counts.of_wave[wave][digit(k)];
  barrier();
  return begin;
}

}  // namespace beeswax::gpu
