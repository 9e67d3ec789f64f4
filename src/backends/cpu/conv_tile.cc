// SPDX-License-Identifier: Apache-2.0
// The plan of a tile: only the rows and columns that some term reads, however far the taps lie apart.
#include "backends/cpu/conv_tile.h"

#include <algorithm>

#include "core/divide.h"

namespace beeswax::cpu {
const std::byte* Copied::make(const Operand& x, const Layout& layout) {
  const Layout dense(layout.shape());
  CpuBackend& backend = CpuBackend::instance();
  memory_ = backend.allocate(dtype_bytes(x.dtype, static_cast<size_t>(layout.shape().elem_count())));
  backend.copy({x.storage, &layout, x.dtype}, {memory_.get(), &dense, x.dtype});
  return memory_->data();
}

void set_input(ConvInput& input, const Operand& x, Copied& copied) {
  const Layout& layout = *x.layout;
  if (layout.dim(3) > 1 && layout.stride(3) != 1) {
    // What a broadcast repeats is copied once.
    Layout once = layout;
    for (int axis = 0; axis < 3; ++axis)
      if (layout.stride(axis) == 0 && layout.dim(axis) > 1) once = once.narrow(axis, 0, 1);
    const auto step = [&](int axis, int64_t size) { return layout.stride(axis) == 0 ? 0 : size; };
    input.in = copied.make(x, once);
    input.in_row = step(2, once.dim(3));
    input.in_channel = step(1, once.dim(2) * once.dim(3));
    input.in_batch = step(0, once.dim(1) * once.dim(2) * once.dim(3));
  } else {
    input.in = x.data();
    input.in_row = layout.stride(2);
    input.in_channel = layout.stride(1);
    input.in_batch = layout.stride(0);
  }
}

ConvTile::ConvTile(const ConvInput& input, int64_t rows, int64_t columns) {
  const std::vector<int64_t> tap_column = place_columns(input.x, columns);
  const std::vector<int64_t> slots = place_rows(input.y, rows);
  for (const int64_t slot : slots) row_offset_.push_back(slot * width_);
  plane_ = static_cast<int64_t>(row_at_.size()) * width_;

  const int64_t taps = input.y.taps * input.x.taps;
  const int64_t terms = input.terms();
  const int64_t chain = gemm_block(terms);
  tap_offset_.resize(static_cast<size_t>(terms));
  tap_row_.resize(static_cast<size_t>(terms));
  for (int64_t k = 0; k < terms; ++k) {
    const int64_t first_channel = k / chain * chain / taps;
    const int64_t channel = k / taps - first_channel;
    const auto at = static_cast<size_t>(k);
    tap_row_[at] = k % taps / input.x.taps;
    tap_offset_[at] = channel * plane_ + tap_column[static_cast<size_t>(k % input.x.taps)];
    channels_ = std::max(channels_, channel + 1);
  }
}

// The distinct rows that the block's outputs meet, in order, and the number of each (output, tap)'s.
std::vector<int64_t> ConvTile::place_rows(const ConvAxis& axis, int64_t rows) {
  std::vector<int64_t> slots;
  for (int64_t o = 0; o < rows; ++o)
    for (int64_t t = 0; t < axis.taps; ++t) slots.push_back(o * axis.step + t * axis.tap_step + axis.origin);
  row_at_ = slots;
  std::sort(row_at_.begin(), row_at_.end());
  row_at_.erase(std::unique(row_at_.begin(), row_at_.end()), row_at_.end());
  for (int64_t& slot : slots) slot = std::lower_bound(row_at_.begin(), row_at_.end(), slot) - row_at_.begin();
  return slots;
}

// A tap reads `columns` columns, `step` apart. Taps whose columns have the same remainder share a run where
// their ranges touch. Gives each tap's place in a tile row.
std::vector<int64_t> ConvTile::place_columns(const ConvAxis& axis, int64_t columns) {
  struct Tap {
    int64_t phase, index, tap;
  };
  std::vector<Tap> taps;
  for (int64_t t = 0; t < axis.taps; ++t) {
    const int64_t start = t * axis.tap_step + axis.origin;
    const int64_t index = floor_div(start, axis.step);
    taps.push_back({start - index * axis.step, index, t});
  }
  std::sort(taps.begin(), taps.end(), [](const Tap& a, const Tap& b) {
    return a.phase != b.phase ? a.phase < b.phase : a.index < b.index;
  });
  std::vector<int64_t> place(taps.size());
  int64_t phase = -1, first = 0;  // of the last run
  for (const Tap& tap : taps) {
    if (tap.phase != phase || tap.index > first + runs_.back().count) {
      phase = tap.phase;
      first = tap.index;
      runs_.push_back({tap.index * axis.step + tap.phase, 0, 0, 0, width_});
    }
    ConvRun& run = runs_.back();
    run.count = tap.index + columns - first;
    width_ = run.at + run.count;
    place[static_cast<size_t>(tap.tap)] = run.at + tap.index - first;
  }
  return place;
}

ConvFill ConvTile::fill(const ConvInput& input, const std::byte* from, int64_t channels, int64_t row,
                        int64_t column, ConvRun* run, void* to) const {
  const int64_t step = input.x.step;
  for (size_t i = 0; i < runs_.size(); ++i) {
    run[i] = runs_[i];
    run[i].column += column * step;
    run[i].begin = std::clamp<int64_t>(ceil_div(-run[i].column, step), 0, run[i].count);
    run[i].end = std::clamp<int64_t>(ceil_div(input.x.in - run[i].column, step), run[i].begin, run[i].count);
  }
  return {from,
          input.in_channel,
          input.in_row,
          step,
          channels,
          input.y.in,
          static_cast<int64_t>(row_at_.size()),
          row_at_.data(),
          row * input.y.step,
          runs(),
          run,
          width_,
          plane_,
          to};
}

}  // namespace beeswax::cpu
