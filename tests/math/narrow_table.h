// SPDX-License-Identifier: Apache-2.0
// The narrow floating-point types by definition: each bit pattern's value from its fields, and the nearest
// pattern of a number by search. Independent of the conversions in half.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "beeswax/half.h"

namespace beeswax::test {

template <class T>
struct NarrowFormat;
template <>
struct NarrowFormat<f16> {
  static constexpr int kExponent = 5, kFraction = 10;
  static constexpr bool kInfinity = true;
};
template <>
struct NarrowFormat<bf16> {
  static constexpr int kExponent = 8, kFraction = 7;
  static constexpr bool kInfinity = true;
};
template <>
struct NarrowFormat<f8e4m3> {
  static constexpr int kExponent = 4, kFraction = 3;
  static constexpr bool kInfinity = false;
};

/// The value of a pattern, from its fields.
template <class T>
double narrow_value(uint32_t pattern) {
  using Format = NarrowFormat<T>;
  const int fraction_bits = Format::kFraction;
  const uint32_t most = (1u << Format::kExponent) - 1;
  const uint32_t fraction = pattern & ((1u << fraction_bits) - 1);
  const uint32_t exponent = (pattern >> fraction_bits) & most;
  const double sign = (pattern >> (fraction_bits + Format::kExponent)) != 0 ? -1 : 1;
  const int bias = static_cast<int>(most / 2);
  if (exponent == most && Format::kInfinity) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == most && fraction == (1u << fraction_bits) - 1) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(fraction), 1 - bias - fraction_bits);
  return sign * std::ldexp(static_cast<double>(fraction | (1u << fraction_bits)),
                           static_cast<int>(exponent) - bias - fraction_bits);
}

/// The patterns of the numbers from 0 up, with their values, and one more: where infinity or saturation is.
template <class T>
class NarrowTable {
 public:
  NarrowTable() {
    for (uint32_t pattern = 0; std::isfinite(narrow_value<T>(pattern)); ++pattern)
      values_.push_back(narrow_value<T>(pattern));
  }
  const std::vector<double>& values() const { return values_; }

  /// The pattern of the value nearest to x, which is not NaN; a tie goes to the even pattern.
  uint32_t nearest(long double x) const {
    const long double size = std::fabs(x);
    const uint32_t sign =
        std::signbit(x) ? 1u << (NarrowFormat<T>::kExponent + NarrowFormat<T>::kFraction) : 0u;
    const auto above = std::upper_bound(values_.begin(), values_.end(), size, [](long double a, double b) {
      return a < static_cast<long double>(b);
    });
    const auto low = static_cast<uint32_t>(above - values_.begin()) - 1;
    const long double floor = values_[low];
    if (above == values_.end()) {
      // Beyond the largest number the next one would be as far off as the last two are from each other.
      const long double gap = floor - static_cast<long double>(values_[low - 1]);
      return sign | (NarrowFormat<T>::kInfinity && size - floor >= gap / 2 ? low + 1 : low);
    }
    const long double down = size - floor;
    const long double up = static_cast<long double>(*above) - size;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : low + 1);
  }

 private:
  std::vector<double> values_;
};

}  // namespace beeswax::test
