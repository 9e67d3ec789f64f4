// SPDX-License-Identifier: Apache-2.0
// Q4_0: 32 levels of 4 bits and a half scale; value = d (q - 8). Byte j holds element j in its low half and
// element j + 16 in its high half.
#pragma once

#include "quant/search_weighted.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q4_0 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = false;
  uint16_t d;
  uint8_t qs[16];
};

BW_FN float block_scale(const Q4_0& block) { return f16_to_float(block.d); }
BW_FN int level(const Q4_0& block, int i) { return ((block.qs[i & 15] >> (i >> 4) * 4) & 15) - 8; }

BW_FN void dequantize(const Q4_0& block, float* out) {
  const float d = f16_to_float(block.d);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>((block.qs[j] & 15) - 8);
    out[j + 16] = d * static_cast<float>((block.qs[j] >> 4) - 8);
  }
}

/// d = (the value of largest magnitude) / -8, q = x / d + 8 to the nearest, at most 15; by search where
/// elements have weights.
BW_FN void quantize(const float* x, const float* importance, Q4_0* out) {
  const int32_t amax = max_abs_bits(x, 32);
  const float d = first_with_abs_bits(x, 32, amax) / -8.0f;
  out->d = half_scale(d, amax < kInfinityBits);
  const float inverse = inverse_scale(d, out->d);
  if (inverse == 0.0f) {
    for (int j = 0; j < 16; ++j) out->qs[j] = 0x88;
    return;
  }
  WeightedBlock in;
  if (prepare_weighted(x, importance, &in)) {
    out->d = weighted_scale<8>(in, out->d);
    const float found = 1.0f / (f16_to_float(out->d) * in.down);
    for (int j = 0; j < 16; ++j) {
      const int32_t low = weighted_level(x[j] * in.down, found, -8.0f, 7.0f) + 8;
      const int32_t high = weighted_level(x[j + 16] * in.down, found, -8.0f, 7.0f) + 8;
      out->qs[j] = static_cast<uint8_t>(low | high << 4);
    }
    return;
  }
  for (int j = 0; j < 16; ++j) {
    const int32_t low = static_cast<int32_t>(x[j] * inverse + 8.5f);
    const int32_t high = static_cast<int32_t>(x[j + 16] * inverse + 8.5f);
    out->qs[j] = static_cast<uint8_t>((low < 15 ? low : 15) | (high < 15 ? high : 15) << 4);
  }
}

}  // namespace beeswax::quant
