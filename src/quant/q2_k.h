// SPDX-License-Identifier: Apache-2.0
// Q2_K: 256 levels of 2 bits in 16 groups of 16, each group with a 4-bit scale and a 4-bit minimum;
// value = d sc q - dmin m. In each half of 128, two-bit field j of byte l is element 32 j + l.
#pragma once

#include "quant/search_affine.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q2_K {
  static constexpr int kElements = 256;
  static constexpr bool kHasMin = true;
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
};

BW_FN float block_scale(const Q2_K& block) { return f16_to_float(block.d); }
BW_FN float block_min(const Q2_K& block) { return f16_to_float(block.dmin); }
BW_FN int group_scale(const Q2_K& block, int group) { return block.scales[group] & 15; }
BW_FN int group_min(const Q2_K& block, int group) { return block.scales[group] >> 4; }
BW_FN int level(const Q2_K& block, int i) {
  return (block.qs[(i >> 7) * 32 + (i & 31)] >> 2 * ((i >> 5) & 3)) & 3;
}

BW_FN void dequantize(const Q2_K& block, float* out) {
  const float d = f16_to_float(block.d), dmin = f16_to_float(block.dmin);
  for (int group = 0; group < 16; ++group) {
    const float step = d * static_cast<float>(block.scales[group] & 15);
    const float minimum = dmin * static_cast<float>(block.scales[group] >> 4);
    const uint8_t* qs = block.qs + (group >> 3) * 32 + (group & 1) * 16;
    const int shift = 2 * ((group >> 1) & 3);
    for (int l = 0; l < 16; ++l)
      out[group * 16 + l] = step * static_cast<float>((qs[l] >> shift) & 3) - minimum;
  }
}

BW_FN void pack(const AffineBlock<16>& found, Q2_K* out) {
  out->d = found.d;
  out->dmin = found.dmin;
  for (int g = 0; g < 16; ++g) out->scales[g] = static_cast<uint8_t>(found.sc[g] | found.m[g] << 4);
  for (int half = 0; half < 2; ++half) {
    for (int l = 0; l < 32; ++l) {
      const uint8_t* q = found.q + half * 128 + l;
      out->qs[half * 32 + l] = static_cast<uint8_t>(q[0] | q[32] << 2 | q[64] << 4 | q[96] << 6);
    }
  }
}

BW_FN void quantize(const float* x, const float* importance, Q2_K* out) {
  AffineBlock<16> found;
  quantize_affine<16, 3, 15>(x, importance, &found);
  pack(found, out);
}

}  // namespace beeswax::quant
