// SPDX-License-Identifier: Apache-2.0
#include "beeswax/scalar.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/fail.h"
#include "core/math/convert.h"

namespace beeswax {
namespace {

template <class T>
bool fits(int64_t value) {
  return static_cast<int64_t>(static_cast<T>(value)) == value;
}

// Rounded once, from the integer where it is one. Of the two doubles around a number that lies between them
// the odd one rounds as the number does.
template <class T>
double rounded(double real, int64_t whole, bool is_whole, int rest) {
  if (std::is_same_v<T, double>) return real;
  if (rest != 0 && (std::bit_cast<uint64_t>(real) & 1) == 0)
    real = std::nextafter(real, rest > 0 ? HUGE_VAL : -HUGE_VAL);
  return m::convert<double>(is_whole ? m::convert<T>(whole) : m::convert<T>(real));
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

// "0 to 255"
template <class T>
std::string limits() {
  return join_text(std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max());
}
std::string limits_of(DType dtype) {
  switch (dtype) {
    case DType::U8:
      return limits<uint8_t>();
    case DType::U32:
      return limits<uint32_t>();
    case DType::I16:
      return limits<int16_t>();
    case DType::I32:
      return limits<int32_t>();
    default:
      return limits<int64_t>();
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
  switch (dtype) {
#define BW_FLOAT_Int(Name, ctype)
#define BW_FLOAT_Float(Name, ctype) \
  case DType::Name:                 \
    return {rounded<ctype>(real_, whole_, is_whole_, rest_)};
#define BW_DTYPE(Name, name, ctype, compute, bits, kind) BW_FLOAT_##kind(Name, ctype)
#include "tables/dtypes.def"
    default:
      break;
  }
  if (dtype_is_storage(dtype)) return {real_};
  const bool whole = is_whole_ || (std::trunc(real_) == real_ && real_ >= -0x1p63 && real_ < 0x1p63);
  const int64_t value = is_whole_ ? whole_ : whole ? static_cast<int64_t>(real_) : 0;
  if (!whole || !fits_dtype(dtype, value))
    fail(ErrorKind::InvalidArgument, operation, "the number ", *this, " is not a value of ",
         dtype_name(dtype), "; accepted: whole numbers from ", limits_of(dtype),
         " (or cast the tensor to a dtype that holds it)");
  return {value};
}

}  // namespace beeswax
