// SPDX-License-Identifier: Apache-2.0
// Q5_K: 256 levels of 5 bits in 8 groups of 32, each group with a 6-bit scale and a 6-bit minimum;
// value = d sc q - dmin m. The low four bits lie as in Q4_K; bit j of qh[l] is the fifth bit of element 32 j
// + l.
#pragma once

#include "quant/scale_pairs.h"
#include "quant/search_affine.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q5_K {
  static constexpr int kElements = 256;
  static constexpr bool kHasMin = true;
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};

BW_FN float block_scale(const Q5_K& block) { return f16_to_float(block.d); }
BW_FN float block_min(const Q5_K& block) { return f16_to_float(block.dmin); }
BW_FN int group_scale(const Q5_K& block, int group) { return pair_scale(block.scales, group >> 1); }
BW_FN int group_min(const Q5_K& block, int group) { return pair_min(block.scales, group >> 1); }
BW_FN int level(const Q5_K& block, int i) {
  return ((block.qs[(i >> 6) * 32 + (i & 31)] >> ((i >> 5) & 1) * 4) & 15) |
         ((block.qh[i & 31] >> (i >> 5)) & 1) << 4;
}

BW_FN void dequantize(const Q5_K& block, float* out) {
  const float d = f16_to_float(block.d), dmin = f16_to_float(block.dmin);
  for (int j = 0; j < 8; ++j) {
    const float step = d * static_cast<float>(pair_scale(block.scales, j));
    const float minimum = dmin * static_cast<float>(pair_min(block.scales, j));
    const uint8_t* qs = block.qs + (j >> 1) * 32;
    const int shift = (j & 1) * 4;
    for (int l = 0; l < 32; ++l) {
      const int q = ((qs[l] >> shift) & 15) | ((block.qh[l] >> j) & 1) << 4;
      out[j * 32 + l] = step * static_cast<float>(q) - minimum;
    }
  }
}

BW_FN void pack(const AffineBlock<32>& found, Q5_K* out) {
  out->d = found.d;
  out->dmin = found.dmin;
  pack_pairs(found.sc, found.m, out->scales);
  for (int l = 0; l < 32; ++l) {
    int high = 0;
    for (int j = 0; j < 8; ++j) high |= found.q[j * 32 + l] >> 4 << j;
    out->qh[l] = static_cast<uint8_t>(high);
    for (int i = 0; i < 4; ++i) {
      const int low = (found.q[i * 64 + l] & 15) | (found.q[i * 64 + 32 + l] & 15) << 4;
      out->qs[i * 32 + l] = static_cast<uint8_t>(low);
    }
  }
}

BW_FN void quantize(const float* x, const float* importance, Q5_K* out) {
  AffineBlock<32> found;
  quantize_affine<32, 31, 63>(x, importance, &found);
  pack(found, out);
}

}  // namespace beeswax::quant
