// SPDX-License-Identifier: Apache-2.0
// Activations as bytes (quantized_activations.cc) in registers, in the order of the units of a format.
#pragma once

#include "kernels/quantized_args.h"
#include "kernels/quantized_units.h"

namespace beeswax::gpu {

/// Unit `at` of a row of activations.
struct ActivationUnit {
  uint32_t word[8];
  float d;
  int32_t bytes[2];  // their sum; for blocks of 256 of both groups, where they are needed
};

/// One row of activations.
struct ActivationRow {
  const char* q;
  const char* scales;
  const int16_t* sums;
};
template <class Block>
BW_DEVICE ActivationRow activation_row(const QuantizedMatmulArgs& args, uint32_t k, uint32_t row) {
  const uint64_t first = uint64_t{row} * k;
  constexpr uint32_t kScaleBytes = Block::kElements == 32 ? sizeof(ActivationScale) : sizeof(float);
  return {static_cast<const char*>(args.q) + first,
          static_cast<const char*>(args.scales) + first / Block::kElements * kScaleBytes,
          args.sums + first / 16};
}

template <class Block>
BW_DEVICE ActivationUnit load_activation(const ActivationRow& row, uint32_t at) {
  ActivationUnit unit;
  const char *low_at, *high_at;
  if constexpr (Block::kElements == 32) {
    low_at = row.q + at * 32;
    high_at = low_at + 16;
    const ActivationScale scale = reinterpret_cast<const ActivationScale*>(row.scales)[at];
    unit.d = scale.d;
    unit.bytes[0] = scale.sum;
  } else {
    const uint32_t a = at / 8 * 16 + Units<Block>::first(at % 8),
                   b = at / 8 * 16 + Units<Block>::second(at % 8);
    low_at = row.q + a * 16;
    high_at = row.q + b * 16;
    unit.d = reinterpret_cast<const float*>(row.scales)[at / 8];
    unit.bytes[0] = unit.bytes[1] = 0;
    if constexpr (Block::kHasMin || Units<Block>::kZero != 0) {
      unit.bytes[0] = row.sums[a];
      unit.bytes[1] = row.sums[b];
    }
  }
  uint32_t low[4], high[4];
  load_words(low_at, low);
  load_words(high_at, high);
  for (int i = 0; i < 4; ++i) {
    unit.word[i] = low[i];
    unit.word[i + 4] = high[i];
  }
  return unit;
}

}  // namespace beeswax::gpu
