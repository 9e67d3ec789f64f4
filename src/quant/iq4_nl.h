// SPDX-License-Identifier: Apache-2.0
// IQ4_NL: 32 levels of 4 bits that name one of sixteen signed bytes, and a half scale; value = d byte.
// llama.cpp writes it in place of Q2_K and Q3_K where rows are no multiple of 256. Q8_0 holds the same values
// exactly, and such weights are read as that. Byte j holds element j in its low half and element j + 16 in
// its high half.
#pragma once

#include "quant/q8_0.h"

namespace beeswax::quant {

struct [[gnu::packed]] IQ4_NL {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(IQ4_NL) == 18);

/// The same values, bit for bit.
BW_FN Q8_0 widen(const IQ4_NL& block) {
  constexpr int8_t kBytes[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  Q8_0 out;
  out.d = block.d;
  for (int j = 0; j < 16; ++j) {
    out.qs[j] = kBytes[block.qs[j] & 15];
    out.qs[j + 16] = kBytes[block.qs[j] >> 4];
  }
  return out;
}

}  // namespace beeswax::quant
