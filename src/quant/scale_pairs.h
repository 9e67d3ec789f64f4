// SPDX-License-Identifier: Apache-2.0
// The twelve bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit minima: bytes 0-3 hold
// scales 0-3 and bytes 4-7 minima 0-3 in their low six bits; bytes 8-11 hold the low four bits of scales 4-7
// and, above them, of minima 4-7, whose high two bits sit on top of bytes 0-3 and 4-7.
#pragma once

#include "beeswax/portable.h"

namespace beeswax::quant {

BW_FN int pair_scale(const uint8_t* bytes, int j) {
  return j < 4 ? bytes[j] & 63 : (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
}

BW_FN int pair_min(const uint8_t* bytes, int j) {
  return j < 4 ? bytes[j + 4] & 63 : bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
}

BW_FN void pack_pairs(const uint8_t* scales, const uint8_t* minima, uint8_t* bytes) {
  for (int j = 0; j < 4; ++j) {
    bytes[j] = static_cast<uint8_t>(scales[j] | scales[j + 4] >> 4 << 6);
    bytes[j + 4] = static_cast<uint8_t>(minima[j] | minima[j + 4] >> 4 << 6);
    bytes[j + 8] = static_cast<uint8_t>((scales[j + 4] & 15) | (minima[j + 4] & 15) << 4);
  }
}

}  // namespace beeswax::quant
