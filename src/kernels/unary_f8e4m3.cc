// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary.h"

#define BW_UNARY(Name, method, ...) BW_UNARY_KERNEL(Name, method, beeswax::f8e4m3, f8e4m3)
#define BW_UNARY_PARAM(Name, method, ...) BW_UNARY_KERNEL(Name, method, beeswax::f8e4m3, f8e4m3)
#include "tables/unary.def"
