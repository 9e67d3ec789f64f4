// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

BW_REDUCE_KERNELS(uint8_t, u8)
BW_REDUCE_KERNELS(uint32_t, u32)
BW_REDUCE_KERNELS(int16_t, i16)
BW_REDUCE_KERNELS(int32_t, i32)
BW_REDUCE_KERNELS(int64_t, i64)
