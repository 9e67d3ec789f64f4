// SPDX-License-Identifier: Apache-2.0
// Layout: how a tensor's elements lie in its storage: shape, strides in elements, offset of the first.
#pragma once

#include "beeswax/shape.h"

namespace beeswax {

class BW_API Layout {
 public:
  Layout() = default;
  /// Dense, row-major.
  explicit Layout(const Shape& shape, int64_t offset = 0);
  Layout(const Shape& shape, std::span<const int64_t> strides, int64_t offset);

  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_[axis]; }
  int64_t stride(int axis) const { return strides_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank())}; }
  int64_t offset() const { return offset_; }

  /// Row-major without gaps; axes of size 1 and the offset do not count, an empty tensor always is.
  bool is_contiguous() const;
  /// Column-major without gaps.
  bool is_fortran_contiguous() const;

  // Views. Axes are already normalized; the arguments were checked by the caller.
  Layout narrow(int axis, int64_t start, int64_t length) const;
  Layout transpose(int a, int b) const;
  Layout permute(std::span<const int> axes) const;
  Layout broadcast_as(const Shape& shape, std::string_view operation) const;
  Layout squeeze(int axis) const;
  Layout unsqueeze(int axis) const;
  Layout unfold(int axis, int64_t size, int64_t step) const;
  /// The same elements under another shape without a copy, if the strides allow it.
  bool reshape_view(const Shape& shape, Layout* out) const;

  /// Offset one past the largest reachable element, relative to the storage's start; 0 when empty.
  int64_t extent() const;

 private:
  Shape shape_;
  std::array<int64_t, kMaxRank> strides_{};
  int64_t offset_ = 0;
};

}  // namespace beeswax
