// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"

#define BW_BINARY(Name, method, ...)                                         \
  BW_BINARY_KERNEL(binary, Name, method, float, float, f32)                  \
  BW_BINARY_KERNEL(binary, Name, method, double, double, f64)                \
  BW_BINARY_KERNEL(binary, Name, method, beeswax::f16, beeswax::f16, f16)    \
  BW_BINARY_KERNEL(binary, Name, method, beeswax::bf16, beeswax::bf16, bf16) \
  BW_BINARY_KERNEL(binary, Name, method, beeswax::f8e4m3, beeswax::f8e4m3, f8e4m3)
#include "tables/binary.def"
