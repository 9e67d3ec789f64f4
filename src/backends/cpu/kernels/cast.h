// SPDX-License-Identifier: Apache-2.0
// Loops that convert between dtypes: every pair, with one rounding, saturating.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

using CastLoop = void (*)(const void* x, void* y, int64_t count);

struct CastKernels {
  /// [from][to]. Equal dtypes are null.
  CastLoop loops[kArithmeticDTypeCount][kArithmeticDTypeCount];
};

BW_KERNEL_TABLE(CastKernels, cast_kernels)

}  // namespace beeswax::cpu
