// SPDX-License-Identifier: Apache-2.0
// sin, cos, tan. The *_small forms are for arguments for which is_small_angle holds: they give the same bits
// and leave out the costly half of the reduction. A loop that has looked at its block may use them.
#pragma once

#include "core/math/trig_reduce.h"

namespace beeswax::m {

/// Whether sin_small and the like may be called.
template <Floating T>
BW_FN bool is_small_angle(T x) {
  return abs(x) <= reduce_limit<T>();
}

/// sin(r + low) and cos(r + low), the latter as a main part and the rest.
template <Floating T>
struct SinCos {
  T sine_rest;  // sin - r
  Pair<T> cosine;
};
template <Floating T>
BW_FN SinCos<T> sin_cos(const Reduced<T>& a) {
  const T square = a.r * a.r;
  const T half = T(0.5) * square;
  const T main = T(1) - half;
  const T error = (T(1) - main) - half;
  return {fma(square * a.r, sin_tail(square), a.low),
          {main, fma(square * square, cos_tail(square), fma(-a.r, a.low, error))}};
}

/// Quadrants 2 and 3 turn the sign.
template <Floating T>
BW_FN T turn_sign(T value, Bits<T> quadrant) {
  return from_bits<T>(bits(value) ^ ((quadrant & 2) << (8 * static_cast<int>(sizeof(T)) - 2)));
}

template <Floating T>
BW_FN T sin_of(const Reduced<T>& a, const SinCos<T>& v) {
  const bool odd = (a.quadrant & 1) != 0;
  return turn_sign((odd ? v.cosine.high : a.r) + (odd ? v.cosine.low : v.sine_rest), a.quadrant);
}
template <Floating T>
BW_FN T cos_of(const Reduced<T>& a, const SinCos<T>& v) {
  const bool odd = (a.quadrant & 1) != 0;
  return turn_sign((odd ? a.r : v.cosine.high) + (odd ? v.sine_rest : v.cosine.low), a.quadrant + 1);
}
template <Floating T>
BW_FN T tan_of(const Reduced<T>& a, const SinCos<T>& v) {
  // The quotient of two pairs, its rounding error taken from the remainder.
  const bool odd = (a.quadrant & 1) != 0;
  const Pair<T> sine = fast_two_sum(a.r, v.sine_rest);
  const Pair<T> cosine = fast_two_sum(v.cosine.high, v.cosine.low);
  const T n = odd ? -cosine.high : sine.high, n_low = odd ? -cosine.low : sine.low;
  const T d = odd ? sine.high : cosine.high, d_low = odd ? sine.low : cosine.low;
  const T inverse = T(1) / d;
  const T quotient = n * inverse;
  const T rest = fma(-quotient, d_low, fma(-quotient, d, n) + n_low);
  return fma(rest, inverse, quotient);
}

/// Sine of x radians. sin(-0) is -0.
template <Floating T>
BW_FN T sin_small(T x) {
  const Reduced<T> a = reduce_small(x);
  const T value = sin_of(a, sin_cos(a));
  return x == T(0) ? x : value;
}
template <Floating T>
BW_FN T sin(T x) {
  const Reduced<T> a = reduce(x);
  const T value = sin_of(a, sin_cos(a));
  return x == T(0) ? x : value;
}

/// Cosine of x radians.
template <Floating T>
BW_FN T cos_small(T x) {
  const Reduced<T> a = reduce_small(x);
  return cos_of(a, sin_cos(a));
}
template <Floating T>
BW_FN T cos(T x) {
  const Reduced<T> a = reduce(x);
  return cos_of(a, sin_cos(a));
}

/// Sine and cosine of 2 pi `turn` for a turn in [0, 1], whose quadrant and rest are exact. The errors are
/// below 2^-23 (f64: 2^-52).
template <Floating T>
BW_FN void sincos_turn(T turn, T* sine, T* cosine) {
  const auto quarter = round_product<0>(turn, T(4));
  const T r = fma(quarter.value, T(-0.25), turn) * pick<T>(0x1.921fb6p2f, 0x1.921fb54442d18p2);
  const T square = r * r;
  const T s = fma(square * r, sin_tail(square), r);
  const T c = fma(square * square, cos_tail(square), fma(square, T(-0.5), T(1)));
  const bool odd = (quarter.raw & 1) != 0;
  *sine = turn_sign(odd ? c : s, quarter.raw);
  *cosine = turn_sign(odd ? s : c, quarter.raw + 1);
}

/// Tangent of x radians.
template <Floating T>
BW_FN T tan_small(T x) {
  const Reduced<T> a = reduce_small(x);
  const T value = tan_of(a, sin_cos(a));
  return x == T(0) ? x : value;
}
template <Floating T>
BW_FN T tan(T x) {
  const Reduced<T> a = reduce(x);
  const T value = tan_of(a, sin_cos(a));
  return x == T(0) ? x : value;
}

}  // namespace beeswax::m

/// core/math for loops over small angles only: `namespace m = small_angles;` gives an expression the short
/// forms.
namespace beeswax::small_angles {
using namespace m;  // NOLINT(google-build-using-namespace)
template <Floating T>
BW_FN T sin(T x) {
  return sin_small(x);
}
template <Floating T>
BW_FN T cos(T x) {
  return cos_small(x);
}
template <Floating T>
BW_FN T tan(T x) {
  return tan_small(x);
}
}  // namespace beeswax::small_angles
