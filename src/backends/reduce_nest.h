// SPDX-License-Identifier: Apache-2.0
// ReduceNest: how a reduction over some axes sees its operand: [outer][n][columns], n elements to one result
// for each of outer * columns. Columns are neighbours in memory where the innermost kept axis is dense and
// the innermost reduced one is not; else there is one.
#pragma once

#include "backends/nest.h"

namespace beeswax {

struct ReduceNest {
  Nest<1> outer;
  Nest<1> reduced;
  int64_t columns = 1;

  /// Bit i of `axes` is set where axis i is reduced. Fewer columns than `least_columns` are left to `outer`.
  ReduceNest(const Layout& layout, uint32_t axes, int64_t least_columns = 2)
      : outer(picked(layout, axes, false)), reduced(picked(layout, axes, true)) {
    const bool along = reduced.inner() > 1 && reduced.strides[0][reduced.last()] == 1;
    if (along || outer.inner() < least_columns || outer.strides[0][outer.last()] != 1) return;
    columns = outer.inner();
    outer.count /= columns;
    if (outer.rank > 1) {
      --outer.rank;
    } else {
      outer = one_axis(1, 0);
    }
  }
  /// Dense elements.
  ReduceNest(int64_t outer_count, int64_t n, int64_t columns_count)
      : outer(one_axis(outer_count, n * columns_count)),
        reduced(one_axis(n, columns_count)),
        columns(columns_count) {}

  int64_t n() const { return reduced.count; }
  int64_t results() const { return outer.count * columns; }
  /// Whether the reduced elements (rows of all columns) follow each other without gaps.
  bool dense_rows() const {
    return reduced.count == 1 || (reduced.rank == 1 && reduced.strides[0][0] == columns);
  }

 private:
  // The axes whose bit is `wanted`.
  static Nest<1> picked(const Layout& layout, uint32_t axes, bool wanted) {
    Shape shape;
    std::array<int64_t, kMaxRank> strides{};
    for (int axis = 0; axis < layout.rank(); ++axis) {
      if (((axes >> axis & 1) != 0) != wanted) continue;
      strides[static_cast<size_t>(shape.rank())] = layout.stride(axis);
      shape.push_back(layout.dim(axis));
    }
    const Layout kept(shape, {strides.data(), static_cast<size_t>(shape.rank())}, 0);
    return Nest<1>({&kept});
  }
  static Nest<1> one_axis(int64_t size, int64_t stride) {
    const std::array<int64_t, 1> sizes = {size};
    const std::array<int64_t, 1> strides = {stride};
    const Layout layout(Shape(std::span<const int64_t>(sizes)), strides, 0);
    return Nest<1>({&layout});
  }
};

}  // namespace beeswax
