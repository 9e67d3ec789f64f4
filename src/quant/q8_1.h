// SPDX-License-Identifier: Apache-2.0
// Q8_1: 32 signed bytes, a half scale d, and s = d times the sum of the bytes (what a weight format with a
// minimum multiplies by that minimum); value = d q.
#pragma once

#include "quant/block.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q8_1 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = false;
  uint16_t d;
  uint16_t s;
  int8_t qs[32];
};

BW_FN float block_scale(const Q8_1& block) { return f16_to_float(block.d); }
BW_FN int level(const Q8_1& block, int i) { return block.qs[i]; }

BW_FN void dequantize(const Q8_1& block, float* out) {
  const float d = f16_to_float(block.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

/// As Q8_0; s is made with the scale before its rounding to half, and overflows to infinity.
BW_FN void quantize(const float* x, const float* /*importance*/, Q8_1* out) {
  const int32_t amax = max_abs_bits(x, 32);
  const float d = bit_cast<float>(amax) / 127.0f;
  out->d = half_scale(d, amax < kInfinityBits);
  const float inverse = inverse_scale(d, out->d);
  if (inverse == 0.0f) {
    out->s = out->d;  // NaN or zero, as the scale
    for (int i = 0; i < 32; ++i) out->qs[i] = 0;
    return;
  }
  int32_t sum = 0;
  for (int i = 0; i < 32; ++i) {
    const int32_t q = round_away(x[i] * inverse);
    out->qs[i] = static_cast<int8_t>(q);
    sum += q;
  }
  out->s = f16_from_float(d * static_cast<float>(sum));
}

}  // namespace beeswax::quant
