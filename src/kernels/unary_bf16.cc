// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary.h"

#define BW_UNARY(Name, method, ...) BW_UNARY_KERNEL(Name, method, beeswax::bf16, bf16)
#define BW_UNARY_PARAM(Name, method, ...) BW_UNARY_KERNEL(Name, method, beeswax::bf16, bf16)
#include "tables/unary.def"
