// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions: what their kernels are called with, and their tile shapes. Strides are in
// elements.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

/// How an operand's elements are read and a result's are written; Bits are integers, which wrap.
enum class Element : uint32_t { F32, F16, BF16, F8E4M3, F64, Bits8, Bits16, Bits32, Bits64 };

/// A tile of a product: a block of kGemmThreads threads makes rows x columns, `step` of k at a time, and a
/// thread rows_each x columns_each of them.
struct GemmTile {
  int rows, columns, step, rows_each, columns_each;
};
inline constexpr int kGemmThreads = 256;
inline constexpr GemmTile kGemmLarge = {128, 128, 16, 8, 8};  // f32 where there are enough tiles
inline constexpr GemmTile kGemmSmall = {64, 64, 16, 4, 4};
inline constexpr GemmTile kGemmWide = {64, 64, 8, 4, 4};  // f64 and i64
inline constexpr GemmTile kGemmMma = {128, 128, 32, 64,
                                      1};  // matrix units: waves share a tile by their own plan
// Convolutions on them, and where those tiles would leave a GPU idle.
inline constexpr GemmTile kConvMma = {64, 128, 32, 32, 1};
inline constexpr GemmTile kConvMmaSmall = {32, 64, 32, 8, 1};
// Convolutions without them: up to 32 output channels of a group, and more.
inline constexpr GemmTile kConvFew = {32, 256, 8, 4, 8};
inline constexpr GemmTile kConvSome = {64, 128, 16, 4, 8};
inline constexpr GemmTile kConvMany = {128, 64, 16, 8, 4};

/// Tiles that follow each other go down this many tile rows before they go across, so that those which run at
/// the same time share operands in the second-level cache.
inline constexpr uint32_t kGemmBand = 8;
struct GemmGrid {
  uint32_t down, across;  // tiles
  Divisor tiles;          // of one product
  Divisor band;           // of one band of kGemmBand tile rows
};

/// c[i, j] = sum over p of a[i, p] b[p, j], for every matrix of a batch (a walk over a, b and c).
struct GemmArgs {
  const void* a;
  const void* b;
  void* c;
  uint32_t m, n, k;
  Element a_type, b_type, c_type;
  int64_t a_row, a_step, b_step, b_column, c_row, c_column;
  GemmGrid grid;
  Walk<3> batch;
};

/// Few rows: y[r, j] = sum over p of x[r, p] w[p, j], r < rows <= kThinRows. A block sums some
/// columns over one part of k; parts are added by gemm_thin_sum.
inline constexpr int kThinRows = 8;
inline constexpr int kThinThreads = 256;
inline constexpr int kThinLine = 4;  // columns of a thread, where w is dense along them
/// Columns of a wave, where w is dense along k: so many that reading x again for each block costs little.
constexpr int thin_columns(int w_bytes) { return w_bytes == 4 ? 4 : 2; }
/// Elements of x in shared memory, as f32: rows x a chunk of k.
inline constexpr int kThinShared = 8192;
struct ThinArgs {
  const void* x;
  const void* w;
  void* y;
  uint32_t rows, columns, k;
  Element x_type, y_type;
  int64_t x_row, x_step, w_step, w_column, y_row, y_column;
  uint32_t parts, part_steps;  // parts of k and their length; with more than one, y is `sums`
  uint32_t blocks;             // of one product and part
  float* sums;                 // [batch][parts][rows][columns]
  Walk<3> batch;
};
/// y = the sum of the parts, in order.
struct ThinSumArgs {
  const float* sums;
  void* y;
  uint32_t rows, columns, parts;
  Element y_type;
  int64_t y_row, y_column;
  uint32_t count;  // of all results of the batch
  Walk<1> batch;
};

/// One axis of a convolution: output o and tap t meet at input position o * step + t * tap_step + origin.
struct ConvAxis {
  int32_t in, taps, step, tap_step, origin;
};
/// Sums of a transposed convolution that differ only in where they begin: class i of an axis has the taps i,
/// i + count, ... Output `first` of it is the first, where input position `origin` meets tap i: stride origin
/// = i dilation - padding - first, negated.
struct ConvClassAxis {
  int32_t count, stride, padding, dilation;
  int64_t w, y;  // from one class to the next in the kernel, from one output to the next in the result
};
/// How a kernel that gathers windows tells which terms of a window lie in the image: all do; by one bit for
/// each row and column of taps; by their 16-bit distance from the window's first position.
enum class ConvInside : uint32_t { All, Bits, Distances };
inline constexpr int kConvBitRows = 15, kConvBitColumns = 16;
/// No position that an output and a tap make is further from the image's first one.
inline constexpr int kConvDistance = (1 << 14) - 1;
/// A convolution as a product: rows are the output channels of a group, columns the outputs of all images,
/// and k goes over channels, tap rows and tap columns. The batch is the groups.
struct ConvArgs {
  const void* w;
  const void* x;
  void* y;
  uint32_t m, n, k, groups;
  Element type;
  int64_t w_group, w_out, w_in, w_row, w_column;  // strides of the kernel
  int64_t x_image, x_group, x_channel, x_row, x_column;
  int64_t y_image, y_group, y_channel, y_row, y_column;
  ConvAxis down, across;
  Divisor taps, tap_columns;        // k -> channel, tap row, tap column
  Divisor outputs, output_columns;  // column -> image, output row, output column
  GemmGrid grid;
  // Of kernels whose w is dense along k:
  ConvInside inside;
  ConvClassAxis class_down, class_across;  // a batch is its classes and their groups
  uint32_t packs;                          // on matrix units: results may be stored as aligned packs of 8
};
/// Terms of k whose places a block keeps in shared memory.
inline constexpr int kConvTable = kGemmThreads;
/// Up to so many output channels in a group, a thread sums one output by itself.
inline constexpr int kConvDirect = 4;

/// Groups of one input channel and few outputs. A plane is a channel of one image; a block makes a tile of
/// one, or all of several small ones. A thread sums kConvPlaneOutputs outputs: below each other, or apart
/// across where there is one row.
struct ConvPlanesArgs {
  ConvArgs conv;
  uint32_t count, each;                       // planes, and those of a block
  Divisor groups;                             // plane -> image
  Divisor channels;                           // plane and output channel -> plane
  Divisor tiles, tiles_across;                // of a plane
  uint32_t rows, columns;                     // of a tile
  uint32_t out_rows;                          // of a plane
  Divisor window_rows, pitch;                 // what the outputs of a tile see: its rows, and elements of one
  int32_t down_first, across_first;           // where the first tile's window begins in the image
  int32_t first_tap;                          // of the first output, in its window
  Divisor items, item_columns;                // threads' shares of a tile
  uint32_t item_rows, next_row, next_column;  // rows of a share; from one of its outputs to the next
  uint32_t slides;  // 3 x 3 taps, neighbours across, and outputs of a share as far below each other as taps
};
inline constexpr int kConvPlaneOutputs = 4;
inline constexpr int kConvWindow = 16384;       // bytes in shared memory
inline constexpr int kConvPlaneWeights = 2048;  // likewise
inline constexpr int kConvMostPlanes = 64;      // of a block

}  // namespace beeswax::gpu
