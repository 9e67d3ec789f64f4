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

/// e^(high + low) = 2^k (1 + q), with q between -0.30 and 0.42. `high` is within +-200 (float) or +-1500.
template <Floating T>
struct ExpParts {
  Rounded<T> k;
  T q;
};
template <Floating T>
BW_FN ExpParts<T> exp_parts(T x) {
  const Rounded<T> k = round_product(x, log2e<T>());
  T r = fma(k.value, -ln2_high<T>(), x);  // exact
  r = fma(k.value, -ln2_low<T>(), r);
  return {k, fma(r * r, exp_tail(r), r)};
}
template <Floating T>
BW_FN ExpParts<T> exp_parts(T high, T low) {
  const Rounded<T> k = round_product(high, log2e<T>());
  T r = fma(k.value, -ln2_high<T>(), high);  // exact
  r += fma(k.value, -ln2_low<T>(), low);
  return {k, fma(r * r, exp_tail(r), r)};
}

/// Beyond these bounds e^x is 0 or infinite.
template <Floating T>
BW_FN T exp_clamp(T x) {
  return clamp(x, pick<T>(-104.0f, -746.0), pick<T>(89.0f, 710.0));
}

/// e^x.
template <Floating T>
BW_FN T exp(T x) {
  const ExpParts<T> e = exp_parts(exp_clamp(x));
  return scale(T(1) + e.q, e.k);
}

/// 2^x, exact at integers.
template <Floating T>
BW_FN T exp2(T x) {
  const T held = clamp(x, pick<T>(-151.0f, -1076.0), pick<T>(129.0f, 1025.0));
  const Rounded<T> k = round_product(held, T(1));
  const T f = held - k.value;  // exact
  const T r = f * ln2_high<T>();
  const T low = fma(f, ln2_low<T>(), fma(f, ln2_high<T>(), -r));
  const T q = r + fma(r * r, exp_tail(r), low);
  return scale(T(1) + q, k);
}

/// e^x - 1, accurate near 0.
template <Floating T>
BW_FN T expm1(T x) {
  const T held = clamp(x, pick<T>(-18.0f, -38.0), pick<T>(89.0f, 710.0));
  const Rounded<T> k = round_product(held, log2e<T>());
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
  return copysign(result, x);
}

}  // namespace beeswax::m
