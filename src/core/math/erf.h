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
  WideRounded<T> k;
};
/// factor e^-(high + low) erfcx(t.high + t.low).
template <Floating T>
BW_FN Scaled<T> erfc_core(T factor, Pair<T> t, T high, T low) {
  // w + w_low = 1 / (t + 2).
  const Pair<T> d = fast_two_sum(T(2), t.high);  // exact for every t: d.high - 2 is
  const T w = T(1) / d.high;
  const T w_low = w * fma(-w, d.low + t.low, fma(-w, d.high, T(1)));
  const T g = erfcx_tail(fma(T(4), w_low, fma(T(4), w, T(-1))));
  const auto e = exp_pair<kWide<T>>(-high, -low);
  // p (1 + g) and factor w as pairs, so that only the last of their roundings counts.
  const T product = fma(e.p.high, g, e.p.high);
  const T product_low = fma(e.p.high, g, e.p.high - product) + fma(e.p.low, g, e.p.low);
  const Pair<T> f = two_product(factor, w);
  const T f_low = fma(factor, w_low, f.low);
  return {fma(product, f.high, fma(product, f_low, product_low * f.high)), e.k};
}

/// erfc(t) for t >= 0.
template <Floating T>
BW_FN Scaled<T> erfc_tail(T t) {
  const Pair<T> square = two_product(t, t);
  return erfc_core(T(1), Pair<T>{t, T(0)}, square.high, square.low);
}

/// The error function: below 1 a polynomial, beyond it 1 - e^(log(erfc)), again a polynomial in the exponent.
template <Floating T>
BW_FN T erf(T x) {
  const T a = abs(x);
  const T small = fma(a, erf_tail(a * a), a);
  const auto e = exp_parts<static_cast<int>(Fp<T>::kBias)>(log_erfc(a));
  const T power = from_bits<T>(e.k.raw << Fp<T>::kMantissa);
  const T large = fma(-power, e.q, T(1) - power);
  const T inside = a < T(1) ? small : large;
  return copysign(a > pick<T>(4.0f, 6.0) ? T(1) : inside, x);
}

/// 1 - erf(x), accurate where it is small.
template <Floating T>
BW_FN T erfc(T x) {
  const T a = abs(x);
  const Scaled<T> tail = erfc_tail(a);
  const T upper = a > pick<T>(11.0f, 28.0) ? T(0) : scale(tail.m, tail.k);
  return x < T(0) ? T(2) - upper : upper;
}

/// Twice factor times the probability that a standard normal variable is above a, for a >= 0.
template <Floating T>
BW_FN T normal_tail(T factor, T a) {
  const T half = T(0.5) * a;
  const Pair<T> square = two_product(half, a);
  const Pair<T> t = two_product(a, pick<T>(0x1.6a09e6p-1f, 0x1.6a09e667f3bcdp-1));
  const T low = fma(a, pick<T>(0x1.9fcef4p-27f, -0x1.bdd3413b26456p-55), t.low);
  const Scaled<T> tail = erfc_core(factor, Pair<T>{t.high, low}, square.high, square.low);
  return negative_if(a > pick<T>(15.5f, 39.5) ? T(0) : scale(tail.m, tail.k), factor);
}

/// The probability that a standard normal variable is below x.
template <Floating T>
BW_FN T normal_cdf(T x) {
  const T upper = normal_tail(T(0.5), abs(x));
  return x > T(0) ? T(1) - upper : upper;
}

}  // namespace beeswax::m
