// SPDX-License-Identifier: Apache-2.0
// Layout: how a tensor's elements lie in its storage: shape, strides in elements, offset of the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "beeswax/shape.h"

namespace beeswax {

class StridedIndex;
struct StridedBlocks;

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

  /// Where the elements lie in the storage, in row-major order: for (int64_t at : layout.strided_index()).
  StridedIndex strided_index() const;
  /// The same in runs of neighbours, as long as the strides allow.
  StridedBlocks strided_blocks() const;

 private:
  Shape shape_;
  std::array<int64_t, kMaxRank> strides_{};
  int64_t offset_ = 0;
};

/// The places of a layout's elements in its storage (in elements, from the storage's start), in row-major
/// order.
class BW_API StridedIndex {
 public:
  class BW_API Iterator {
   public:
    using value_type = int64_t;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const Layout* layout);
    int64_t operator*() const { return place_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return left_ == 0; }

   private:
    const Layout* layout_ = nullptr;
    std::array<int64_t, kMaxRank> position_{};
    int64_t place_ = 0;
    int64_t left_ = 0;
  };

  StridedIndex() = default;
  explicit StridedIndex(const Layout& layout) : layout_(layout) {}
  Iterator begin() const { return Iterator(&layout_); }  ///< valid as long as this object
  std::default_sentinel_t end() const { return {}; }
  int64_t size() const { return layout_.shape().elem_count(); }

 private:
  Layout layout_;
};

/// Runs of `length` neighbouring elements that begin at `starts`; a dense layout has one. No elements: none.
struct StridedBlocks {
  int64_t length = 0;
  StridedIndex starts;
};

}  // namespace beeswax
