// SPDX-License-Identifier: Apache-2.0
// Q8_K: 256 signed bytes, a float scale, and the sums of each 16 bytes; value = d q. Activations take this
// form before they meet a K format.
#pragma once

#include "quant/block.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q8_K {
  static constexpr int kElements = 256;
  static constexpr bool kHasMin = false;
  float d;
  int8_t qs[256];
  int16_t bsums[16];
};

BW_FN float block_scale(const Q8_K& block) { return block.d; }
BW_FN int group_scale(const Q8_K&, int /*group*/) { return 1; }
BW_FN int level(const Q8_K& block, int i) { return block.qs[i]; }

BW_FN void dequantize(const Q8_K& block, float* out) {
  const float d = block.d;
  for (int i = 0; i < 256; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

/// inverse = -127 / (the value of largest magnitude), q = x inverse to the nearest, ties away from zero,
/// d = 1 / inverse. Below 2^-120 a block becomes zeros: its inverse would not be a float.
BW_FN void quantize(const float* x, const float* /*importance*/, Q8_K* out) {
  const int32_t amax = max_abs_bits(x, 256);
  const bool finite = amax < kInfinityBits;
  if (!finite || bit_cast<float>(amax) < 0x1p-120f) {
    out->d = finite ? 0.0f : bit_cast<float>(0x7fc00000u);
    for (int i = 0; i < 256; ++i) out->qs[i] = 0;
    for (int g = 0; g < 16; ++g) out->bsums[g] = 0;
    return;
  }
  const float inverse = -127.0f / first_with_abs_bits(x, 256, amax);
  out->d = 1.0f / inverse;
  for (int i = 0; i < 256; ++i) out->qs[i] = static_cast<int8_t>(round_away(x[i] * inverse));
  for (int g = 0; g < 16; ++g) {
    int sum = 0;
    for (int l = 0; l < 16; ++l) sum += out->qs[g * 16 + l];
    out->bsums[g] = static_cast<int16_t>(sum);
  }
}

}  // namespace beeswax::quant
