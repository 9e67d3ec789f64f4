// SPDX-License-Identifier: Apache-2.0
#include "beeswax/scalar.h"

#include <charconv>
#include <cmath>

#include "core/fail.h"

namespace beeswax {
namespace {

template <class T>
bool fits(int64_t value) {
  return static_cast<int64_t>(static_cast<T>(value)) == value;
}

bool fits_dtype(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::U8:
      return fits<uint8_t>(value);
    case DType::U32:
      return fits<uint32_t>(value);
    case DType::I16:
      return fits<int16_t>(value);
    case DType::I32:
      return fits<int32_t>(value);
    default:
      return true;
  }
}

}  // namespace

std::string Scalar::to_string() const {
  if (is_whole_) return std::to_string(whole_);
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), real_).ptr;
  return {text, end};
}

Scalar Scalar::to(DType dtype, std::string_view operation) const {
  if (!dtype_is_int(dtype)) return {real_};
  const bool whole = is_whole_ || (std::trunc(real_) == real_ && std::fabs(real_) < 9.2e18);
  const int64_t value = is_whole_ ? whole_ : whole ? static_cast<int64_t>(real_) : 0;
  if (!whole || !fits_dtype(dtype, value))
    fail(ErrorKind::InvalidArgument, operation, "the number ", *this, " is not a value of ",
         dtype_name(dtype), "; cast the tensor to a dtype that holds it");
  return {value};
}

}  // namespace beeswax
