// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"

#define BW_FOR_Float(Name, method)
#define BW_FOR_Number(Name, method)                               \
  BW_BINARY_KERNEL(binary, Name, method, uint8_t, uint8_t, u8)    \
  BW_BINARY_KERNEL(binary, Name, method, uint32_t, uint32_t, u32) \
  BW_BINARY_KERNEL(binary, Name, method, int16_t, int16_t, i16)   \
  BW_BINARY_KERNEL(binary, Name, method, int32_t, int32_t, i32)   \
  BW_BINARY_KERNEL(binary, Name, method, int64_t, int64_t, i64)
#define BW_BINARY(Name, method, dtypes, ...) BW_FOR_##dtypes(Name, method)
#include "tables/binary.def"
