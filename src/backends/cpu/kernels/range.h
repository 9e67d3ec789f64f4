// SPDX-License-Identifier: Apache-2.0
// start + i * step for every dtype.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

struct RangeKernels {
  /// out[i - begin] = start + i * step for begin <= i < begin + count, count < 2^31. Integer dtypes wrap and
  /// use the whole numbers; float dtypes use the others, in f64 (two roundings) and then rounded to the
  /// dtype. past_caches: out is 64-byte aligned, and its lines bypass the caches; the caller fences.
  void (*range[kArithmeticDTypeCount])(void* out, int64_t begin, int64_t count, double start, double step,
                                       int64_t whole_start, int64_t whole_step, bool past_caches);
};

BW_KERNEL_TABLE(RangeKernels, range_kernels)

}  // namespace beeswax::cpu
