// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary.h"

#define BW_UNARY(Name, method, ...) BW_UNARY_KERNEL(Name, method, double, f64)
#define BW_UNARY_PARAM(Name, method, ...) BW_UNARY_KERNEL(Name, method, double, f64)
#include "tables/unary.def"
