// SPDX-License-Identifier: Apache-2.0
// Q4_1: 32 levels of 4 bits, a half scale and a half minimum; value = d q + m. Nibbles lie as in Q4_0.
#pragma once

#include "quant/search_weighted.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q4_1 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = true;
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
};

BW_FN float block_scale(const Q4_1& block) { return f16_to_float(block.d); }
BW_FN float block_min(const Q4_1& block) { return f16_to_float(block.m); }
BW_FN int level(const Q4_1& block, int i) { return (block.qs[i & 15] >> (i >> 4) * 4) & 15; }

BW_FN void dequantize(const Q4_1& block, float* out) {
  const float d = f16_to_float(block.d), m = f16_to_float(block.m);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(block.qs[j] & 15) + m;
    out[j + 16] = d * static_cast<float>(block.qs[j] >> 4) + m;
  }
}

/// m = min, d = (max - min) / 15, q = (x - m) / d to the nearest; by search where elements have weights.
BW_FN void quantize(const float* x, const float* importance, Q4_1* out) {
  const Range range = range_of(x, 32);
  const float d = (range.high - range.low) / 15.0f;
  out->m = half_scale(range.low, range.finite);
  out->d = half_scale(d, range.finite && half_is_finite(out->m));
  const float inverse = inverse_scale(d, out->d);
  if (inverse == 0.0f) {
    for (int j = 0; j < 16; ++j) out->qs[j] = 0;
    return;
  }
  WeightedBlock in;
  if (prepare_weighted(x, importance, &in)) {
    const HalfPair pair = weighted_pair<15>(in, {out->d, out->m});
    out->d = pair.d;
    out->m = pair.m;
    const float found = 1.0f / (f16_to_float(pair.d) * in.down), minimum = f16_to_float(pair.m) * in.down;
    for (int j = 0; j < 16; ++j) {
      const int32_t low = weighted_level(x[j] * in.down - minimum, found, 0.0f, 15.0f);
      const int32_t high = weighted_level(x[j + 16] * in.down - minimum, found, 0.0f, 15.0f);
      out->qs[j] = static_cast<uint8_t>(low | high << 4);
    }
    return;
  }
  for (int j = 0; j < 16; ++j) {
    const int32_t low = static_cast<int32_t>((x[j] - range.low) * inverse + 0.5f);
    const int32_t high = static_cast<int32_t>((x[j + 16] - range.low) * inverse + 0.5f);
    out->qs[j] = static_cast<uint8_t>((low < 15 ? low : 15) | (high < 15 ? high : 15) << 4);
  }
}

}  // namespace beeswax::quant
