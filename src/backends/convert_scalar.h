// SPDX-License-Identifier: Apache-2.0
// Compute dtypes, and ScalarBytes: a number as one element of a dtype, as it lies in memory.
#pragma once

#include <array>
#include <cstring>

#include "beeswax/scalar.h"

namespace beeswax {

/// The dtype that elements of `dtype` are computed in: itself, or f32 for narrow floats.
constexpr DType compute_dtype(DType dtype) {
  switch (dtype) {
    case DType::F16:
    case DType::BF16:
    case DType::F8E4M3:
      return DType::F32;
    default:
      return dtype;
  }
}

class ScalarBytes {
 public:
  /// `value` is already a value of `dtype` (Scalar::to); floats round to nearest here.
  ScalarBytes(const Scalar& value, DType dtype) {
    switch (dtype) {
#define BW_DTYPE(Name, name, ctype, compute, bits, kind) \
  case DType::Name:                                      \
    store<ctype>(value);                                 \
    break;
#define BW_STORAGE_DTYPE(Name, ...) \
  case DType::Name:                 \
    break;
#include "tables/dtypes.def"
    }
  }
  const std::byte* data() const { return bytes_.data(); }

 private:
  template <class T>
  void store(const Scalar& value) {
    T element;
    if constexpr (std::is_integral_v<T>) {
      element = static_cast<T>(value.as_int());
    } else if constexpr (std::is_same_v<T, double>) {
      element = value.as_double();
    } else {
      element = T(static_cast<float>(value.as_double()));
    }
    std::memcpy(bytes_.data(), &element, sizeof(T));
  }
  alignas(8) std::array<std::byte, 8> bytes_{};
};

}  // namespace beeswax
