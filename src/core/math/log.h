// SPDX-License-Identifier: Apache-2.0
// log, log2, log10, log1p. All split x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and
// log(1 + f) = f + y with y small beside f.
#pragma once

#include "core/math/exp.h"

namespace beeswax::m {

template <Floating T>
struct LogSplit {
  T exponent;
  T f;  // exact
};
/// For x > 0 and finite. Subnormals are scaled first, unless there are none.
template <Floating T, bool normal = false>
BW_FN LogSplit<T> log_split(T x) {
  using U = Bits<T>;
  const bool tiny = !normal && x < Fp<T>::kMinNormal;
  const T scaled = tiny ? x * pick<T>(0x1p23f, 0x1p52) : x;
  const U shifted = bits(scaled) + (bit_cast<U>(T(1)) - Fp<T>::kSqrtHalf);
  // The biased exponent becomes a number inside the bits of 2^23 or 2^52.
  const T unit = pick<T>(0x1p23f, 0x1p52);
  const T biased = from_bits<T>((shifted >> Fp<T>::kMantissa) | bit_cast<U>(unit));
  const T bias = static_cast<T>(Fp<T>::kBias);
  const T exponent = biased - (tiny ? unit + (bias + static_cast<T>(Fp<T>::kMantissa)) : unit + bias);
  const U fraction = (shifted & ((U(1) << Fp<T>::kMantissa) - 1)) + Fp<T>::kSqrtHalf;
  return {exponent, from_bits<T>(fraction) - T(1)};
}

/// log(1 + f) - f for f between sqrt(1/2) - 1 and sqrt(2) - 1.
BW_FN float log_rest(float f) {
  const float square = f * f;
  return fma(square * f, log_tail(f), -0.5f * square);
}
BW_FN double log_rest(double f) {
  // With s = f / (2 + f), log(1 + f) = 2 atanh(s) and 2 s = f - s f.
  const double half = 0.5 * f * f;
  const double s = f / (2.0 + f);
  const double z = s * s;
  return fma(s, fma(z, atanh_tail(z), half), -half);
}

/// The result for x that is not positive and finite.
template <Floating T>
BW_FN T log_special(T x, T result) {
  const T not_positive = x == T(0) ? -infinity<T>() : nan<T>();
  const T low = x > T(0) ? result : not_positive;
  return x < infinity<T>() ? low : x;
}

/// ln 2 with so few digits that its product with an exponent is exact, and the rest of it.
template <Floating T>
BW_FN constexpr T ln2_short() {
  return pick<T>(0x1.62e4p-1f, 0x1.62e42fefa3p-1);
}
template <Floating T>
BW_FN constexpr T ln2_after_short() {
  return pick<T>(0x1.7f7d1cp-20f, 0x1.3de6af278ece6p-42);
}

template <Floating T>
BW_FN T log_of(const LogSplit<T>& v) {
  // The short ln 2 makes e ln 2 exact.
  const T rest = fma(v.exponent, ln2_after_short<T>(), log_rest(v.f));
  const Pair<T> sum = fast_two_sum(v.exponent * ln2_short<T>(), v.f);
  return sum.high + (rest + sum.low);
}
/// Natural logarithm.
template <Floating T>
BW_FN T log(T x) {
  return log_special(x, log_of(log_split(x)));
}
/// The same bits for x that is positive, normal and finite.
template <Floating T>
BW_FN T log_normal(T x) {
  return log_of(log_split<T, true>(x));
}

/// Logarithm to base 2, exact at powers of two.
template <Floating T>
BW_FN T log2(T x) {
  const LogSplit<T> v = log_split(x);
  const T rest = log_rest(v.f);
  const Pair<T> product = two_product(v.f, log2e<T>());
  T low = fma(v.f, pick<T>(0x1.4ae0cp-26f, 0x1.777d0ffda0d24p-56), product.low);
  low = fma(rest, log2e<T>(), low);
  const Pair<T> sum = fast_two_sum(v.exponent, product.high);
  return log_special(x, sum.high + (sum.low + low));
}

/// Logarithm to base 10.
template <Floating T>
BW_FN T log10(T x) {
  const LogSplit<T> v = log_split(x);
  const T rest = log_rest(v.f);
  const T log10e = pick<T>(0x1.bcb7b2p-2f, 0x1.bcb7b1526e50ep-2);
  const Pair<T> product = two_product(v.f, log10e);
  T low = fma(v.f, pick<T>(-0x1.5b235ep-27f, 0x1.95355baaafad3p-57), product.low);
  low = fma(rest, log10e, low);
  const Pair<T> whole = two_product(v.exponent, pick<T>(0x1.344136p-2f, 0x1.34413509f79ffp-2));
  low += fma(v.exponent, pick<T>(-0x1.ec10cp-27f, -0x1.9dc1da994fd21p-59), whole.low);
  const Pair<T> sum = two_sum(whole.high, product.high);
  return log_special(x, sum.high + (sum.low + low));
}

/// log(1 + x), accurate near 0.
template <Floating T>
BW_FN T log1p(T x) {
  const Pair<T> sum = two_sum(T(1), x);
  const LogSplit<T> v = log_split(sum.high);
  // 1 + x = 2^e (1 + f + low); for very large x the lost part does not matter.
  const T low = sum.low * pow2(-at_most(v.exponent, pick<T>(100.0f, 900.0)));
  const Pair<T> f = two_sum(v.f, low);
  const T rest = fma(v.exponent, ln2_after_short<T>(), log_rest(f.high) + f.low);
  const Pair<T> all = fast_two_sum(v.exponent * ln2_short<T>(), f.high);
  const T result = log_special(sum.high, all.high + (rest + all.low));
  return copysign(result, x);
}

}  // namespace beeswax::m
