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
  Scalar(T value) : real_(static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor): x + 1.5
  /// Integers of 2^63 and above are kept as floating-point numbers: no integer dtype holds them.
  template <std::integral T>
  Scalar(T value)  // NOLINT(google-explicit-constructor): x + 1
      : real_(static_cast<double>(value)),
        whole_(static_cast<int64_t>(value)),
        is_whole_(std::is_signed_v<T> || sizeof(T) < 8 || value <= static_cast<T>(INT64_MAX)) {}

  double as_double() const { return real_; }
  int64_t as_int() const { return whole_; }
  bool is_int() const { return is_whole_; }  ///< given as an integer

  /// This number as a value of `dtype`. Float dtypes round to nearest, once (f8e4m3 saturates); for an
  /// integer dtype it must be a whole number in range, else InvalidArgument names `operation`.
  Scalar to(DType dtype, std::string_view operation) const;
  std::string to_string() const;

 private:
  double real_ = 0;
  int64_t whole_ = 0;
  bool is_whole_ = false;
};

}  // namespace beeswax
