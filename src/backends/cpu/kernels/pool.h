// SPDX-License-Identifier: Apache-2.0
// The pooling loops of one instruction-set level, over the tiles of kernels/conv.h. Averages add a window's
// elements, numbered in row-major order, in the documented order of reductions: element i goes to lane i mod
// 64 of its chunk of 512, lanes add in order, then a tree over the lanes, then the chunks' sums by the same
// rule. Integers are summed in 64 bits and the quotient is truncated.
#pragma once

#include "backends/cpu/kernels/conv.h"

namespace beeswax::cpu {

/// out[r * out_row + c] for every output of the block, in the compute type.
struct PoolBlock {
  ConvTerms terms;
  void* out;
  int64_t out_row;
  void* window;  // room for one window's elements in the compute type, 64 at least
};

struct PoolKernels {
  void (*average[kArithmeticDTypeCount])(const PoolBlock&);
  void (*max[kArithmeticDTypeCount])(const PoolBlock&);  // NaN propagates, -0 < +0
};
BW_KERNEL_TABLE(PoolKernels, pool_kernels)

}  // namespace beeswax::cpu
