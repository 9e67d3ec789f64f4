// SPDX-License-Identifier: Apache-2.0
// Matrices that lie across the result: tiles of them are turned in shared memory, so that reads and writes
// are both of whole lines.
#pragma once

#include "kernels/map.h"
#include "kernels/transpose_args.h"

namespace beeswax::gpu {

/// One tile of a matrix. What its rows are longer than kSide keeps its columns in different banks.
template <class S>
struct TransposeTile {
  static constexpr uint32_t kSide = transpose_tile(sizeof(S));
  S at[kSide][kSide + (sizeof(S) < 4 ? 4 / sizeof(S) : 1)];
};
/// Where a block's tile begins in its matrix, and where that lies in n operands.
template <int n>
struct TilePlace {
  uint32_t row, column;
  int64_t offset[n];

  template <class Args>
  BW_DEVICE_MEMBER TilePlace(const Args& args, uint32_t side) : TilePlace(args, side, side) {}
  template <class Args>
  BW_DEVICE_MEMBER TilePlace(const Args& args, uint32_t tile_rows, uint32_t tile_columns) {
    const uint32_t rows = divide(block(), args.column_tiles), matrix = divide(rows, args.row_tiles);
    column = (block() - rows * args.column_tiles.divisor) * tile_columns;
    row = (rows - matrix * args.row_tiles.divisor) * tile_rows;
    offsets_at(args.batch, matrix, offset);
  }
};

/// The same number, which is taken to differ from thread to thread.
BW_DEVICE int64_t in_vectors(int64_t value) {
  uint32_t words[2];
  __builtin_memcpy(words, &value, sizeof(words));
  BW_HIDE_WORD(words[0]);
  BW_HIDE_WORD(words[1]);
  __builtin_memcpy(&value, words, sizeof(value));
  return value;
}

/// y[i] = f(i, turned[...], other[...]): rows are the axis along which `turned` is dense, columns the one
/// along which y is. kLong: functions of which one at a time is work enough.
template <bool kLong, class Y, class S, class F, class Other>
BW_DEVICE void map_turned(const TurnedArgs& args, Y* y, TransposeTile<S>& tile, F f, const S* turned,
                          Other other) {
  constexpr uint32_t kSide = TransposeTile<S>::kSide, kRows = kTileThreads / kSide, kEach = kSide / kRows;
  const TilePlace<3> place(args, kSide);
  const uint32_t in = thread() % kSide, across = thread() / kSide;
  const uint32_t column = place.column + in, row = place.row + across;
  const int64_t from = place.offset[1] + column * args.columns_stride[1];
  const int64_t to = place.offset[2] + column;
  // Loads first, as transpose_part has them.
  S values[kEach] = {}, others[kEach] = {};
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t c = place.column + across + i * kRows, r = place.row + in;
    if (r < args.rows && c < args.columns)
      values[i] = turned[place.offset[0] + r + c * args.columns_stride[0]];
  }
  const auto other_at = [&](uint32_t r) __attribute__((always_inline)) {
    return other.at(from + r * args.rows_stride[1]);
  };
  if constexpr (!kLong) {
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t r = row + i * kRows;
      if (r < args.rows && column < args.columns) others[i] = other_at(r);
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) tile.at[across + i * kRows][in] = values[i];
  barrier();
  if (column >= args.columns) return;
  const auto one = [&](uint32_t i, int64_t at, S second) __attribute__((always_inline)) {
    y[at] = f(at, tile.at[in][across + i * kRows], second);
  };
  if constexpr (kLong) {
    // Strides in vector registers: such a function's constants want the scalar ones.
    const int64_t other_step = in_vectors(args.rows_stride[1]), step = in_vectors(args.rows_stride[2]);
#pragma unroll 1
    for (uint32_t i = 0; i < kEach && row + i * kRows < args.rows; ++i) {
      const uint32_t r = row + i * kRows;
      one(i, to + r * step, other.at(from + r * other_step));
    }
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kEach; ++i)
      if (const uint32_t r = row + i * kRows; r < args.rows) one(i, to + r * args.rows_stride[2], others[i]);
  }
}

}  // namespace beeswax::gpu
