// SPDX-License-Identifier: Apache-2.0
// Pooling and upsampling: what their kernels are called with. Strides are in elements.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

/// Planes with any strides, channel within image.
struct Planes {
  int64_t image, channel, row, column;
};
/// An output's number -> column, row, channel, image.
struct PlaneOutputs {
  Divisor columns, rows, channels;
};

struct PoolArgs {
  const void* x;
  void* y;
  uint32_t count;          // outputs of this launch
  uint32_t average;        // or else the maximum
  uint32_t packed;         // windows of 2 by 2, 2 apart, of whose rows threads take packs
  uint32_t rows, columns;  // of a window
  Divisor window_columns;
  int64_t row_step, column_step;  // elements of x from one window to the next
  Planes from;
  PlaneOutputs outputs;
};
/// Averages of floats over more elements are left to reductions, whose order they share.
inline constexpr int kPoolWindow = 64;

/// Where the outputs of one axis come from.
struct UpsamplePlace {
  uint32_t low, high;
  double weight;  // of high
};
struct UpsampleAxis {
  void* to;  // of UpsamplePlace; nearest: of uint32_t
  uint32_t in, out;
  double scale;
};
struct UpsampleAxesArgs {
  UpsampleAxis rows, columns;
  uint32_t bilinear, align_corners;
};
struct UpsampleArgs {
  const void* x;
  void* y;
  uint32_t count;
  const void* rows;     // of UpsamplePlace; nearest: of uint32_t, or null: output i comes from i * in / out
  const void* columns;  // likewise
  uint32_t in_rows, in_columns, first_row;
  Divisor out_rows, out_columns;
  uint32_t packed;  // nearest: threads make packs of neighbours in a row, in kUpsamplePlanes planes each
  uint32_t planes;
  Planes from;
  PlaneOutputs outputs;
};
/// Where a pack comes from is the same in all planes: a thread makes it in as many.
inline constexpr uint32_t kUpsamplePlanes = 4;

}  // namespace beeswax::gpu
