// SPDX-License-Identifier: Apache-2.0
// Scalar: a number given to an operation, before it takes the tensor's dtype.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "beeswax/dtype.h"
#include "beeswax/export.h"

namespace beeswax {

class BW_API Scalar {
 public:
  template <std::floating_point T>
  Scalar(T value)  // NOLINT(google-explicit-constructor): x + 1.5
      : real_(static_cast<double>(value)), rest_(sign_of_rest(value, real_)) {}
  /// Integers of 2^63 and above are kept as floating-point numbers: no integer dtype holds them.
  template <std::integral T>
  Scalar(T value)  // NOLINT(google-explicit-constructor): x + 1
      : real_(static_cast<double>(value)),
        whole_(static_cast<int64_t>(value)),
        is_whole_(std::is_signed_v<T> || sizeof(T) < 8 || value <= static_cast<T>(INT64_MAX)),
        rest_(is_whole_ ? int8_t{0} : sign_of_rest(value, real_)) {}

  double as_double() const { return real_; }
  int64_t as_int() const { return whole_; }
  bool is_int() const { return is_whole_; }  ///< given as an integer

  /// This number as a value of `dtype`. Float dtypes round to nearest, once (f8e4m3 saturates); for an
  /// integer dtype it must be a whole number in range, else InvalidArgument names `operation`.
  Scalar to(DType dtype, std::string_view operation) const;
  std::string to_string() const;

 private:
  template <class T>
  static int8_t sign_of_rest(T value, double real) {
    if constexpr (std::is_integral_v<T>)
      if (real == 0x1p64) return -1;  // above every integer, and none of them
    const T nearest = static_cast<T>(real);
    return static_cast<int8_t>((value > nearest ? 1 : 0) - (value < nearest ? 1 : 0));
  }

  double real_ = 0;
  int64_t whole_ = 0;
  bool is_whole_ = false;
  int8_t rest_ = 0;  // the sign of what the number has beyond real_, for one rounding to a narrower dtype
};

}  // namespace beeswax
