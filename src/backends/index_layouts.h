// SPDX-License-Identifier: Apache-2.0
// Layouts of parts of an operand, as indexing takes them apart. Offsets are 0: they count from
// Operand::data().
#pragma once

#include <array>

#include "backends/backend.h"

namespace beeswax {

/// Axes first .. last-1 alone.
inline Layout part_of(const Layout& layout, int first, int last) {
  const auto begin = static_cast<size_t>(first);
  const auto count = static_cast<size_t>(last - first);
  return {Shape(layout.shape().dims().subspan(begin, count)), layout.strides().subspan(begin, count), 0};
}

/// All axes but one.
inline Layout drop_axis(const Layout& layout, int axis) {
  Layout out = Layout(layout.shape(), layout.strides(), 0).squeeze(axis);
  return out;
}

/// The layout cut to `shape`, with no step along `axis`: where the column of each element begins.
inline Layout without_step(const Layout& layout, const Shape& shape, int axis) {
  std::array<int64_t, kMaxRank> strides{};
  for (int i = 0; i < layout.rank(); ++i) strides[static_cast<size_t>(i)] = i == axis ? 0 : layout.stride(i);
  return {shape, std::span(strides.data(), static_cast<size_t>(layout.rank())), 0};
}

/// A list along one axis of `shape`, the same for all columns.
inline Layout along_axis(const Shape& shape, int axis, int64_t stride) {
  std::array<int64_t, kMaxRank> strides{};
  strides[static_cast<size_t>(axis)] = stride;
  return {shape, std::span(strides.data(), static_cast<size_t>(shape.rank())), 0};
}

}  // namespace beeswax
