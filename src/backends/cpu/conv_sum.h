// SPDX-License-Identifier: Apache-2.0
// ConvSum: what convolutions and transposed convolutions have in common on the CPU, a sum over channels and
// taps. Output (g, co, oy, ox) of an image is
//   sum over ci, ty, tx of kernel[g, co, ci, ty, tx] * x[g, ci, y.at(oy, ty), x.at(ox, tx)],
// where positions outside the input are zeros. The terms are numbered k = (ci * taps_y + ty) * taps_x + tx
// and added in the order of the matrix product (gemm.h): so the bits depend on the shape of the sum alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/conv.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// Output o and tap t of an axis meet at input position o * step + t * tap_step + origin.
struct ConvAxis {
  int64_t in, out, taps;
  int64_t step, tap_step, origin;  // tap_step may be negative
};

/// Strides count elements.
struct ConvSum {
  DType dtype;
  int64_t batch, groups, c_in, c_out;  // channels per group
  ConvAxis y, x;
  const std::byte* in;  // columns are dense; the groups' channels follow each other
  int64_t in_batch, in_channel, in_row;
  const std::byte* kernel;  // [groups * c_out][terms], dense
  std::byte* out;           // the groups' channels follow each other
  int64_t out_batch, out_channel, out_row, out_column;

  int64_t terms() const { return c_in * y.taps * x.taps; }
};

/// Writes every output of the sum.
void conv_sum(const ConvSum& sum);

/// The tile (kernels/conv.h) of a block of up to `rows` by `columns` outputs: which input it takes and where
/// each term finds it.
class ConvTile {
 public:
  ConvTile(const ConvSum& sum, int64_t rows, int64_t columns);

  int64_t plane() const { return plane_; }
  /// The most channels that the terms of one block of gemm's order touch.
  int64_t channels() const { return channels_; }
  /// Offset and tap row of each term, counted from the first channel of its block of terms.
  const int64_t* tap_offset() const { return tap_offset_.data(); }
  const int64_t* tap_row() const { return tap_row_.data(); }
  const int64_t* row_offset() const { return row_offset_.data(); }
  int64_t runs() const { return static_cast<int64_t>(runs_.size()); }

  /// The fill of `channels` channels from `from` on, for the outputs from (row, column) on. `run` has room
  /// for runs() elements.
  ConvFill fill(const ConvSum& sum, const std::byte* from, int64_t channels, int64_t row, int64_t column,
                ConvRun* run, void* to) const;

 private:
  std::vector<int64_t> place_rows(const ConvAxis& axis, int64_t rows);
  std::vector<int64_t> place_columns(const ConvAxis& axis, int64_t columns);

  std::vector<int64_t> row_at_, row_offset_, tap_offset_, tap_row_;
  std::vector<ConvRun> runs_;
  int64_t width_ = 0, plane_ = 0, channels_ = 0;
};

}  // namespace beeswax::cpu
