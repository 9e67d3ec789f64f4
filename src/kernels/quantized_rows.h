// SPDX-License-Identifier: Apache-2.0
// quantized_rows_<format> and quantized_rows_<format>_<columns>: weights in blocks times a few rows of
// activations. 32 threads make kMatVecRows outputs: each takes every 32nd unit of 32 weights, whose products
// with the bytes of an activation are an exact integer; their terms are floats and add up in each thread and
// then across threads, in an order that depends on k alone.
//   floors: bytes of the weights over the bandwidth; m n k / 4 dot instructions
#pragma once

#include "kernels/quantized.h"
#include "kernels/quantized_activation.h"

namespace beeswax::gpu {

template <class Block>
BW_DEVICE float unit_product(const Unit32& unit, const ActivationUnit& x) {
  int32_t dot = 0;
  for (int i = 0; i < 8; ++i) dot = dot4(unit.level[i], x.word[i], dot);
  return unit_term<Block>(unit.scale, unit.minimum, x.d, dot, x.bytes[0]);
}
template <class Block>
BW_DEVICE float unit_product(const Unit256& unit, const ActivationUnit& x) {
  int32_t dot[2] = {0, 0};
  for (int i = 0; i < 8; ++i) dot[i / 4] = dot4(unit.level[i], x.word[i], dot[i / 4]);
  return unit_term<Block>(unit, x.d, dot, x.bytes);
}

template <class Block, int kColumns>
BW_DEVICE void quantized_rows(const QuantizedMatmulArgs& args) {
  const uint32_t place = thread() % 32;
  const uint32_t first = (block() * (kMatVecThreads / 32) + thread() / 32) * kMatVecRows;
  const uint32_t first_column = kColumns == 1 ? 0 : block_y() * kColumns;
  const uint32_t columns = args.m - first_column;
  const Block* rows[kMatVecRows];
  for (int r = 0; r < kMatVecRows; ++r) {
    const uint32_t row = first + static_cast<uint32_t>(r);
    const uint32_t inside = row < args.n ? row : args.n - 1;
    rows[r] = static_cast<const Block*>(args.blocks) + uint64_t{inside} * (args.k / Block::kElements);
  }
  float sum[kMatVecRows][kColumns];
  for (auto& row : sum)
    for (float& value : row) value = 0.0f;
  const uint32_t units = args.k / 32;
  // For one column two steps are loaded together, to keep more of memory in flight
  // (a unit of Q3_K takes too many registers).
  constexpr uint32_t kSteps = kColumns == 1 && !__is_same(Block, quant::Q3_K) ? 2 : 1;
#pragma unroll 1
  for (uint32_t at = place; at < units; at += 32 * kSteps) {
    const uint32_t k = kColumns > 1 ? hidden_uniform(args.k) : args.k;
    decltype(load_unit(rows[0], at)) unit[kSteps][kMatVecRows];
#pragma unroll
    for (uint32_t step = 0; step < kSteps; ++step) {
      const uint32_t here = at + 32 * step < units ? at + 32 * step : at;
#pragma unroll
      for (int r = 0; r < kMatVecRows; ++r) unit[step][r] = load_unit(rows[r], here);
    }
#pragma unroll
    for (uint32_t step = 0; step < kSteps; ++step) {
      const bool inside = step == 0 || at + 32 * step < units;
      uint32_t here = inside ? at + 32 * step : at;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const auto column = static_cast<uint32_t>(c);
        if (kColumns > 1 && column >= columns) break;
        // Addresses of every column at once would fill the registers.
        if (kColumns > 1) here = hidden(here);
        const auto x = load_activation<Block>(activation_row<Block>(args, k, first_column + column), here);
#pragma unroll
        for (int r = 0; r < kMatVecRows; ++r) {
          const float product = unit_product<Block>(unit[step][r], x);
          sum[r][c] += inside ? product : 0.0f;
        }
      }
    }
  }
  // The 32 sums of an output are added in order, as a product of many rows does it.
  constexpr uint32_t kRows = kMatVecThreads / 32 * kMatVecRows;  // of the block
  BW_SHARED static float partial[kColumns][kRows][33];
#pragma unroll
  for (int r = 0; r < kMatVecRows; ++r)
#pragma unroll
    for (int c = 0; c < kColumns; ++c)
      partial[c][thread() / 32 * kMatVecRows + static_cast<uint32_t>(r)][place] = sum[r][c];
  barrier();
  const uint32_t c = thread() / kRows, row = block() * kRows + thread() % kRows;
  if (c >= kColumns || c >= columns || row >= args.n) return;
  float total[1] = {0.0f};
#pragma unroll
  for (uint32_t i = 0; i < 32; ++i) total[0] += partial[c][thread() % kRows][i];
  store_floats(args.y, uint64_t{first_column + c} * args.n + row, args.dtype, total);
}

}  // namespace beeswax::gpu

#define BW_QUANTIZED_ROWS(Name, name)                                                       \
  BW_KERNEL_OF(beeswax::gpu::kMatVecThreads, 4)                                             \
  quantized_rows_##name##_1(beeswax::gpu::QuantizedMatmulArgs args) {                       \
    beeswax::gpu::quantized_rows<beeswax::quant::Name, 1>(args);                            \
  }                                                                                         \
  BW_KERNEL_OF(beeswax::gpu::kMatVecThreads, 4)                                             \
  quantized_rows_##name(beeswax::gpu::QuantizedMatmulArgs args) {                           \
    beeswax::gpu::quantized_rows<beeswax::quant::Name, beeswax::gpu::kMatVecColumns>(args); \
  }
