// SPDX-License-Identifier: Apache-2.0
// Loops that find the place of an extreme. A running best is replaced by an element that is better by the
// table's rule, or by the first NaN; so the lowest index wins whatever the order of the work.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "backends/cpu/isa.h"

namespace beeswax::cpu {

inline constexpr int64_t kArgRows = 1024;         // the most rows that `columns` takes at once,
inline constexpr int64_t kArgByteRows = 256;      // and of elements of one byte
inline constexpr int64_t kArgRowBytes = 1 << 15;  // the most bytes of elements in one of them
inline constexpr int64_t kBestBytes = 8;          // of a best element, in the loops' own form

/// Row i of `columns` neighbouring columns begins at x + offsets[i] elements.
struct ArgColumnsArgs {
  const void* x;
  const int64_t* offsets;
  int64_t rows;  // at most kArgRows
  int64_t columns;
  bool dense;     // whether the rows follow each other without gaps
  int64_t first;  // the index of the first row
  int64_t next;   // elements from x to that of the next call, which is requested
  void* scratch;  // kBestBytes for each column
  void* best;     // kBestBytes for each column
  uint32_t* at;
};

struct ArgReduceLoops {
  /// The best of the dense elements x[0, count) goes to *best (kBestBytes), and first + its index to *at, if
  /// it beats what *best holds; or in any case where `start`.
  void (*row)(const void* x, int64_t count, int64_t first, bool start, void* best, uint32_t* at);
  /// For each column the best element and its index.
  void (*columns)(const ArgColumnsArgs& args);
  /// *best and *at of `count` columns (or rows) become those of other, later elements where these are better.
  void (*join)(const void* other, const uint32_t* other_at, int64_t count, void* best, uint32_t* at);
};

inline constexpr int kArgReduceOps = 0
#define BW_ARG_REDUCE(...) +1
#include "tables/reduce.def"
    ;

struct ArgReduceKernels {
  /// By operation and dtype, over elements of the dtype itself.
  ArgReduceLoops loops[kArgReduceOps][kArithmeticDTypeCount];
};

BW_KERNEL_TABLE(ArgReduceKernels, arg_reduce_kernels)

}  // namespace beeswax::cpu
