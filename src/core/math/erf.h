// SPDX-License-Identifier: Apache-2.0
// erf, erfc, normal_cdf. One core gives the upper tail e^(-t^2) erfcx(t) for t >= 0, with
// erfcx(t) = (1 + g(u)) / (t + 2), u = (2 - t) / (2 + t), g a polynomial.
#pragma once

#include "core/math/exp.h"

namespace beeswax::m {

/// 2^k m.
template <Floating T>
struct Scaled {
  T m;
  Rounded<T> k;
};
/// factor e^-(high + low) erfcx(t.high + t.low).
template <Floating T>
BW_FN Scaled<T> erfc_core(T factor, Pair<T> t, T high, T low) {
  // w + w_low = 1 / (t + 2).
  const Pair<T> d = two_sum(t.high, T(2));
  const T w = T(1) / d.high;
  const T w_low = w * fma(-w, d.low + t.low, fma(-w, d.high, T(1)));
  const T g = erfcx_tail(fma(T(4), w, T(-1)) + T(4) * w_low);
  const ExpParts<T> e = exp_parts(-high, -low);
  // 1 + q and the factor times w as pairs: two roundings remain.
  const Pair<T> p = fast_two_sum(T(1), e.q);
  const Pair<T> f = two_product(factor, w);
  const T product = fma(p.high, g, p.high);
  const T rest = fma(product, fma(factor, w_low, f.low), fma(p.low, g, p.low) * f.high);
  return {fma(product, f.high, rest), e.k};
}

/// erfc(t) for t >= 0.
template <Floating T>
BW_FN Scaled<T> erfc_tail(T t) {
  const T held = at_most(t, pick<T>(11.0f, 28.0));
  const Pair<T> square = two_product(held, held);
  return erfc_core(T(1), Pair<T>{held, T(0)}, square.high, square.low);
}

template <Floating T>
BW_FN T erf(T x) {
  const T a = abs(x);
  const T small = fma(a, erf_tail(a * a), a);
  const Scaled<T> tail = erfc_tail(at_most(a, T(6)));
  const T large = T(1) - scale_normal(tail.m, tail.k);
  return copysign(a < T(1) ? small : large, x);
}

/// 1 - erf(x), accurate where it is small.
template <Floating T>
BW_FN T erfc(T x) {
  const Scaled<T> tail = erfc_tail(abs(x));
  const T upper = scale(tail.m, tail.k);
  return x < T(0) ? T(2) - upper : upper;
}

/// factor times the probability that a standard normal variable is above a, for a >= 0.
template <Floating T>
BW_FN T normal_tail(T factor, T a) {
  const T held = at_most(a, pick<T>(15.5f, 39.5));
  const Pair<T> square = two_product(held, held);
  const T root = pick<T>(0x1.6a09e6p-1f, 0x1.6a09e667f3bcdp-1);
  const Pair<T> t = two_product(held, root);
  const T low = fma(held, pick<T>(0x1.9fcef4p-27f, -0x1.bdd3413b26456p-55), t.low);
  const Scaled<T> tail =
      erfc_core(T(0.5) * factor, Pair<T>{t.high, low}, T(0.5) * square.high, T(0.5) * square.low);
  return scale(tail.m, tail.k);
}

/// The probability that a standard normal variable is below x.
template <Floating T>
BW_FN T normal_cdf(T x) {
  const T upper = normal_tail(T(1), abs(x));
  return x > T(0) ? T(1) - upper : upper;
}

}  // namespace beeswax::m
