// SPDX-License-Identifier: Apache-2.0
// The terms of log_sum_exp, and the logarithm of their sum: those of softmax, of which none is subnormal.
#pragma once

#include "core/math/exp.h"
#include "core/math/log.h"

namespace beeswax::m {

/// 2^kScaledExp<T> e^(x - c) for x <= c, a number but for a NaN x; exactly 2^kScaledExp<T> where x is c and
/// finite.
template <Floating T>
BW_FN T scaled_exp_below(T x, T c) {
  const T from = c - c == T(0) ? c : T(0);  // beside an infinite c sums are no matter
  const T below = x - from, held = kLeastScaledExp<T> > below ? kLeastScaledExp<T> : below;  // NaN stays
  return scaled_exp(T(0) < held ? T(0) : held);
}

/// The logarithm of a sum of numbers that are 2^kScaledExp<T> times too large.
template <Floating T>
BW_FN T log_of_scaled(T sum) {
  return log(sum * (T(1) / scaled_exp_unit<T>()));
}

}  // namespace beeswax::m
