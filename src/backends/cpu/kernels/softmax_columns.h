// SPDX-License-Identifier: Apache-2.0
// Softmax over columns: the results of softmax over rows, with neighbouring columns side by side in
// registers.
#pragma once

#include <cstddef>

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/reduce.h"

namespace beeswax::cpu {

/// Columns whose lanes fit into the first cache.
inline constexpr int64_t kWidthStep = 64;
/// Terms of neighbouring columns that are done at a time: they, the elements, and those of the next columns
/// fill the second cache.
inline constexpr int64_t kColumnsBytes = 1 << 18;

struct SoftmaxColumnsArgs {
  const void* x;     // element (i, c) at x + i * stride + c
  int64_t rows;      // elements of a column, at least 1
  int64_t columns;   // at most `width`
  int64_t stride;    // elements from row to row, of x and of y
  void* y;           // the results, likewise
  bool past_caches;  // every row of y begins at a line then
  const void* next;  // what is requested meanwhile: the x of the next call
  void* scratch;     // 64-byte aligned, softmax_columns_scratch elements of the compute type
  int64_t width;     // numbers in a row of scratch, a multiple of kWidthStep
};

/// The width for columns of `rows` elements, of `columns` that there are; 0 where columns are too long for
/// it.
inline constexpr int64_t softmax_columns_width(int64_t rows, int64_t columns, int64_t compute_bytes) {
  const int64_t most = (columns + kWidthStep - 1) / kWidthStep * kWidthStep;
  const int64_t fits = kColumnsBytes / compute_bytes / rows / kWidthStep * kWidthStep;
  return most < fits ? most : fits;
}
/// Lanes of some columns; the maxima, sums of chunks, and terms of all.
inline constexpr int64_t softmax_columns_scratch(int64_t rows, int64_t width) {
  return kLanes * kWidthStep + (1 + chunks_of(rows) + rows) * width;
}

struct SoftmaxColumnsKernels {
  using Loop = void (*)(const SoftmaxColumnsArgs& args);
  /// By dtype, and of logarithms; null where the level cannot widen it in registers, and for integers.
  Loop loops[kArithmeticDTypeCount][2];
};

BW_KERNEL_TABLE(SoftmaxColumnsKernels, softmax_columns_kernels)

}  // namespace beeswax::cpu
