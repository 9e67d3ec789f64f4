// SPDX-License-Identifier: Apache-2.0
// Loops that find the place of an extreme. A running best is replaced by an element that is better by the
// table's rule, or by the first NaN; so the lowest index wins whatever the order of the work.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "backends/cpu/isa.h"

namespace beeswax::cpu {

inline constexpr int64_t kArgRow = 512;  // the most elements that `row` takes at once

struct ArgReduceLoops {
  /// The best of x[0, count), count <= kArgRow, goes to *best, which holds one element of the compute type,
  /// and first + its index to *at, if it beats what *best holds; or in any case where `start`.
  void (*row)(const void* x, int64_t count, int64_t first, bool start, void* best, uint32_t* at);
  /// For each column c: best[c] and at[c] against x[c], the element of index `index`; index 0 starts.
  void (*columns)(const void* x, int64_t columns, int64_t index, void* best, uint32_t* at);
};

inline constexpr int kArgReduceOps = 0
#define BW_ARG_REDUCE(...) +1
#include "tables/reduce.def"
    ;

struct ArgReduceKernels {
  /// By operation and dtype; the entries of a narrow dtype are those of float.
  ArgReduceLoops loops[kArgReduceOps][kArithmeticDTypeCount];
};

BW_KERNEL_TABLE(ArgReduceKernels, arg_reduce_kernels)

}  // namespace beeswax::cpu
