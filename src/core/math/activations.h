// SPDX-License-Identifier: Apache-2.0
// Activation functions. The factor 2^k of the exponential comes last, so that results too small for a normal
// number still have one rounding.
#pragma once

#include "core/math/erf.h"

namespace beeswax::m {

/// factor / (1 + e^-(w + w_low)) for |w| up to 800 (double) or 120 (float).
template <Floating T>
BW_FN T logistic(T factor, T w, T w_low) {
  const ExpParts<T> e = exp_parts(-w, -w_low);
  // With e^-w = 2^k (1 + q): divide by up (1 + q) + down, then scale by 2^-k if k > 0. `up` is 2^k for
  // k < 0 and `down` 2^-k for k > 0, else 1; both stop at 2^-100, where they no longer matter.
  const T k = e.k.value;
  const T above = k > T(0) ? k : T(0);
  const T first = at_most(above, T(100));
  const T up = pow2(clamp(k, T(-100), T(0)));
  const T down = pow2(-first);
  const T quotient = factor / fma(up, e.q, up + down);
  // A second factor
  return quotient * down * pow2(first - above);
}

/// 1 / (1 + e^-x).
template <Floating T>
BW_FN T sigmoid(T x) {
  return logistic(T(1), clamp(x, pick<T>(-120.0f, -800.0), pick<T>(120.0f, 800.0)), T(0));
}

/// x / (1 + e^-x).
template <Floating T>
BW_FN T silu(T x) {
  const T limit = pick<T>(120.0f, 800.0);
  const T factor = -limit > x ? -limit : x;
  return logistic(factor, at_most(factor, limit), T(0));
}

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x sigmoid(w) with w = x (A + B x^2).
template <Floating T>
BW_FN T gelu_tanh(T x) {
  const T held = clamp(x, pick<T>(-12.0f, -24.0), pick<T>(12.0f, 24.0));
  const T a_high = pick<T>(0x1.988454p0f, 0x1.9884533d43651p0);
  const T a_low = pick<T>(-0x1.857936p-25f, -0x1.cbc0d30ebfd15p-54);
  const T b_high = pick<T>(0x1.2444f2p-4f, 0x1.2444f2a4d8b4bp-4);
  const T b_low = pick<T>(0x1.49b16ap-29f, -0x1.6c843a29d1c7p-61);
  const Pair<T> square = two_product(held, held);
  const Pair<T> cubic = two_product(b_high, square.high);
  const Pair<T> sum = two_sum(a_high, cubic.high);
  const T low = (sum.low + cubic.low) + fma(b_high, square.low, fma(b_low, square.high, a_low));
  const Pair<T> w = two_product(held, sum.high);
  const T factor = held > x ? held : x;
  return logistic(factor, w.high, fma(held, low, w.low));
}

/// x times the normal distribution function.
template <Floating T>
BW_FN T gelu_erf(T x) {
  const T limit = pick<T>(15.5f, 39.5);
  const T held = clamp(x, -limit, limit);
  const T part = normal_tail(held, abs(held));
  return x > T(0) ? x - part : part;
}

/// x for x > 0, else alpha (e^x - 1).
template <Floating T>
BW_FN T elu(T x, T alpha) {
  const T negative = alpha * expm1(x);
  return x > T(0) ? x : negative;
}

}  // namespace beeswax::m
