// SPDX-License-Identifier: Apache-2.0
// The convolution loops of one instruction-set level. A block of outputs (some rows by some columns) reads a
// tile: the input it needs, in the compute type, with zeros where the window reaches past the edges, and laid
// out so that neighbouring outputs of one row lie next to each other for every tap, whatever the stride. Term
// k of the sum, for the output in row r and column c of the block, is
//   tile[tap_offset[k] + row_offset[r * taps_y + tap_row[k]] + c].
// The order of additions is that of the matrix product (backends/cpu/gemm.h).
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm.h"

namespace beeswax::cpu {

/// A run of input columns `step` apart: the first at `column` of the input, `count` of them, of which those
/// in [begin, end) exist; they go to `at` of a tile row.
struct ConvRun {
  int64_t column, count, begin, end, at;
};

/// Fills the tile rows of some channels.
struct ConvFill {
  const void* from;  // column 0 of row 0 of the first channel
  int64_t channel_stride, row_stride, step;
  int64_t channels, height;  // of the input
  int64_t rows;              // of the tile, per channel
  const int64_t* row_at;     // the input row of each, less first_row; outside [0, height) it is zeros
  int64_t first_row;
  int64_t runs;
  const ConvRun* run;
  int64_t width, plane;  // elements of a tile row and channel
  void* to;
};

/// Terms [0, k) of a block of outputs.
struct ConvTerms {
  int64_t k;
  const int64_t* tap_offset;
  const int64_t* tap_row;
  int64_t taps_y;
  const int64_t* row_offset;
  int64_t rows, columns;  // of outputs
  const void* tile;
};

/// The terms as panels of B (kernels/gemm.h), rows * columns outputs broad. Writes up to a vector past the
/// end.
struct ConvPack {
  ConvTerms terms;
  int64_t width;  // of a panel, at most kConvPanel
  void* to;
};
inline constexpr int64_t kConvPanel = 64;

/// sums[i, r, c] = or += sum over k of weights[i, k] * term k, for few output channels i.
struct ConvDirect {
  ConvTerms terms;
  int64_t channels;
  const void* weights;  // in the compute type
  int64_t weight_row;
  void* sums;
  int64_t sum_channel, sum_row;
  bool add;
};

// Loops read up to two vectors past the last term of a tile.
struct ConvKernels {
  void (*fill[kArithmeticDTypeCount])(const ConvFill&);
  void (*pack[kGemmComputeCount])(const ConvPack&);
  void (*direct[kGemmComputeCount])(const ConvDirect&);
  // to[i * stride] = from[i] rounded to the dtype.
  void (*scatter[kArithmeticDTypeCount])(const void* from, int64_t count, void* to, int64_t stride);
};
BW_KERNEL_TABLE(ConvKernels, conv_kernels)

}  // namespace beeswax::cpu
