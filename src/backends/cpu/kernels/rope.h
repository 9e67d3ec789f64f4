// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding of dense rows.
#pragma once

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// Rows of n elements; those of results lie one after another. Strides are in elements.
struct RopeArgs {
  const void* x;
  int64_t x_row;
  const void* cos;  // `half` of the compute type for each row
  const void* sin;
  int64_t angle_row;
  int64_t rows;
  int64_t n;
  int64_t half;  // pairs, at least 1
  void* y;
  bool past_caches;  // y begins at a line, and rows, and what is beyond the pairs, and halves do
};

using RopeLoop = void (*)(const RopeArgs& args);
struct RopeKernels {
  RopeLoop loops[kArithmeticDTypeCount][2];  // by RopePairs; null for integers
};

BW_KERNEL_TABLE(RopeKernels, rope_kernels)

}  // namespace beeswax::cpu
