// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

BW_REDUCE_FLOAT_KERNELS(beeswax::bf16, bf16)
