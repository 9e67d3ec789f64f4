// SPDX-License-Identifier: Apache-2.0
// Nest: the loop nest over one shape and the strides of the N operands that share it, with axes of size 1
// dropped and neighbouring axes merged where every operand allows it. Strides are in elements.
#pragma once

#include <array>
#include <cstdint>

#include "beeswax/layout.h"

namespace beeswax {

template <int N>
struct Nest {
  int rank = 0;
  int64_t count = 1;
  std::array<int64_t, kMaxRank> dims{};
  std::array<std::array<int64_t, kMaxRank>, N> strides{};

  explicit Nest(const std::array<const Layout*, N>& layouts) {
    const Shape& shape = layouts[0]->shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 1) continue;
      count *= shape[axis];
      if (rank > 0 && merges(layouts, axis)) {
        dims[last()] *= shape[axis];
      } else {
        dims[static_cast<size_t>(rank++)] = shape[axis];
      }
      for (size_t k = 0; k < N; ++k) strides[k][last()] = layouts[k]->stride(axis);
    }
    if (rank == 0) {
      rank = 1;
      dims[0] = 1;
    }
  }

  size_t last() const { return static_cast<size_t>(rank - 1); }
  int64_t inner() const { return dims[last()]; }
  /// Whether operand k is one dense run.
  bool dense(size_t k) const { return rank == 1 && (strides[k][0] == 1 || dims[0] == 1); }

 private:
  bool merges(const std::array<const Layout*, N>& layouts, int axis) const {
    const int64_t size = layouts[0]->shape()[axis];
    for (size_t k = 0; k < N; ++k)
      if (strides[k][last()] != layouts[k]->stride(axis) * size) return false;
    return true;
  }
};

/// A place in a nest: the index of the innermost row and the offsets of all operands there.
template <int N>
class NestPosition {
 public:
  NestPosition(const Nest<N>& nest, int64_t linear) : nest_(nest) {
    for (size_t axis = nest.last() + 1; axis-- > 0;) {
      index_[axis] = linear % nest.dims[axis];
      linear /= nest.dims[axis];
      for (size_t k = 0; k < N; ++k) offset_[k] += index_[axis] * nest.strides[k][axis];
    }
  }
  int64_t offset(size_t k) const { return offset_[k]; }
  /// Elements left in this row.
  int64_t left() const { return nest_.inner() - index_[nest_.last()]; }
  /// Goes on by `step` elements, at most left().
  void advance(int64_t step) {
    size_t axis = nest_.last();
    move(axis, step);
    while (index_[axis] == nest_.dims[axis] && axis > 0) {
      move(axis, -nest_.dims[axis]);
      move(--axis, 1);
    }
  }
  /// Goes on by any number of elements.
  void skip(int64_t count) {
    while (count > 0) {
      const int64_t step = count < left() ? count : left();
      advance(step);
      count -= step;
    }
  }

 private:
  void move(size_t axis, int64_t step) {
    index_[axis] += step;
    for (size_t k = 0; k < N; ++k) offset_[k] += step * nest_.strides[k][axis];
  }
  const Nest<N>& nest_;
  std::array<int64_t, kMaxRank> index_{};
  std::array<int64_t, N> offset_{};
};

}  // namespace beeswax
