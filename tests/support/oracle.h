// SPDX-License-Identifier: Apache-2.0
// What the oracle and bound columns of tables/reduce.def are written in: reductions in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace beeswax::oracle {

using Values = std::span<const long double>;

inline long double count(Values v) { return static_cast<long double>(v.size()); }

template <class F>
long double sum_of(Values v, F&& term) {
  long double total = 0;
  for (const long double x : v) total += term(x);
  return total;
}

inline long double sum(Values v) {
  return sum_of(v, [](long double x) { return x; });
}
inline long double sum_abs(Values v) {
  return sum_of(v, [](long double x) { return std::fabs(x); });
}
inline long double sum_of_squares(Values v) {
  return sum_of(v, [](long double x) { return x * x; });
}
inline long double norm(Values v) { return std::sqrt(sum_of_squares(v)); }

/// NaN where an element is.
inline long double max(Values v) {
  long double most = v[0];
  for (const long double x : v) most = std::isnan(x) || std::isnan(most) ? NAN : std::fmax(x, most);
  return most;
}
inline long double min(Values v) {
  long double least = v[0];
  for (const long double x : v) least = std::isnan(x) || std::isnan(least) ? NAN : std::fmin(x, least);
  return least;
}

inline long double mean(Values v) { return sum(v) / count(v); }
inline long double var(Values v) {
  const long double center = mean(v);
  return sum_of(v, [&](long double x) { return (x - center) * (x - center); }) / (count(v) - 1);
}
/// The error of the centre enters squared, as the true mean makes the sum least; each distance carries the
/// rounding of its subtraction, relative to the larger of its operands' distance and the centre's error.
inline long double var_bound(Values v, long double e) {
  const long double center_error = e * sum_abs(v) / count(v);
  return count(v) < 2 ? 0 : 4 * e * var(v) + 4 * center_error * center_error;
}

inline long double log_sum_exp(Values v) {
  const long double most = max(v);
  if (std::isinf(most)) return most;
  return most + std::log(sum_of(v, [&](long double x) { return std::exp(x - most); }));
}

}  // namespace beeswax::oracle
