// SPDX-License-Identifier: Apache-2.0
// Softmax of rows that threads share: each takes a part of every row, and meets the others once a row.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/rows.h"

namespace beeswax::cpu {

/// Elements of a part, which begins at a chunk of its row: a multiple of this.
inline constexpr int64_t kPartStep = kChunk;

/// One step of a thread with its part of the rows: the row before is written while this row's terms are made
/// and summed; then the next row is read for its largest element. All pointers are to the part's elements.
struct SoftmaxStep {
  const void* x;     // this row, or null: there is none any more
  const void* last;  // the row before, or null
  void* y;           // the results of the row before
  const void* next;  // the next row, or null
  int64_t n;         // elements, at least 1
  bool past_caches;
  void* scratch;       // row_scratch(n) elements of the compute type, the same for each step
  void* partials;      // chunks_of(n) of the compute type: the sums of this row's chunks
  const double* tops;  // the largest elements of this row's parts
  int64_t parts;       // of a row
  double last_top;     // the largest element of the row before,
  double last_scale;   // and what its sum makes
  double* next_top;    // the largest element of the next row's part
};

struct SoftmaxSharedKernels {
  struct Loops {
    void (*step)(const SoftmaxStep& step);
    /// The largest element of a row and its scale, of its parts' largest and its chunks' sums, which it
    /// overwrites.
    void (*join)(const double* tops, int64_t parts, void* partials, int64_t chunks, double* top,
                 double* scale);
  };
  /// By dtype, and of logarithms; null where the level cannot widen it in registers, and for integers.
  Loops loops[kArithmeticDTypeCount][2];
};

BW_KERNEL_TABLE(SoftmaxSharedKernels, softmax_shared_kernels)

}  // namespace beeswax::cpu
