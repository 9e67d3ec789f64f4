// SPDX-License-Identifier: Apache-2.0
// Softmax and norms over dense rows of a dtype's own elements.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/reduce.h"

namespace beeswax::cpu {

/// Rows that lie one after another. Working memory and weights hold the dtype's compute type A.
struct RowArgs {
  const void* x;
  int64_t rows;
  int64_t n;  // elements of a row, at least 1
  void* y;    // the results, likewise
  bool past_caches;
  void* scratch;       // row_scratch(n) elements of A
  const void* weight;  // of norms: n of A
  const void* bias;    // of layer_norm: n of A, or null
  double eps;
};

/// Rows are computed a block at a time, each step for all rows of the block: short rows would otherwise wait
/// for their own sums, and every long one would read its weights from the second-level cache.
inline constexpr int64_t kRowBlock = 4096;        // elements in a block of short rows, or one row
inline constexpr int64_t kTogetherBlock = 16384;  // elements of long rows in one block, at most
inline constexpr int64_t kMostRowsInBlock = kRowBlock / kLanes;
inline constexpr int64_t padded_row(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
/// Rows of a block: as many short ones as fill kRowBlock, or up to `together` that fit kTogetherBlock; at
/// least 1.
inline constexpr int64_t rows_in_block(int64_t padded, int64_t together) {
  const int64_t fit = kTogetherBlock / padded < together ? kTogetherBlock / padded : together;
  const int64_t least = fit < 1 ? 1 : fit;
  return kRowBlock / padded < least ? least : kRowBlock / padded;
}
/// Elements of a block twice, and its chunks' sums; a row has at least kLanes elements to a chunk there.
inline constexpr int64_t row_scratch(int64_t n) {
  const int64_t block = padded_row(n) > kTogetherBlock ? padded_row(n) : kTogetherBlock;
  return 2 * block + block / kLanes;
}

struct RowLoops {
  void (*softmax)(const RowArgs& args);
  void (*log_softmax)(const RowArgs& args);
  /// x * (1 / sqrt(mean(x^2) + eps)) * weight.
  void (*rms_norm)(const RowArgs& args);
  /// (x - mean) * (1 / sqrt(var + eps)) * weight + bias, two passes.
  void (*layer_norm)(const RowArgs& args);
};

struct RowKernels {
  RowLoops loops[kArithmeticDTypeCount];  // null for integers
};

BW_KERNEL_TABLE(RowKernels, row_kernels)

}  // namespace beeswax::cpu
