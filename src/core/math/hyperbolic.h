// SPDX-License-Identifier: Apache-2.0
// tanh, sinh, cosh.
#pragma once

#include "core/math/divide.h"
#include "core/math/exp.h"

namespace beeswax::m {

/// e^2a + 1 for a from 0 to 10 (20).
template <Floating T>
BW_FN T tanh_divisor(T a) {
  const auto e = exp_parts<static_cast<int>(Fp<T>::kBias)>(T(2) * a);
  const T power = from_bits<T>(e.k.raw << Fp<T>::kMantissa);
  return fma(power, e.q, power + T(1));
}
/// Below 0.8 a polynomial; beyond, 1 - 2 / (e^(2|x|) + 1).
template <Floating T>
BW_FN T tanh(T x) {
  const T a = abs(x);
  const T square = a * a;
  const T small = fma(a * square, tanh_tail(square), a);
  const T large = fma(T(-2), reciprocal_tame<2>(tanh_divisor(a)), T(1));
  const T inside = a < pick<T>(0.8f, 0.8) ? small : large;
  return copysign(a > pick<T>(10.0f, 20.0) ? T(1) : inside, x);
}

/// sinh(r + low) = r + sine, cosh(r + low) = 1 + cosine, and half of 2^k and of 2^-k, for x = k ln 2 + r +
/// low.
template <Floating T>
struct HyperbolicParts {
  T r, sine, cosine, up, down;
};
template <Floating T>
BW_FN HyperbolicParts<T> hyperbolic_parts(T x) {
  const T held = at_most(x, pick<T>(89.5f, 711.0));
  const auto k = round_product<0>(held, log2e<T>());
  const T high = fma(k.value, -ln2_high<T>(), held);  // exact
  const T r = fma(k.value, -ln2_low<T>(), high);
  const T low = fma(k.value, -ln2_low<T>(), high - r);
  const T square = r * r;
  const T sine = fma(square * r, sinh_tail(square), low);
  const T cosine = fma(square, cosh_tail(square), r * low);
  // A quarter of the scale, so that it does not overflow; 2^-k stops mattering long before it underflows.
  return {r, sine, cosine, pow2(k.value - T(3)), pow2(T(-3) - at_most(k.value, T(90)))};
}

/// With x = k ln 2 + r: sinh x = (2^k - 2^-k)/2 cosh r + (2^k + 2^-k)/2 sinh r. No cancellation for any k.
template <Floating T>
BW_FN T sinh(T x) {
  const HyperbolicParts<T> p = hyperbolic_parts(abs(x));
  const T sum = p.up + p.down;
  const T difference = p.up - p.down;
  const T main = fma(sum, p.r, difference);
  const T low = fma(sum, p.r, difference - main) + ((p.up - difference) - p.down);
  const T result = T(4) * (main + (low + fma(sum, p.sine, difference * p.cosine)));
  // Far below 1 the result is x, and parts of subnormal numbers would not be exact.
  return abs(x) < pick<T>(0x1p-14f, 0x1p-28) ? x : copysign(result, x);
}
template <Floating T>
BW_FN T cosh(T x) {
  const HyperbolicParts<T> p = hyperbolic_parts(abs(x));
  const T sum = p.up + p.down;
  const T difference = p.up - p.down;
  const T main = fma(difference, p.r, sum);
  const T low = fma(difference, p.r, sum - main) + ((p.up - sum) + p.down);
  return T(4) * (main + (low + fma(sum, p.cosine, difference * p.sine)));
}

}  // namespace beeswax::m
