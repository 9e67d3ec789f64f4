// SPDX-License-Identifier: Apache-2.0
// Q3_K: 256 levels of 3 bits in 16 groups of 16 with 6-bit scales; value = d (sc - 32) (q - 4). The low two
// bits lie as in Q2_K; bit 4 n + j of hmask[l] is the third bit of element 128 n + 32 j + l. The low four
// bits of scale g are nibble g / 8 of byte g % 8, its high two bits are field g / 4 of byte 8 + g % 4.
#pragma once

#include "quant/search_symmetric.h"

namespace beeswax::quant {

struct [[gnu::packed]] Q3_K {
  static constexpr int kElements = 256;
  static constexpr bool kHasMin = false;
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
};

BW_FN float block_scale(const Q3_K& block) { return f16_to_float(block.d); }
BW_FN int group_scale(const Q3_K& block, int group) {
  const int low = (block.scales[group & 7] >> (group >> 3) * 4) & 15;
  const int high = (block.scales[8 + (group & 3)] >> (group >> 2) * 2) & 3;
  return (low | high << 4) - 32;
}
BW_FN int level(const Q3_K& block, int i) {
  const int low = (block.qs[(i >> 7) * 32 + (i & 31)] >> 2 * ((i >> 5) & 3)) & 3;
  const int high = (block.hmask[i & 31] >> (i >> 5)) & 1;
  return (low | high << 2) - 4;
}

BW_FN void dequantize(const Q3_K& block, float* out) {
  const float d = f16_to_float(block.d);
  for (int group = 0; group < 16; ++group) {
    const float step = d * static_cast<float>(group_scale(block, group));
    const uint8_t* qs = block.qs + (group >> 3) * 32 + (group & 1) * 16;
    const uint8_t* hmask = block.hmask + (group & 1) * 16;
    const int shift = 2 * ((group >> 1) & 3), bit = group >> 1;
    for (int l = 0; l < 16; ++l) {
      const int q = ((qs[l] >> shift) & 3) | ((hmask[l] >> bit) & 1) << 2;
      out[group * 16 + l] = step * static_cast<float>(q - 4);
    }
  }
}

BW_FN void pack(const SymmetricBlock& found, Q3_K* out) {
  out->d = found.d;
  for (int i = 0; i < 12; ++i) out->scales[i] = 0;
  for (int g = 0; g < 16; ++g) {
    const int sc = found.sc[g] + 32;
    out->scales[g & 7] = static_cast<uint8_t>(out->scales[g & 7] | (sc & 15) << (g >> 3) * 4);
    out->scales[8 + (g & 3)] = static_cast<uint8_t>(out->scales[8 + (g & 3)] | (sc >> 4) << (g >> 2) * 2);
  }
  for (int l = 0; l < 32; ++l) {
    int high = 0;
    for (int part = 0; part < 8; ++part) high |= (found.q[part * 32 + l] + 4) >> 2 << part;
    out->hmask[l] = static_cast<uint8_t>(high);
    for (int half = 0; half < 2; ++half) {
      int low = 0;
      for (int j = 0; j < 4; ++j) low |= ((found.q[half * 128 + j * 32 + l] + 4) & 3) << 2 * j;
      out->qs[half * 32 + l] = static_cast<uint8_t>(low);
    }
  }
}

BW_FN void quantize(const float* x, const float* importance, Q3_K* out) {
  SymmetricBlock found;
  quantize_symmetric<4, 32>(x, importance, &found);
  pack(found, out);
}

}  // namespace beeswax::quant
