// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary.h"

#define BW_FOR_Float(Name, method)
#define BW_FOR_Number(Name, method)            \
  BW_UNARY_KERNEL(Name, method, uint8_t, u8)   \
  BW_UNARY_KERNEL(Name, method, uint32_t, u32) \
  BW_UNARY_KERNEL(Name, method, int16_t, i16)  \
  BW_UNARY_KERNEL(Name, method, int32_t, i32)  \
  BW_UNARY_KERNEL(Name, method, int64_t, i64)
#define BW_UNARY(Name, method, dtypes, ...) BW_FOR_##dtypes(Name, method)
#include "tables/unary.def"
