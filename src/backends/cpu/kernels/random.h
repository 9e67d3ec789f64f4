// SPDX-License-Identifier: Apache-2.0
// Random numbers for the float dtypes (null for others).
#pragma once

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"
#include "core/random_numbers.h"

namespace beeswax::cpu {

struct RandomKernels {
  /// out[i], i < count, from the blocks `block`, block + 1, ... of the stream of `seed`.
  void (*uniform[kArithmeticDTypeCount])(void* out, int64_t count, uint64_t seed, uint64_t block,
                                         const UniformIn<double>& in);
  void (*normal[kArithmeticDTypeCount])(void* out, int64_t count, uint64_t seed, uint64_t block, double mean,
                                        double stddev);
};

BW_KERNEL_TABLE(RandomKernels, random_kernels)

}  // namespace beeswax::cpu
