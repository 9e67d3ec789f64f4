// SPDX-License-Identifier: Apache-2.0
// pow: 2^(y log2|x|), the logarithm and its product with y as unevaluated sums, then C99's special cases.
#pragma once

#include "core/math/log.h"

namespace beeswax::m {

/// log2(x) for x > 0 and finite, to about 1.5 times T's precision.
template <Floating T>
BW_FN Pair<T> log2_pair(T x) {
  const LogSplit<T> v = log_split(x);
  // s = f / (2 + f) as a pair.
  const Pair<T> d = fast_two_sum(T(2), v.f);
  const T inverse = T(1) / d.high;
  const T s = v.f * inverse;
  const T s_low = inverse * fma(-s, d.low, fma(-s, d.high, v.f));
  // log(1 + f) = 2 s + s^3 (2/3 + z tail(z)), z = s^2.
  const T z = s * s;
  const T z_low = fma(T(2) * s, s_low, fma(s, s, -z));
  const T third = pick<T>(0x1.555556p-1f, 0x1.5555555555555p-1);
  const T third_low = pick<T>(-0x1.555556p-26f, 0x1.5555555555555p-55);
  const Pair<T> c = fast_two_sum(third, z * atanh_tail5(z));
  const T c_low = c.low + third_low;
  const Pair<T> zc = two_product(z, c.high);
  const T zc_low = zc.low + fma(z, c_low, z_low * c.high);
  const Pair<T> cubic = two_product(s, zc.high);
  const T cubic_low = cubic.low + fma(s, zc_low, s_low * zc.high);
  const Pair<T> sum = fast_two_sum(T(2) * s, cubic.high);
  const T sum_low = sum.low + fma(T(2), s_low, cubic_low);
  // To base 2, and the exponent.
  const Pair<T> scaled = two_product(sum.high, log2e<T>());
  const T log2e_low = pick<T>(0x1.4ae0cp-26f, 0x1.777d0ffda0d24p-56);
  const T scaled_low = scaled.low + fma(sum.high, log2e_low, sum_low * log2e<T>());
  const Pair<T> whole = two_sum(v.exponent, scaled.high);
  return fast_two_sum(whole.high, whole.low + scaled_low);
}

/// x^y as C99 defines it, from |x|^y for numbers that are neither 0 nor infinite.
template <Floating T>
BW_FN T pow_cases(T x, T y, T result) {
  const T a = abs(x);
  // Conditions are joined with | and &: a shortcut would be a branch, and the loop would not vectorize.
  // Zero, infinite: the result is 0 or infinite.
  const bool extreme = (a == T(0)) | (a == infinity<T>()) | (abs(y) == infinity<T>());
  const T limit_value = (a < T(1)) == (y < T(0)) ? infinity<T>() : T(0);
  result = extreme ? limit_value : result;
  result = (x != x) | (y != y) ? nan<T>() : result;
  const T at_one = (x == T(1)) | (y == y) ? T(1) : nan<T>();
  result = (y == T(0)) | (a == T(1)) ? at_one : result;

  // Negative x: an odd y keeps the sign, an even one drops it, any other gives NaN.
  const T half = y * T(0.5);
  const bool whole = trunc(y) == y;
  const bool odd = whole & (trunc(half) != half);
  const bool invalid = (x < T(0)) & !whole & (a != infinity<T>());
  result = invalid ? nan<T>() : result;
  const Bits<T> flip = odd ? bits(x) & Fp<T>::kSign : Bits<T>(0);
  return from_bits<T>(bits(result) ^ flip);
}

/// x^y as C99 defines it.
template <Floating T>
BW_FN T pow(T x, T y) {
  const T a = abs(x);
  const Pair<T> logarithm = log2_pair(a);
  // Beyond this |y| every result is 0, 1 or infinite; holding it keeps the products finite.
  const T y_held = clamp(y, pick<T>(-0x1p40f, -0x1p80), pick<T>(0x1p40f, 0x1p80));
  const T product = y_held * logarithm.high;
  const T product_low = fma(y_held, logarithm.low, fma(y_held, logarithm.high, -product));
  const T limit = pick<T>(200.0f, 2000.0);
  const T high = clamp(product, -limit, limit);
  const T low = high == product ? product_low : T(0);
  const auto k = round_product<kWide<T>>(high, T(1));
  const Pair<T> f = two_sum(high - k.value, low);
  const T r = f.high * ln2_high<T>();
  const T r_low = fma(f.high, ln2_low<T>(), fma(f.high, ln2_high<T>(), -r)) + f.low * ln2_high<T>();
  const T q = r + fma(r * r, exp_tail(r), r_low);
  return pow_cases(x, y, scale_one_plus(q, k));
}

}  // namespace beeswax::m
