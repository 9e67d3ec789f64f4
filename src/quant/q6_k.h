// SPDX-License-Identifier: Apache-2.0
// Q6_K: 256 levels of 6 bits in 16 groups of 16 with signed 8-bit scales; value = d sc (q - 32). In each half
// of 128: the low four bits of element 32 j + l are nibble j / 2 of ql[32 (j % 2) + l], the high two are
// field j of qh[l].
#pragma once

#include "quant/search_symmetric.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q6_K {
  static constexpr int kElements = 256;
  static constexpr bool kHasMin = false;
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};

BW_FN float block_scale(const Q6_K& block) { return f16_to_float(block.d); }
BW_FN int group_scale(const Q6_K& block, int group) { return block.scales[group]; }
BW_FN int level(const Q6_K& block, int i) {
  const int half = i >> 7, j = (i >> 5) & 3, l = i & 31;
  const int low = (block.ql[half * 64 + (j & 1) * 32 + l] >> (j >> 1) * 4) & 15;
  const int high = (block.qh[half * 32 + l] >> j * 2) & 3;
  return (low | high << 4) - 32;
}

BW_FN void dequantize(const Q6_K& block, float* out) {
  const float d = f16_to_float(block.d);
  for (int group = 0; group < 16; ++group) {
    const float step = d * static_cast<float>(block.scales[group]);
    const int half = group >> 3, j = (group >> 1) & 3, l0 = (group & 1) * 16;
    const uint8_t* ql = block.ql + half * 64 + (j & 1) * 32 + l0;
    const uint8_t* qh = block.qh + half * 32 + l0;
    for (int l = 0; l < 16; ++l) {
      const int q = ((ql[l] >> (j >> 1) * 4) & 15) | ((qh[l] >> j * 2) & 3) << 4;
      out[group * 16 + l] = step * static_cast<float>(q - 32);
    }
  }
}

BW_FN void pack(const SymmetricBlock& found, Q6_K* out) {
  out->d = found.d;
  for (int g = 0; g < 16; ++g) out->scales[g] = found.sc[g];
  for (int half = 0; half < 2; ++half) {
    for (int l = 0; l < 32; ++l) {
      int q[4];
      for (int j = 0; j < 4; ++j) q[j] = found.q[half * 128 + j * 32 + l] + 32;
      out->ql[half * 64 + l] = static_cast<uint8_t>((q[0] & 15) | (q[2] & 15) << 4);
      out->ql[half * 64 + 32 + l] = static_cast<uint8_t>((q[1] & 15) | (q[3] & 15) << 4);
      out->qh[half * 32 + l] =
          static_cast<uint8_t>(q[0] >> 4 | q[1] >> 4 << 2 | q[2] >> 4 << 4 | q[3] >> 4 << 6);
    }
  }
}

BW_FN void quantize(const float* x, const float* importance, Q6_K* out) {
  SymmetricBlock found;
  quantize_symmetric<32, 128>(x, importance, &found);
  pack(found, out);
}

}  // namespace beeswax::quant
