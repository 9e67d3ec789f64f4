// SPDX-License-Identifier: Apache-2.0
// sin, cos, tan. The argument is reduced to x = q pi/2 + r + low with |r| <= pi/4.
#pragma once

#include "core/math/trig_reduce.h"

namespace beeswax::m {

/// sin(r + low).
template <Floating T>
BW_FN T sin_kernel(T r, T low, T square) {
  return r + fma(square * r, sin_tail(square), low);
}
/// cos(r + low).
template <Floating T>
BW_FN T cos_kernel(T r, T low, T square) {
  const T half = T(0.5) * square;
  const T first = T(1) - half;
  const T error = (T(1) - first) - half;
  return first + fma(square * square, cos_tail(square), fma(-r, low, error));
}

template <Floating T>
BW_FN T sin_of(Reduced<T> a) {
  const T square = a.r * a.r;
  const T value = (a.quadrant & 1) != 0 ? cos_kernel(a.r, a.low, square) : sin_kernel(a.r, a.low, square);
  return from_bits<T>(bits(value) ^ ((a.quadrant & 2) << (Fp<T>::kMantissa + (sizeof(T) == 4 ? 7 : 10))));
}
template <Floating T>
BW_FN T cos_of(Reduced<T> a) {
  a.quadrant += 1;
  return sin_of(a);
}

template <Floating T>
BW_FN T sin(T x) {
  const T value = sin_of(reduce(x));
  return x == T(0) ? x : value;
}
template <Floating T>
BW_FN T cos(T x) {
  return cos_of(reduce(x));
}
template <Floating T>
BW_FN void sincos(T x, T* sine, T* cosine) {
  const Reduced<T> a = reduce(x);
  const T value = sin_of(a);
  *sine = x == T(0) ? x : value;
  *cosine = cos_of(a);
}

template <Floating T>
BW_FN T tan(T x) {
  const Reduced<T> a = reduce(x);
  const T square = a.r * a.r;
  const T part = fma(square * a.r, tan_tail(square), a.low);
  const Pair<T> t = fast_two_sum(a.r, part);
  // -1 / (high + low), the quotient corrected by its residual.
  const T inverse = T(-1) / t.high;
  const T residual = fma(inverse, t.low, fma(inverse, t.high, T(1)));
  const T turned = fma(inverse, residual, inverse);
  const T value = (a.quadrant & 1) != 0 ? turned : t.high;
  return x == T(0) ? x : value;
}

}  // namespace beeswax::m
