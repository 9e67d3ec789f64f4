// SPDX-License-Identifier: Apache-2.0
// Batches of matrices of which one operand lies across another: kernels turn tiles of them in shared memory
// (kernels/turned.h).
#pragma once

#include "backends/gpu/walk.h"
#include "core/divide.h"
#include "kernels/transpose_args.h"

namespace beeswax::gpu {

/// The axes of a nest that make it a batch of transposes: columns is the axis that is dense in operand x,
/// rows the one that is dense in operand y; -1 where there are none worth it.
struct Turn {
  int rows = -1, columns = -1;
};
template <int n>
Turn turn_of(const Nest<n>& nest, size_t x, size_t y) {
  Turn turn;
  for (int axis = 0; axis < nest.rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (nest.strides[x][i] == 1) turn.columns = axis;
    if (nest.strides[y][i] == 1) turn.rows = axis;
  }
  constexpr int64_t kWorth = 8;  // shorter rows fill tiles too badly
  if (turn.rows < 0 || turn.columns < 0 || turn.rows == turn.columns ||
      nest.dims[static_cast<size_t>(turn.rows)] < kWorth ||
      nest.dims[static_cast<size_t>(turn.columns)] < kWorth)
    return {};
  return turn;
}

/// What a block turns, in elements.
struct TurnedTile {
  int64_t rows, columns;
};
template <int n>
int64_t tiles_of(const Nest<n>& nest, const Turn& turn, const TurnedTile& tile) {
  const int64_t rows = nest.dims[static_cast<size_t>(turn.rows)];
  const int64_t columns = nest.dims[static_cast<size_t>(turn.columns)];
  return nest.count / (rows * columns) * ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
}

/// The walk over a nest's matrices.
template <int n>
Walk<n> batch_of(Nest<n> nest, const Turn& turn) {
  nest.dims[static_cast<size_t>(turn.rows)] = nest.dims[static_cast<size_t>(turn.columns)] = 1;
  return walk_of(nest);
}

/// Calls launch(part, offsets) for parts of a turned nest that one launch can take: halves of the batch, then
/// of the side of more tiles at the border of one, so that short sides stay whole. Small matrices fill their
/// tiles badly, with fewer elements than threads. A tile is not cut.
template <int n, class Launch>
void for_each_turned(const Nest<n>& nest, const Turn& turn, const TurnedTile& tile, const Launch& launch,
                     const std::type_identity_t<std::array<int64_t, n>>& offset = {}) {
  if (nest.count == 0) return;
  const int64_t tiles = tiles_of(nest, turn, tile);
  if (tiles == 1 || (nest.count <= most_elements() && tiles * kTileThreads < 4 * most_elements()))
    return launch(nest, offset);
  const auto rows = static_cast<size_t>(turn.rows), columns = static_cast<size_t>(turn.columns);
  size_t axis =
      ceil_div(nest.dims[rows], tile.rows) >= ceil_div(nest.dims[columns], tile.columns) ? rows : columns;
  int64_t multiple = axis == rows ? tile.rows : tile.columns;
  for (size_t i = 0; i < static_cast<size_t>(nest.rank); ++i) {
    if (i == rows || i == columns || nest.dims[i] == 1) continue;
    axis = i;
    multiple = 1;
    break;
  }
  const int64_t inner = nest.count / nest.dims[axis];
  const int64_t half = ceil_div(ceil_div(nest.dims[axis], 2), multiple) * multiple;
  Nest<n> part = nest;
  part.dims[axis] = half;
  part.count = half * inner;
  for_each_turned(part, turn, tile, launch, offset);
  part.dims[axis] = nest.dims[axis] - half;
  part.count = part.dims[axis] * inner;
  std::array<int64_t, n> rest = offset;
  for (size_t k = 0; k < n; ++k) rest[k] += half * nest.strides[k][axis];
  for_each_turned(part, turn, tile, launch, rest);
}

}  // namespace beeswax::gpu
