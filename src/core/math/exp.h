// SPDX-License-Identifier: Apache-2.0
// exp, exp2, expm1. All reduce x = k ln 2 + r with |r| <= ln(2)/2 and evaluate a polynomial in r.
#pragma once

#include "core/math/polynomials.h"

namespace beeswax::m {

template <Floating T>
BW_FN constexpr T ln2_high() {
  return pick<T>(0x1.62e43p-1f, 0x1.62e42fefa39efp-1);
}
template <Floating T>
BW_FN constexpr T ln2_low() {
  return pick<T>(-0x1.05c61p-29f, 0x1.abc9e3b39803fp-56);
}
template <Floating T>
BW_FN constexpr T log2e() {
  return pick<T>(0x1.715476p0f, 0x1.71547652b82fep0);
}

/// e^x = 2^k (1 + q), q between -0.30 and 0.42, for x within +-200 (float) or +-1500 (double).
template <Floating T, int Offset>
struct ExpParts {
  Rounded<T, Offset> k;
  T q;
};
template <int Offset, Floating T>
BW_FN ExpParts<T, Offset> exp_parts(T x) {
  const Rounded<T, Offset> k = round_product<Offset>(x, log2e<T>());
  const T exact = fma(k.value, -ln2_high<T>(), x);
  const T r = fma(k.value, -ln2_low<T>(), exact);
  // In float the correction of r is too small to matter inside the polynomial, which need not wait for it.
  return {k, fma(r * r, exp_tail(sizeof(T) == 4 ? exact : r), r)};
}
/// The same for e^(high + low), where `low` is below the last place of a number as large as `high` may be;
/// here the rounding error of r is carried along, too.
template <int Offset, Floating T>
BW_FN ExpParts<T, Offset> exp_parts(T high, T low) {
  const Rounded<T, Offset> k = round_product<Offset>(high, log2e<T>());
  const T exact = fma(k.value, -ln2_high<T>(), high);
  const T rest = fma(k.value, -ln2_low<T>(), low);
  const T r = exact + rest;
  const T error = rest - (r - exact);
  return {k, r + fma(r * r, exp_tail(r), error)};
}
/// e^(high + low) = 2^k p with p as a pair.
template <Floating T, int Offset>
struct ExpPair {
  Rounded<T, Offset> k;
  Pair<T> p;
};
template <int Offset, Floating T>
BW_FN ExpPair<T, Offset> exp_pair(T high, T low) {
  const Rounded<T, Offset> k = round_product<Offset>(high, log2e<T>());
  const T exact = fma(k.value, -ln2_high<T>(), high);
  const Pair<T> r = fast_two_sum(exact, fma(k.value, -ln2_low<T>(), low));
  const Pair<T> one = fast_two_sum(T(1), r.high);
  return {k, fast_two_sum(one.high, one.low + fma(r.high * r.high, exp_tail(r.high), r.low))};
}
/// The offset for scale_of.
template <Floating T>
constexpr int kWide = 2 * static_cast<int>(Fp<T>::kBias);

/// e^x.
template <Floating T>
BW_FN T exp(T x) {
  const auto e = exp_parts<kWide<T>>(x);
  const T inside = scale_one_plus(e.q, e.k);
  // Beyond these bounds nothing of the above holds. Choosing last keeps the comparisons off the critical
  // path.
  const T low = x < pick<T>(-104.0f, -746.0) ? T(0) : inside;
  return x > pick<T>(89.0f, 710.0) ? infinity<T>() : low;
}

/// 2^kScaledExp<T> e^x for kLeastScaledExp<T> <= x <= 0, never subnormal: the terms of a sum whose quotients
/// are rounded once. What lies below the least counts as that: its quotients round to 0.
template <Floating T>
constexpr int kScaledExp = sizeof(T) == 4 ? 64 : 128;
template <Floating T>
constexpr T kLeastScaledExp = pick<T>(-104.0f, -746.0);
template <Floating T>
BW_FN constexpr T scaled_exp_unit() {
  return pick<T>(0x1p64f, 0x1p128);
}
template <Floating T>
BW_FN T scaled_exp(T x) {
  const auto k = round_product<static_cast<int>(Fp<T>::kBias) + kScaledExp<T>>(x, log2e<T>());
  const T exact = fma(k.value, -ln2_high<T>(), x);
  const T r = fma(k.value, -ln2_low<T>(), exact);
  const T q = fma(r * r, exp_tail(r), r);
  const T power = from_bits<T>(static_cast<Bits<T>>(k.raw) << Fp<T>::kMantissa);
  return fma(power, q, power);
}

/// 2^x, exact at integers.
template <Floating T>
BW_FN T exp2(T x) {
  const auto k = round_product<kWide<T>>(x, T(1));
  const T f = x - k.value;  // exact
  const T r = f * ln2_high<T>();
  const T low = fma(f, ln2_low<T>(), fma(f, ln2_high<T>(), -r));
  const T q = r + fma(r * r, exp_tail(r), low);
  const T inside = scale_one_plus(q, k);
  const T below = x < pick<T>(-151.0f, -1076.0) ? T(0) : inside;
  return x > pick<T>(129.0f, 1025.0) ? infinity<T>() : below;
}

/// e^x - 1, accurate near 0.
template <Floating T>
BW_FN T expm1(T x) {
  const T held = clamp(x, pick<T>(-18.0f, -38.0), pick<T>(89.0f, 710.0));
  const auto k = round_product<0>(held, log2e<T>());
  const T high = fma(k.value, -ln2_high<T>(), held);  // exact
  const T r = fma(k.value, -ln2_low<T>(), high);
  const T low = fma(k.value, -ln2_low<T>(), high - r);
  const T tail = fma(r * r, exp_tail(r), low);
  // 2^k (1 + r + tail) - 1, at half its size so that 2^k does not overflow.
  const T half = pow2(k.value - T(1));
  const T less = half - T(0.5);
  const T sum = fma(half, r, less);
  const T error = fma(half, r, less - sum) + ((half - less) - T(0.5));
  const T result = T(2) * (sum + fma(half, tail, error));
  // Far below 1 the result is x, and halves of subnormal numbers would not be exact.
  return abs(x) < pick<T>(0x1p-26f, 0x1p-55) ? x : copysign(result, x);
}

}  // namespace beeswax::m
