// SPDX-License-Identifier: Apache-2.0
// DType: the element types, made from tables/dtypes.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "beeswax/export.h"
#include "beeswax/half.h"

namespace beeswax {

enum class DType : uint8_t {
#define BW_DTYPE(Name, ...) Name,
#define BW_STORAGE_DTYPE(Name, ...) Name,
#include "tables/dtypes.def"
};

inline constexpr int kDTypeCount = 0
#define BW_DTYPE(...) +1
#define BW_STORAGE_DTYPE(...) +1
#include "tables/dtypes.def"
    ;

/// Types with arithmetic come first in the enum.
inline constexpr int kArithmeticDTypeCount = 0
#define BW_DTYPE(...) +1
#include "tables/dtypes.def"
    ;

/// "f32", "bf16", ...
BW_API std::string_view dtype_name(DType dtype);

/// The dtype of that name. Throws InvalidArgument naming the known ones.
BW_API DType parse_dtype(std::string_view name);

/// Bits of one element (6 and 4 for the sub-byte storage types).
BW_API int dtype_bits(DType dtype);

/// Bytes that `count` elements take, at most 2^60 of them; sub-byte types are packed without gaps, little end
/// first.
inline size_t dtype_bytes(DType dtype, size_t count) {
  const auto bits = static_cast<size_t>(dtype_bits(dtype));
  return count / 8 * bits + (count % 8 * bits + 7) / 8;  // count * bits may not fit
}

BW_API bool dtype_is_float(DType dtype);    ///< bf16 f16 f32 f64 f8e4m3
BW_API bool dtype_is_int(DType dtype);      ///< u8 u32 i16 i32 i64
BW_API bool dtype_is_storage(DType dtype);  ///< f8e8m0 f6e2m3 f6e3m2 f4

/// The dtype of a C++ element type.
template <class T>
struct DTypeOf;
#define BW_DTYPE(Name, name, ctype, ...)        \
  template <>                                   \
  struct DTypeOf<ctype> {                       \
    static constexpr DType value = DType::Name; \
  };
#include "tables/dtypes.def"

template <class T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

}  // namespace beeswax
