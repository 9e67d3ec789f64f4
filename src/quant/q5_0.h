// SPDX-License-Identifier: Apache-2.0
// Q5_0: 32 levels of 5 bits and a half scale; value = d (q - 16). The low four bits lie as in Q4_0; bit i of
// the 32-bit word qh is the fifth bit of element i.
#pragma once

#include "quant/search_weighted.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q5_0 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = false;
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};

BW_FN float block_scale(const Q5_0& block) { return f16_to_float(block.d); }
BW_FN int level(const Q5_0& block, int i) {
  return (((block.qs[i & 15] >> (i >> 4) * 4) & 15) | ((block.qh[i >> 3] >> (i & 7)) & 1) << 4) - 16;
}

BW_FN void dequantize(const Q5_0& block, float* out) {
  const float d = f16_to_float(block.d);
  const uint32_t qh = read_u32(block.qh);
  for (int j = 0; j < 16; ++j) {
    const int32_t low = (block.qs[j] & 15) | static_cast<int32_t>((qh >> j) & 1u) << 4;
    const int32_t high = (block.qs[j] >> 4) | static_cast<int32_t>((qh >> (j + 16)) & 1u) << 4;
    out[j] = d * static_cast<float>(low - 16);
    out[j + 16] = d * static_cast<float>(high - 16);
  }
}

/// d = (the value of largest magnitude) / -16, q = x / d + 16 to the nearest, at most 31; by search where
/// elements have weights.
BW_FN void quantize(const float* x, const float* importance, Q5_0* out) {
  const int32_t amax = max_abs_bits(x, 32);
  const float d = first_with_abs_bits(x, 32, amax) / -16.0f;
  out->d = half_scale(d, amax < kInfinityBits);
  const float inverse = inverse_scale(d, out->d);
  uint32_t qh = 0;
  WeightedBlock in;
  if (inverse != 0.0f && prepare_weighted(x, importance, &in)) {
    out->d = weighted_scale<16>(in, out->d);
    const float found = 1.0f / (f16_to_float(out->d) * in.down);
    for (int j = 0; j < 16; ++j) {
      const int32_t low = weighted_level(x[j] * in.down, found, -16.0f, 15.0f) + 16;
      const int32_t high = weighted_level(x[j + 16] * in.down, found, -16.0f, 15.0f) + 16;
      out->qs[j] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
      qh |= static_cast<uint32_t>(low >> 4) << j | static_cast<uint32_t>(high >> 4) << (j + 16);
    }
    write_u32(out->qh, qh);
    return;
  }
  for (int j = 0; j < 16; ++j) {
    // Where the scale is zero or NaN, inverse is 0, and an infinity times it would be NaN: take level 16.
    int32_t low = inverse == 0.0f ? 16 : static_cast<int32_t>(x[j] * inverse + 16.5f);
    int32_t high = inverse == 0.0f ? 16 : static_cast<int32_t>(x[j + 16] * inverse + 16.5f);
    low = low < 31 ? low : 31;
    high = high < 31 ? high : 31;
    out->qs[j] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
    qh |= static_cast<uint32_t>(low >> 4) << j | static_cast<uint32_t>(high >> 4) << (j + 16);
  }
  write_u32(out->qh, qh);
}

}  // namespace beeswax::quant
