// SPDX-License-Identifier: Apache-2.0
// quantized_matmul_<format>: weights in blocks times many rows of activations. A block of threads makes a
// tile of kQuantMatmulN outputs of kQuantMatmulM rows: it unpacks kStages units of its weights at a time into
// shared memory, whence each wave of 32 makes 32 x 32 integer products, by matrix instructions where there
// are any. Their terms are added in the order of quantized_rows, so a row's result does not depend on how
// many there are: units l, l + 32, l + 64, ... add up for each l < 32, and these sums are added in order.
//   floors: 2 m n k over the rate of byte products; m n k / 32 terms of 5 to 10 float operations over the ALU
//   rate
#pragma once

#include "kernels/quantized.h"
#include "kernels/quantized_activation.h"

namespace beeswax::gpu {

/// The units of a row in the order in which they are added.
struct UnitOrder {
  uint32_t units, lane, at;
  /// Whether unit `at` is the last of its lane.
  BW_DEVICE_MEMBER bool ends_lane() const { return at + 32 >= units; }
  BW_DEVICE_MEMBER bool done() const { return lane >= units || lane >= 32; }
  BW_DEVICE_MEMBER void step() {
    if (ends_lane()) {
      ++lane;
      at = lane;
    } else {
      at += 32;
    }
  }
};

inline constexpr int kStages = kQuantMatmulThreads / kQuantMatmulN;  // each thread unpacks one unit
inline constexpr int kPitch = 12;  // words of 8: rows of a wave in different banks

/// What is beside the bytes of a unit of weights and of activations.
struct WeightScale32 {
  float scale, minimum;
};
struct WeightScale256 {
  float scale, minimum;
  int32_t sc[2], m[2];
};
struct ActivationSums {
  float d;
  int32_t bytes[2];
};

template <class WeightScale>
struct MatmulShared {
  alignas(16) uint32_t weight[kStages][kQuantMatmulN][kPitch];
  alignas(16) uint32_t activation[kStages][kQuantMatmulM][kPitch];
  WeightScale scale[kStages][kQuantMatmulN];
  ActivationSums sums[kStages][kQuantMatmulM];
};

BW_DEVICE WeightScale32 scales_of(const Unit32& unit) { return {unit.scale, unit.minimum}; }
BW_DEVICE WeightScale256 scales_of(const Unit256& unit) {
  return {unit.scale, unit.minimum, {unit.sc[0], unit.sc[1]}, {unit.m[0], unit.m[1]}};
}

/// Terms of one output.
template <class Block>
BW_DEVICE float matmul_term(const WeightScale32& w, const ActivationSums& x, int32_t dot, int32_t) {
  return unit_term<Block>(w.scale, w.minimum, x.d, dot, x.bytes[0]);
}
template <class Block>
BW_DEVICE float matmul_term(const WeightScale256& w, const ActivationSums& x, int32_t dot0, int32_t dot1) {
  Unit256 unit;
  unit.scale = w.scale;
  unit.minimum = w.minimum;
  for (int g = 0; g < 2; ++g) {
    unit.sc[g] = w.sc[g];
    unit.m[g] = w.m[g];
  }
  const int32_t dot[2] = {dot0, dot1};
  return unit_term<Block>(unit, x.d, dot, x.bytes);
}

/// Words 0 to 3 and 4 to 7 of a row of shared memory.
BW_DEVICE void load_row(const uint32_t (&row)[kPitch], uint32_t (&to)[8]) {
  uint32_t low[4], high[4];
  load_words(&row[0], low);
  load_words(&row[4], high);
  for (int i = 0; i < 4; ++i) {
    to[i] = low[i];
    to[i + 4] = high[i];
  }
}
BW_DEVICE void store_row(const uint32_t (&from)[8], uint32_t (&row)[kPitch]) {
  WordPack<4> low, high;
  for (int i = 0; i < 4; ++i) {
    low.v[i] = from[i];
    high.v[i] = from[i + 4];
  }
  *reinterpret_cast<WordPack<4>*>(&row[0]) = low;
  *reinterpret_cast<WordPack<4>*>(&row[4]) = high;
}

/// Products of one unit for the 32 x 32 outputs of 32 threads. Thread t has rows t / 4 + 8 i and columns
/// 2 (t % 4) + 8 j and the next: sum[i][j][0 and 1].
template <class Block, class Shared>
BW_DEVICE void add_unit(const Shared& shared, uint32_t stage, uint32_t first_row, uint32_t first_column,
                        float (&sum)[4][4][2]) {
  constexpr bool kGroups = Block::kElements == 256;
  const uint32_t t = thread() % 32, row = first_row + t / 4, column = first_column + t % 4 * 2;
  if constexpr (kByteMatrices) {
    const uint32_t word = t % 4;
    uint32_t b[4][2];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const auto& from = shared.activation[stage][first_column + t / 4 + static_cast<uint32_t>(8 * j)];
      b[j][0] = from[word];
      b[j][1] = from[word + 4];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t top = row + static_cast<uint32_t>(16 * half);
      const auto& low = shared.weight[stage][top];
      const auto& high = shared.weight[stage][top + 8];
      const uint32_t a[4] = {low[word], high[word], low[word + 4], high[word + 4]};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int32_t dot[2][4] = {};
        if constexpr (kGroups) {
          const uint32_t a0[2] = {a[0], a[1]}, a1[2] = {a[2], a[3]}, b0[1] = {b[j][0]}, b1[1] = {b[j][1]};
          multiply_bytes(a0, b0, dot[0]);
          multiply_bytes(a1, b1, dot[1]);
        } else {
          multiply_bytes(a, b[j], dot[0]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const auto& x = shared.sums[stage][column + static_cast<uint32_t>(8 * j + i % 2)];
          sum[half * 2 + i / 2][j][i % 2] += matmul_term<Block>(
              shared.scale[stage][top + static_cast<uint32_t>(i / 2 * 8)], x, dot[0][i], dot[1][i]);
        }
      }
    }
  } else {
    uint32_t w[4][8];
#pragma unroll
    for (int i = 0; i < 4; ++i) load_row(shared.weight[stage][row + static_cast<uint32_t>(8 * i)], w[i]);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint32_t at = column + static_cast<uint32_t>(j / 2 * 8 + j % 2);
      uint32_t x[8];
      load_row(shared.activation[stage][at], x);
#if BW_DOT4 == 0
      // Compilers would keep all bytes of w as words, for which there are no registers.
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 8; ++k) BW_HIDE_WORD(w[i][k]);
#endif
      const ActivationSums& sums = shared.sums[stage][at];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int32_t dot[2] = {0, 0};
        for (int k = 0; k < 8; ++k) dot[kGroups ? k / 4 : 0] = dot4(w[i][k], x[k], dot[kGroups ? k / 4 : 0]);
        sum[i][j / 2][j % 2] +=
            matmul_term<Block>(shared.scale[stage][row + static_cast<uint32_t>(8 * i)], sums, dot[0], dot[1]);
      }
    }
  }
}

template <class Block>
BW_DEVICE void quantized_matmul(const QuantizedMatmulArgs& args) {
  using Unit = decltype(load_unit(static_cast<const Block*>(nullptr), 0));
  using WeightScale = decltype(scales_of(Unit()));
  BW_SHARED static MatmulShared<WeightScale> shared;
  // What this thread unpacks: a unit of a row of weights, and of the first threads one of a row of
  // activations.
  const uint32_t stage = thread() / kQuantMatmulN, row_in = thread() % kQuantMatmulN;
  const uint32_t x_stage = thread() / kQuantMatmulM, x_in = thread() % kQuantMatmulM;
  const uint32_t first_row = block() * kQuantMatmulN, first_column = block_y() * kQuantMatmulM;
  const uint32_t row = first_row + row_in < args.n ? first_row + row_in : args.n - 1;
  const uint32_t column = first_column + x_in < args.m ? first_column + x_in : args.m - 1;
  const Block* weights = static_cast<const Block*>(args.blocks) + uint64_t{row} * (args.k / Block::kElements);
  const ActivationRow activations = activation_row<Block>(args, args.k, column);
  // The outputs of this thread's wave of 32.
  const uint32_t wave = thread() / 32, wave_row = wave % (kQuantMatmulN / 32) * 32;
  const uint32_t wave_column = wave / (kQuantMatmulN / 32) * 32;

  Unit unit;
  ActivationUnit x;
  UnitOrder load{args.k / 32, 0, 0}, add = load;
  const auto load_stages = [&]() __attribute__((always_inline)) {
    uint32_t at[kStages];
    for (uint32_t& place : at) {
      place = load.done() ? 0 : load.at;  // past the end: read, not used
      if (!load.done()) load.step();
    }
    uint32_t mine = at[0], x_mine = at[0];
    for (uint32_t s = 1; s < kStages; ++s) {
      mine = stage == s ? at[s] : mine;
      x_mine = x_stage == s ? at[s] : x_mine;
    }
    unit = load_unit(weights, mine);
    if (x_stage < kStages) x = load_activation<Block>(activations, x_mine);
  };
  float total[4][4][2], sum[4][4][2];
#pragma unroll
  for (int i = 0; i < 32; ++i) total[i / 8][i / 2 % 4][i % 2] = sum[i / 8][i / 2 % 4][i % 2] = 0.0f;
  load_stages();
#pragma unroll 1
  while (!add.done()) {
    barrier();  // the stages before have been read
    store_row(unit.level, shared.weight[stage][row_in]);
    shared.scale[stage][row_in] = scales_of(unit);
    if (x_stage < kStages) {
      store_row(x.word, shared.activation[x_stage][x_in]);
      shared.sums[x_stage][x_in] = {x.d, {x.bytes[0], x.bytes[1]}};
    }
    barrier();
    if (!load.done()) load_stages();
#pragma unroll 1
    for (uint32_t s = 0; s < kStages && !add.done(); ++s) {
      add_unit<Block>(shared, s, wave_row, wave_column, sum);
      if (add.ends_lane()) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
          total[i / 8][i / 2 % 4][i % 2] += sum[i / 8][i / 2 % 4][i % 2];
          sum[i / 8][i / 2 % 4][i % 2] = 0.0f;
        }
      }
      add.step();
    }
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const auto n = first_row + wave_row + thread() % 32 / 4 + static_cast<uint32_t>(i / 8 * 8);
    const auto m =
        first_column + wave_column + thread() % 4 * 2 + static_cast<uint32_t>(i / 2 % 4 * 8 + i % 2);
    if (n >= args.n || m >= args.m) continue;
    const float value[1] = {total[i / 8][i / 2 % 4][i % 2]};
    store_floats(args.y, uint64_t{m} * args.n + n, args.dtype, value);
  }
}

}  // namespace beeswax::gpu

#define BW_QUANTIZED_MATMUL(Name, name)                             \
  BW_KERNEL_OF(beeswax::gpu::kQuantMatmulThreads, 1)                \
  quantized_matmul_##name(beeswax::gpu::QuantizedMatmulArgs args) { \
    beeswax::gpu::quantized_matmul<beeswax::quant::Name>(args);     \
  }
