// SPDX-License-Identifier: Apache-2.0
// Loops that convert between dtypes: every pair, with one rounding, saturating.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"
#include "beeswax/dtype.h"
#include "beeswax/portable.h"

namespace beeswax::cpu {

/// past_caches: y is 64-byte aligned and bypasses the caches (fence() of copy.h then makes it visible).
using CastFn = void (*)(const void* x, void* y, int64_t count, bool past_caches);

/// One of them, or none.
struct CastLoop {
  CastFn fn = nullptr;
  BW_MEMBER_FN bool operator==(std::nullptr_t) const { return fn == nullptr; }
  BW_MEMBER_FN void operator()(const void* x, void* y, int64_t count, bool past_caches = false) const {
    fn(x, y, count, past_caches);
  }
};

struct CastKernels {
  /// [from][to]. Equal dtypes are null.
  CastFn loops[kArithmeticDTypeCount][kArithmeticDTypeCount];
};

BW_KERNEL_TABLE(CastKernels, cast_kernels)

}  // namespace beeswax::cpu
