// SPDX-License-Identifier: Apache-2.0
// What the block formats share: finding a block's extremes, rounding, and what becomes of input that a format
// cannot hold. Everything here works on bits or in one fixed order, so every device gets the same block.
//
// One rule for bad input: a block that holds a NaN or an infinity, or whose scale does not fit its field,
// becomes NaN throughout (its scale is a NaN). A block whose scale rounds to zero becomes zeros.
#pragma once

#include "beeswax/half.h"

namespace beeswax::quant {

inline constexpr uint16_t kHalfNan = 0x7e00;
inline constexpr int32_t kInfinityBits = 0x7f800000;

BW_FN bool half_is_finite(uint16_t half) { return (half & 0x7c00u) != 0x7c00u; }
BW_FN bool half_is_zero(uint16_t half) { return (half & 0x7fffu) == 0; }

/// Bits of |x|. They order like the values, with NaN above infinity.
BW_FN int32_t abs_bits(float x) { return bit_cast<int32_t>(x) & 0x7fffffff; }

/// Largest abs_bits of n values.
BW_FN int32_t max_abs_bits(const float* x, int n) {
  int32_t best = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t bits = abs_bits(x[i]);
    best = bits > best ? bits : best;
  }
  return best;
}

/// The first value whose magnitude has these bits, which is there, with its sign.
BW_FN float first_with_abs_bits(const float* x, int n, int32_t bits) {
  const int32_t negative = bits | static_cast<int32_t>(0x80000000u);
  int32_t positives = 0, negatives = 0;
  for (int i = 0; i < n; ++i) {
    positives |= bit_cast<int32_t>(x[i]) == bits;
    negatives |= bit_cast<int32_t>(x[i]) == negative;
  }
  if (negatives == 0) return bit_cast<float>(bits);
  if (positives == 0) return bit_cast<float>(negative);
  int at = 0;
  for (int i = n - 1; i >= 0; --i) at = abs_bits(x[i]) == bits ? i : at;
  return x[at];
}

/// A number that orders like x (for x not NaN; -0 comes before +0), and its inverse.
BW_FN int32_t order_key(float x) {
  const int32_t bits = bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
BW_FN float from_order_key(int32_t key) { return bit_cast<float>(key ^ ((key >> 31) & 0x7fffffff)); }

/// Nearest integer, ties away from zero, for |x| < 2^22. Adding the float just below a half and cutting gives
/// exactly that: a plain half would push 0.49999997 up to 1.
BW_FN int32_t round_away(float x) {
  const uint32_t half = 0x3effffffu | (bit_cast<uint32_t>(x) & 0x80000000u);
  return static_cast<int32_t>(x + bit_cast<float>(half));
}

BW_FN int32_t clamp_int(int32_t value, int32_t low, int32_t high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

BW_FN uint32_t read_u32(const uint8_t* bytes) {
  return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 | static_cast<uint32_t>(bytes[2]) << 16 |
         static_cast<uint32_t>(bytes[3]) << 24;
}
BW_FN void write_u32(uint8_t* bytes, uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

/// Half scale of a block: NaN where the block cannot be held, +0 where it rounds to zero.
BW_FN uint16_t half_scale(float scale, bool usable) {
  const uint16_t half = f16_from_float(scale);
  if (!usable || !half_is_finite(half)) return kHalfNan;
  return half_is_zero(half) ? uint16_t{0} : half;
}

/// 1 / scale where the stored half scale is a number other than zero, else 0.
BW_FN float inverse_scale(float scale, uint16_t half) {
  return half_is_zero(half) || !half_is_finite(half) ? 0.0f : 1.0f / scale;
}

/// Least and largest of n values.
struct Range {
  float low, high;
  bool finite;
};
BW_FN Range range_of(const float* x, int n) {
  int32_t low = order_key(x[0]), high = low;
  for (int i = 1; i < n; ++i) {
    const int32_t key = order_key(x[i]);
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  // A NaN's key lies beyond the infinity's on its side.
  const bool finite = low > -kInfinityBits - 1 && high < kInfinityBits;
  return {from_order_key(low), from_order_key(high), finite};
}

}  // namespace beeswax::quant
