// SPDX-License-Identifier: Apache-2.0
// An input seen through windows, and the tile that a block of outputs reads (kernels/conv.h): shared by
// convolutions and pooling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/kernels/conv.h"

namespace beeswax::cpu {

/// Output o and tap t of an axis meet at input position o * step + t * tap_step + origin.
struct ConvAxis {
  int64_t in, out, taps;
  int64_t step, tap_step, origin;  // tap_step may be negative
};

/// What every window takes: c_in channels by y.taps by x.taps. Strides count elements; columns are dense.
struct ConvInput {
  DType dtype;
  int64_t batch, groups, c_in;  // the groups' channels follow each other
  ConvAxis y, x;
  const std::byte* in;
  int64_t in_batch, in_channel, in_row;

  int64_t terms() const { return c_in * y.taps * x.taps; }
};

/// A dense copy of some elements of an operand, in a block of the pool.
class Copied {
 public:
  const std::byte* make(const Operand& x, const Layout& layout);

 private:
  detail::Ref<Storage> memory_;
};

/// Sets data and strides from x, [batch, channels, h, w] with any strides; copies it where its columns are
/// not dense, each row that a broadcast repeats once.
void set_input(ConvInput& input, const Operand& x, Copied& copied);

/// The tile (kernels/conv.h) of a block of up to `rows` by `columns` outputs: which input it takes and where
/// each term finds it.
class ConvTile {
 public:
  ConvTile(const ConvInput& input, int64_t rows, int64_t columns);

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
  ConvFill fill(const ConvInput& input, const std::byte* from, int64_t channels, int64_t row, int64_t column,
                ConvRun* run, void* to) const;

 private:
  std::vector<int64_t> place_rows(const ConvAxis& axis, int64_t rows);
  std::vector<int64_t> place_columns(const ConvAxis& axis, int64_t columns);

  std::vector<int64_t> row_at_, row_offset_, tap_offset_, tap_row_;
  std::vector<ConvRun> runs_;
  int64_t width_ = 0, plane_ = 0, channels_ = 0;
};

}  // namespace beeswax::cpu
