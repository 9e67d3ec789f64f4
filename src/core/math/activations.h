// SPDX-License-Identifier: Apache-2.0
// Activation functions. The factor 2^k of the exponential comes last, so that results too small for a normal
// number still have one rounding.
#pragma once

#include "core/math/erf.h"

namespace beeswax::m {

/// factor / (1 + e^-(w + w_low)).
template <Floating T>
BW_FN T logistic(T factor, T w, T w_low) {
  const auto e = exp_parts<static_cast<int>(Fp<T>::kBias)>(-w, -w_low);
  // With e^-w = 2^k (1 + q), divide by 2^k (1 + q) + 1. Where 2^k might overflow, divide by 2^-64 of that
  // (2^-512 for double) and multiply the quotient by it: that rounds once, also to a subnormal number.
  const bool large = w < pick<T>(-60.0f, -500.0);
  const Bits<T> down = large ? Bits<T>(sizeof(T) == 4 ? 64 : 512) : Bits<T>(0);
  const T one = large ? pick<T>(0x1p-64f, 0x1p-512) : T(1);
  const T power = from_bits<T>((e.k.raw - down) << Fp<T>::kMantissa);
  const T sum = power + one;
  const T divisor = fma(power, e.q, sum);
  // What the divisor lacks, in proportion to it. Its reciprocal is only needed to a few bits; subtracting its
  // bits from a constant gives that.
  const T lost = fma(power, e.q, sum - divisor) + (one - (sum - power));
  const Bits<T> guess = sizeof(T) == 4 ? Bits<T>(0x7ef311c3u) : static_cast<Bits<T>>(0x7fde623822fc16e6u);
  const T ratio = lost * from_bits<T>(guess - bits(divisor));
  const T quotient = factor / divisor;
  const T inside = fma(-quotient, ratio, quotient) * one;
  const T below = w < pick<T>(-115.0f, -800.0) ? T(0) : inside;
  return negative_if(w > pick<T>(87.0f, 700.0) ? factor : below, factor);
}

/// 1 / (1 + e^-x).
template <Floating T>
BW_FN T sigmoid(T x) {
  return logistic(T(1), x, T(0));
}

/// x / (1 + e^-x).
template <Floating T>
BW_FN T silu(T x) {
  return logistic(x, x, T(0));
}

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x sigmoid(w) with w = x (A + B x^2).
template <Floating T>
BW_FN T gelu_tanh(T x) {
  const T a_high = pick<T>(0x1.988454p0f, 0x1.9884533d43651p0);
  const T a_low = pick<T>(-0x1.857936p-25f, -0x1.cbc0d30ebfd15p-54);
  const T b_high = pick<T>(0x1.2444f2p-4f, 0x1.2444f2a4d8b4bp-4);
  const T b_low = pick<T>(0x1.49b16ap-29f, -0x1.6c843a29d1c7p-61);
  const Pair<T> square = two_product(x, x);
  const Pair<T> cubic = two_product(b_high, square.high);
  const Pair<T> sum = two_sum(a_high, cubic.high);
  const T low = (sum.low + cubic.low) + fma(b_high, square.low, fma(b_low, square.high, a_low));
  const Pair<T> w = two_product(x, sum.high);
  return logistic(x, w.high, fma(x, low, w.low));
}

/// x times the normal distribution function.
template <Floating T>
BW_FN T gelu_erf(T x) {
  const T a = abs(x);
  const T part = normal_tail(T(0.5) * x, a);
  return x > T(0) ? x - part : part;
}

/// x for x > 0, else alpha (e^x - 1).
template <Floating T>
BW_FN T elu(T x, T alpha) {
  const T negative = alpha * expm1(x);
  return x > T(0) ? x : negative;
}

}  // namespace beeswax::m
