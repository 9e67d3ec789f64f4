// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

BW_REDUCE_FLOAT_KERNELS(double, f64)
