// SPDX-License-Identifier: Apache-2.0
// Q5_1: 32 levels of 5 bits, a half scale and a half minimum; value = d q + m. Bits lie as in Q5_0.
#pragma once

#include "quant/search_weighted.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q5_1 {
  static constexpr int kElements = 32;
  static constexpr bool kHasMin = true;
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
};

BW_FN float block_scale(const Q5_1& block) { return f16_to_float(block.d); }
BW_FN float block_min(const Q5_1& block) { return f16_to_float(block.m); }
BW_FN int level(const Q5_1& block, int i) {
  return ((block.qs[i & 15] >> (i >> 4) * 4) & 15) | ((block.qh[i >> 3] >> (i & 7)) & 1) << 4;
}

BW_FN void dequantize(const Q5_1& block, float* out) {
  const float d = f16_to_float(block.d), m = f16_to_float(block.m);
  const uint32_t qh = read_u32(block.qh);
  for (int j = 0; j < 16; ++j) {
    const int32_t low = (block.qs[j] & 15) | static_cast<int32_t>((qh >> j) & 1u) << 4;
    const int32_t high = (block.qs[j] >> 4) | static_cast<int32_t>((qh >> (j + 16)) & 1u) << 4;
    out[j] = d * static_cast<float>(low) + m;
    out[j + 16] = d * static_cast<float>(high) + m;
  }
}

/// m = min, d = (max - min) / 31, q = (x - m) / d to the nearest; by search where elements have weights.
BW_FN void quantize(const float* x, const float* importance, Q5_1* out) {
  const Range range = range_of(x, 32);
  const float d = (range.high - range.low) / 31.0f;
  out->m = half_scale(range.low, range.finite);
  out->d = half_scale(d, range.finite && half_is_finite(out->m));
  const float inverse = inverse_scale(d, out->d);
  uint32_t qh = 0;
  WeightedBlock in;
  if (inverse != 0.0f && prepare_weighted(x, importance, &in)) {
    const HalfPair pair = weighted_pair<31>(in, {out->d, out->m});
    out->d = pair.d;
    out->m = pair.m;
    const float found = 1.0f / (f16_to_float(pair.d) * in.down), minimum = f16_to_float(pair.m) * in.down;
    for (int j = 0; j < 16; ++j) {
      const int32_t low = weighted_level(x[j] * in.down - minimum, found, 0.0f, 31.0f);
      const int32_t high = weighted_level(x[j + 16] * in.down - minimum, found, 0.0f, 31.0f);
      out->qs[j] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
      qh |= static_cast<uint32_t>(low >> 4) << j | static_cast<uint32_t>(high >> 4) << (j + 16);
    }
    write_u32(out->qh, qh);
    return;
  }
  for (int j = 0; j < 16; ++j) {
    int32_t low = inverse == 0.0f ? 0 : static_cast<int32_t>((x[j] - range.low) * inverse + 0.5f);
    int32_t high = inverse == 0.0f ? 0 : static_cast<int32_t>((x[j + 16] - range.low) * inverse + 0.5f);
    low = low < 31 ? low : 31;
    high = high < 31 ? high : 31;
    out->qs[j] = static_cast<uint8_t>((low & 15) | (high & 15) << 4);
    qh |= static_cast<uint32_t>(low >> 4) << j | static_cast<uint32_t>(high >> 4) << (j + 16);
  }
  write_u32(out->qh, qh);
}

}  // namespace beeswax::quant
