// SPDX-License-Identifier: Apache-2.0
// Running sums of dense elements, by compute type.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"

namespace beeswax::cpu {

struct RunningSumKernels {
  /// x[i] += x[i - 1] + ... with *carry before the first; *carry becomes the last.
  void (*along[kComputeTypes])(void* x, int64_t n, void* carry);
  /// Each of `n` sums: sums[i] += x[i]; x[i] = sums[i].
  void (*across[kComputeTypes])(void* x, int64_t n, void* sums);
};

BW_KERNEL_TABLE(RunningSumKernels, running_sum_kernels)

}  // namespace beeswax::cpu
