// SPDX-License-Identifier: Apache-2.0
// Functions of one lane on floats and doubles that several groups share.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

template <class T>
struct RealTraits;
template <>
struct RealTraits<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127, kMaxExponent = 255;
};
template <>
struct RealTraits<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023, kMaxExponent = 2047;
};
template <class T>
using BitsOf = typename RealTraits<T>::Bits;

template <class T>
EMU_FN BitsOf<T> bits(T x) {
  return std::bit_cast<BitsOf<T>>(x);
}
template <class T>
inline constexpr BitsOf<T> kSignBit = BitsOf<T>(1) << (8 * sizeof(T) - 1);
template <class T>
inline constexpr BitsOf<T> kQuietBit = BitsOf<T>(1) << (RealTraits<T>::kMantissa - 1);
template <class T>
EMU_FN T from_bits(BitsOf<T> b) {
  return std::bit_cast<T>(b);
}
template <class T>
EMU_FN bool is_nan(T x) {
  return !(x == x);
}
template <class T>
EMU_FN T quiet(T x) {
  return from_bits<T>(bits(x) | kQuietBit<T>);
}
template <class T>
EMU_FN bool is_signaling(T x) {
  return is_nan(x) & ((bits(x) & kQuietBit<T>) == 0);
}
template <class T>
EMU_FN T absolute(T x) {
  return from_bits<T>(bits(x) & ~kSignBit<T>);
}
template <class T>
EMU_FN bool negative(T x) {
  return (bits(x) & kSignBit<T>) != 0;
}
template <class T>
EMU_FN int exponent(T x) {
  return int(bits(x) >> RealTraits<T>::kMantissa) & RealTraits<T>::kMaxExponent;
}
template <class T>
EMU_FN bool is_denormal(T x) {
  return exponent(x) == 0 && (bits(x) << 1) != 0;
}
template <class T>
inline constexpr T kInfinity =
    std::bit_cast<T>(BitsOf<T>(RealTraits<T>::kMaxExponent) << RealTraits<T>::kMantissa);
template <class T>
EMU_FN T make_nan() {
  return from_bits<T>(bits(kInfinity<T>) | kQuietBit<T>);
}

EMU_FN float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EMU_FN double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
// (Without an instruction for it compilers subtract, which makes 0 a -0 where the host rounds down.)
EMU_FN float floor_of(float x) {
  const float r = __builtin_floorf(x);
  return r == 0 ? __builtin_copysignf(r, x) : r;
}
EMU_FN double floor_of(double x) {
  const double r = __builtin_floor(x);
  return r == 0 ? __builtin_copysign(r, x) : r;
}

/// A zero of its sign for what the host's denormal mode (FpScope sets it) takes for one.
template <class T>
EMU_FN T flushed(T x) {
  return from_bits<T>(x == 0 ? bits(x) & kSignBit<T> : bits(x));
}
// v_min and v_max: a NaN gives way to a number, -0 < +0; with the IEEE bit a signaling NaN comes back quiet.
template <class T>
EMU_FN T smaller(T a, T b, Mode mode) {
  a = flushed(a);
  b = flushed(b);
  T r = a < b ? a : a == b ? from_bits<T>(bits(a) | bits(b)) : b;
  r = is_nan(a) ? b : r;
  r = is_nan(b) & !(mode.second_nan & is_nan(a)) ? a : r;
  r = mode.ieee & is_signaling(b) ? quiet(b) : r;
  return mode.ieee & is_signaling(a) ? quiet(a) : r;
}
template <class T>
EMU_FN T larger(T a, T b, Mode mode) {
  a = flushed(a);
  b = flushed(b);
  T r = a > b ? a : a == b ? from_bits<T>(bits(a) & bits(b)) : b;
  r = is_nan(a) ? b : r;
  r = is_nan(b) & !(mode.second_nan & is_nan(a)) ? a : r;
  r = mode.ieee & is_signaling(b) ? quiet(b) : r;
  return mode.ieee & is_signaling(a) ? quiet(a) : r;
}
// v_min_num and v_max_num (gfx12): a number wins over any NaN, a NaN comes back quiet, MODE has no say.
template <class T>
EMU_FN T smaller_number(T a, T b) {
  const T r = smaller(a, b, Mode{});
  return is_nan(r) ? quiet(r) : r;
}
template <class T>
EMU_FN T larger_number(T a, T b) {
  const T r = larger(a, b, Mode{});
  return is_nan(r) ? quiet(r) : r;
}
// v_minimum and v_maximum (gfx12): a NaN wins, a signaling one first; -0 < +0.
template <class T>
EMU_FN T minimum(T a, T b) {
  a = flushed(a);
  b = flushed(b);
  T r = a < b ? a : a == b ? from_bits<T>(bits(a) | bits(b)) : b;
  r = is_nan(b) ? quiet(b) : r;
  return is_nan(a) & !(is_signaling(b) & !is_signaling(a)) ? quiet(a) : r;
}
template <class T>
EMU_FN T maximum(T a, T b) {
  a = flushed(a);
  b = flushed(b);
  T r = a > b ? a : a == b ? from_bits<T>(bits(a) & bits(b)) : b;
  r = is_nan(b) ? quiet(b) : r;
  return is_nan(a) & !(is_signaling(b) & !is_signaling(a)) ? quiet(a) : r;
}
template <class T>
EMU_FN T middle(T a, T b, T c, Mode mode) {
  const T lowest = smaller(smaller(a, b, mode), c, mode), highest = larger(larger(a, b, mode), c, mode);
  const T rest = highest == a ? larger(b, c, mode) : highest == b ? larger(a, c, mode) : larger(a, b, mode);
  return is_nan(a) | is_nan(b) | is_nan(c) ? lowest : rest;
}
template <class T>
EMU_FN T middle_number(T a, T b, T c) {
  const T r = middle(a, b, c, Mode{});
  return is_nan(r) ? quiet(r) : r;
}

/// Round to odd of the exact a + b: what a later rounding to fewer bits needs to be right.
EMU_FN double add_odd(double a, double b) {
  const double s = a + b, bb = s - a, e = (a - (s - bb)) + (b - bb);
  const uint64_t sb = bits(s);
  // An inexact even sum moves one unit towards the error.
  const bool towards_zero = negative(e) != negative(s);
  const double odd = from_bits<double>(towards_zero ? sb - 1 : sb + 1);
  return (e != 0) & ((sb & 1) == 0) ? odd : s;
}
/// a * b + c of floats (as doubles, so that the product is exact), rounded to odd.
EMU_FN double fused_odd(float a, float b, float c) { return add_odd(double(a) * double(b), double(c)); }
/// A float that rounds to the same half as the double does: rounding to odd at 24 bits. The double must be
/// zero or not below the normal floats, as sums of products of halves are.
EMU_FN float odd_float(double x) {
  const uint64_t b = bits(x), sticky = (b & 0x1fffffff) != 0 ? 0x20000000 : 0;
  return float(from_bits<double>((b & ~uint64_t(0x1fffffff)) | sticky));
}
// The product is exact. The sum is exact too, or one part is so much smaller that rounding to 53 bits cannot
// bring the sum onto or over a tie of halves.
EMU_FN Half fused_half(Half a, Half b, Half c) {
  return {odd_float(double(a.f) * double(b.f) + double(c.f))};
}

/// x * 2^n with one rounding.
EMU_FN double scale(double x, int n) {
  // Two exact steps and one that may round.
  const int k = n > 3000 ? 3000 : n < -3000 ? -3000 : n;
  const auto power = [](int e) { return from_bits<double>(uint64_t(e + 1023) << 52); };
  if (k >= 0) {
    double y = x;
    int left = k;
    for (int i = 0; i < 3; ++i) {
      const int step = left > 1023 ? 1023 : left;
      y *= power(step);
      left -= step;
    }
    return y;
  }
  // Downwards: through a normal number whose exponent is known, so that only the last product rounds.
  if (x == 0 || is_nan(x) || absolute(x) == kInfinity<double>) return x;
  double y = x;
  int have = k;
  if (exponent(y) == 0) {
    y *= power(64);
    have -= 64;
  }
  const int e = exponent(y) - 1023 + have;  // of the result
  if (e >= -1022) return from_bits<double>((bits(y) & 0x800fffffffffffff) | uint64_t(e + 1023) << 52);
  if (e < -1080)
    return from_bits<double>((bits(y) & kSignBit<double>)) * 0.5 +
           from_bits<double>((bits(y) & kSignBit<double>) | 1) * 0.25;
  const double m = from_bits<double>((bits(y) & 0x800fffffffffffff) | uint64_t(1023 - 900) << 52);  // 2^-900
  return m * power(e + 900 >= -1022 ? e + 900 : -1022);
}
EMU_FN float scale(float x, int n) {
  const int k = n > 400 ? 400 : n < -400 ? -400 : n;
  return float(double(x) * from_bits<double>(uint64_t(k + 1023) << 52));
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
