// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"

#define BW_COMPARE_ROW(Name, method, ctype, name) \
  BW_STRIDED_KERNEL(compare, Name, method, uint8_t, ctype, name)
#define BW_COMPARE(Name, method, ...)               \
  BW_COMPARE_ROW(Name, method, uint8_t, u8)         \
  BW_COMPARE_ROW(Name, method, uint32_t, u32)       \
  BW_COMPARE_ROW(Name, method, int16_t, i16)        \
  BW_COMPARE_ROW(Name, method, int32_t, i32)        \
  BW_COMPARE_ROW(Name, method, int64_t, i64)        \
  BW_COMPARE_ROW(Name, method, beeswax::bf16, bf16) \
  BW_COMPARE_ROW(Name, method, beeswax::f16, f16)   \
  BW_COMPARE_ROW(Name, method, float, f32)          \
  BW_COMPARE_ROW(Name, method, double, f64)         \
  BW_COMPARE_ROW(Name, method, beeswax::f8e4m3, f8e4m3)
#include "tables/binary.def"
