// SPDX-License-Identifier: Apache-2.0
// Q8_0: 32 signed bytes and a half scale; value = d q.
#pragma once

#include "quant/block.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q8_0 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = false;
  uint16_t d;
  int8_t qs[32];
};

BW_FN float block_scale(const Q8_0& block) { return f16_to_float(block.d); }
BW_FN int level(const Q8_0& block, int i) { return block.qs[i]; }

BW_FN void dequantize(const Q8_0& block, float* out) {
  const float d = f16_to_float(block.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

/// d = max|x| / 127, q = x / d to the nearest, ties away from zero.
BW_FN void quantize(const float* x, const float* /*importance*/, Q8_0* out) {
  const int32_t amax = max_abs_bits(x, 32);
  const float d = bit_cast<float>(amax) / 127.0f;
  out->d = half_scale(d, amax < kInfinityBits);
  const float inverse = inverse_scale(d, out->d);
  if (inverse == 0.0f) {
    for (int i = 0; i < 32; ++i) out->qs[i] = 0;
    return;
  }
  for (int i = 0; i < 32; ++i) out->qs[i] = static_cast<int8_t>(round_away(x[i] * inverse));
}

}  // namespace beeswax::quant
