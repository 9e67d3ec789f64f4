// SPDX-License-Identifier: Apache-2.0
// What the functions of core/math are judged by: long double, with care where its rounding errors would grow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace beeswax::precise {

// Twice long double's digits on x86-64, where it has no standard name; it is long double itself elsewhere.
#if defined(__x86_64__)
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

inline long double sigmoid(long double x) {
  const long double e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

inline long double silu(long double x) { return x == -HUGE_VALL ? -0.0L : x * sigmoid(x); }

/// x sigmoid(w), w = 2 sqrt(2/pi) (x + 0.044715 x^3). An error of w is multiplied by w, up to 800.
inline long double gelu_tanh(long double x) {
  if (x < -40) return -0.0L;
  if (!(x < 40)) return x;
  const Quad q = x;
  // sqrt(2/pi) in two parts.
  const Quad root =
      static_cast<Quad>(0.797884560802865355879892L) + static_cast<Quad>(2.675588877860239146e-20L);
  const Quad w = 2 * root * (q + q * q * q * 44715 / 1000000);
  const long double high = static_cast<long double>(w);
  const long double low = static_cast<long double>(w - static_cast<Quad>(high));
  const long double e = std::exp(-std::fabs(high)) * (high < 0 ? 1 + low : 1 - low);
  return x * (x < 0 ? e / (1 + e) : 1 / (1 + e));
}

/// erfc(-x / sqrt(2)) / 2. The argument's rounding error is put right by the derivative.
inline long double normal_cdf(long double x) {
  if (std::isnan(x) || std::isinf(x)) return x > 0 ? 1 : x < 0 ? 0 : x;
  const Quad root =
      static_cast<Quad>(0.707106781186547524400844L) + static_cast<Quad>(1.895032558893257080e-20L);
  const Quad t = -static_cast<Quad>(x) * root;
  const long double high = static_cast<long double>(t);
  const long double low = static_cast<long double>(t - static_cast<Quad>(high));
  const long double slope = -1.1283791670955125738961589L * std::exp(-high * high);
  return 0.5L * (std::erfc(high) + slope * low);
}

inline long double gelu_erf(long double x) { return x == -HUGE_VALL ? -0.0L : x * normal_cdf(x); }

/// |y - r| in units of the last place that a T near r has; infinite where they differ in kind or, for a zero,
/// in sign. Infinity counts as the number that would follow the largest.
template <class T>
double error(T y, long double r) {
  using L = std::numeric_limits<T>;
  if (std::isnan(y) || std::isnan(r)) return std::isnan(y) && std::isnan(r) ? 0 : HUGE_VAL;
  if (y == 0 && std::signbit(y) != std::signbit(r)) return HUGE_VAL;
  const long double limit = std::ldexp(1.0L, L::max_exponent);
  const long double from = std::fmax(-limit, std::fmin(limit, static_cast<long double>(y)));
  const long double to = std::fmax(-limit, std::fmin(limit, r));
  int exponent = 0;
  std::frexp(to, &exponent);
  exponent = to == 0 ? L::min_exponent : std::max(exponent, L::min_exponent);
  return static_cast<double>(std::ldexp(std::fabs(from - to), L::digits - exponent));
}

}  // namespace beeswax::precise
