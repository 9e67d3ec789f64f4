// SPDX-License-Identifier: Apache-2.0
// The functions again, for results of 16 and 8 bits (the `half` column of tables/unary.def): in float, with a
// relative error below 2^-15 before the rounding, over the whole range of bfloat16 and its subnormal numbers.
// Without the compensations of the full functions, and with shorter polynomials.
#pragma once

#include "core/math/divide.h"
#include "core/math/pow.h"

namespace beeswax::m {

/// e^x = 2^k (1 + q) for -128 <= x <= 128; k comes with Offset added.
template <int Offset>
BW_FN ExpParts<float, Offset> exp_parts_short(float x) {
  const Rounded<float, Offset> k = round_product<Offset>(x, log2e<float>());
  const float r = fma(k.value, -0x1.62e43p-1f, x);
  return {k, fma(r * r, exp_tail_short(r), r)};
}
/// 2^64 e^x for -128 <= x <= 0: a normal number for every such x.
BW_FN float scaled_exp_short(float x) {
  const auto e = exp_parts_short<127 + 64>(x);
  const float power = from_bits<float>(e.k.raw << 23);
  return fma(power, e.q, power);
}
/// e^x - 1 for -128 <= x <= 88, accurate near 0.
BW_FN float expm1_short(float x) {
  const auto e = exp_parts_short<127>(x);
  const float power = from_bits<float>(e.k.raw << 23);
  return fma(power, e.q, power - 1.0f);
}

/// e^x.
BW_FN float exp_short(float x) {
  const auto e = exp_parts_short<kWide<float>>(clamp(x, -104.0f, 89.0f));
  return scale_one_plus(e.q, e.k);
}

/// (1 + e^-w) / 2^16 for -97.5 <= w, from where no narrow number is left of w / (1 + e^-w). It does not
/// overflow, and its last bit is even.
BW_FN float logistic_divisor(float w) {
  const float held = at_most(w, 75.0f);  // e^-75 no longer counts beside 1
  const auto k = round_product<127 - 16>(held, -log2e<float>());
  const float r = -fma(k.value, 0x1.62e43p-1f, held);
  const float power = from_bits<float>(k.raw << 23);
  const float below = fma(power, fma(fma(exp_tail_short(r), r, 1.0f), r, 1.0f), 0x1p-16f);
  return from_bits<float>(bits(below) & ~1u);
}
/// factor / (1 + e^-w).
BW_FN float logistic_short(float factor, float w) {
  return factor * 0x1p-16f * reciprocal_tame<1>(logistic_divisor(w));
}
/// 1 / (1 + e^-x).
BW_FN float sigmoid_short(float x) { return logistic_short(1.0f, at_least(x, -97.5f)); }
/// x / (1 + e^-x). Below the least x that is taken, the result is -0.
BW_FN float silu_short(float x) {
  const float held = at_least(x, -97.5f);
  return logistic_short(held, held);
}
/// 2 sqrt(2/pi) (x + 0.044715 x^3).
BW_FN float gelu_tanh_argument_short(float x) { return x * fma(x * x, 0x1.2444f2p-4f, 0x1.988454p0f); }
/// gelu_tanh.
BW_FN float gelu_tanh_short(float x) {
  const float held = at_least(x, -10.42f);  // its argument is -97.4
  return logistic_short(held, gelu_tanh_argument_short(held));
}

/// tanh x = (e^2x - 1) / (e^2x + 1).
BW_FN float tanh_short(float x) {
  const float e = expm1_short(2.0f * at_most(abs(x), 10.0f));
  return copysign(e * reciprocal_tame<1>(e + 2.0f), x);
}

/// x for x > 0, else alpha (e^x - 1).
BW_FN float elu_short(float x, float alpha) {
  const float negative = alpha * negative_if(expm1_short(clamp(x, -30.0f, 30.0f)), x);
  return x > 0.0f ? x : negative;
}

BW_FN float normal_tail_divisor_short(float a) { return fma(a, 0x1.6a09e6p-1f, 2.0f); }
/// 2^64 times twice the probability that a standard normal variable is above a, for 0 <= a <= 15.
BW_FN float normal_tail_short(float a) {
  const float w = reciprocal_tame<1>(normal_tail_divisor_short(a));
  const float g = erfcx_tail_short(fma(4.0f, w, -1.0f));
  // a has 11 digits at most, so that its square is exact.
  const float e = scaled_exp_short(-0.5f * a * a) * w;
  return fma(e, g, e);
}
/// The probability that a standard normal variable is below x.
BW_FN float normal_cdf_short(float x) {
  const float tail = normal_tail_short(at_most(abs(x), 15.0f)) * 0x1p-65f;
  return x > 0.0f ? 1.0f - tail : tail;
}
/// x times that.
BW_FN float gelu_erf_short(float x) {
  const float a = at_most(abs(x), 15.0f);
  const float part = 0.5f * a * normal_tail_short(a) * 0x1p-64f;
  return x >= 0.0f ? x - part : -part;
}

/// Natural logarithm.
BW_FN float log_short(float x) {
  const LogSplit<float> v = log_split(x);
  const float rest = fma(v.f * v.f, log_tail_short(v.f), v.f);
  return log_special(x, fma(v.exponent, 0x1.62e43p-1f, rest));
}

/// x^y as C99 defines it. The logarithm is the full one: its error counts up to 150 times.
BW_FN float pow_short(float x, float y) {
  const float logarithm = log2(abs(x));
  const float product = clamp(y * logarithm, -200.0f, 200.0f);
  const auto k = round_product<kWide<float>>(product, 1.0f);
  const float r = (product - k.value) * ln2_high<float>();
  return pow_cases(x, y, scale_one_plus(fma(r * r, exp_tail_short(r), r), k));
}

}  // namespace beeswax::m
