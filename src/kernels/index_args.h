// SPDX-License-Identifier: Apache-2.0
// What indexing kernels are called with.
#pragma once

#include "kernels/args.h"
#include "tables/index_limits.h"

namespace beeswax::gpu {

/// The ids of an operation. One that is not in [0, size) skips where it is `skip`, and is an error otherwise.
struct IdsArgs {
  const void* ids;
  uint32_t kind;  // by dtype: 0 u8, 1 u32, 2 i16, 3 i32, 4 i64
  int64_t skip;   // the largest of the dtype
  int64_t size;   // of the indexed axis
  Reporter report;
  // For messages: the place of an id is (first + its offset) / stride where ids are one list that all columns
  // share, and first + the linear index where stride is 0; times `step`.
  int64_t first, stride, step;
};

struct CheckIdsArgs {
  IdsArgs ids;
  uint32_t count;
  Walk<1> walk;
};

/// y[i] = x[i's offset + id * axis_stride], or 0 where the id skips. Where `columns` is not 0, y is `rows` of
/// as many elements, and they are made by panels of a block's width of columns, so that what ids of a panel
/// name stays in a cache.
struct GatherArgs {
  const void* x;
  void* y;
  uint32_t count, columns;
  Divisor rows;
  int64_t axis_stride;
  IdsArgs ids;
  Walk<2> walk;  // x without a step along the axis, ids
};

/// The same of rows of x, of `length` elements side by side; y has `columns` in each of its rows. Linear
/// indices are those of y.
struct GatherRowsArgs {
  const void* x;
  void* y;
  uint32_t length, columns;
  int64_t ids_stride;  // in a row
  IdsArgs ids;
  Walk<2> walk;  // rows of x, of ids
};

/// y[i's offset + id * axis_stride] = x[i's offset]. Where ids may name an element twice, `winner` has a
/// number for each element that they can name: 1 + the linear index of the last that does.
struct ScatterArgs {
  const void* x;
  void* y;
  uint32_t* winner;  // or null: all ids of a column differ
  uint32_t count;
  int64_t axis_stride, winner_stride;
  IdsArgs ids;
  Walk<4> walk;  // x, ids, y without a step along the axis, winner without one
};

/// keys[i] = the number of the column of i times the axis' size, plus its id; `skipped` where it skips.
struct IndexKeysArgs {
  IdsArgs ids;
  uint32_t* keys;
  uint32_t count, skipped;
  Walk<2> walk;  // ids, the first key of the column
};

/// Adds rows of contributions to the rows that keys name. keys are sorted; place[p] says which contribution
/// has keys[p].
struct IndexSumArgs {
  const uint32_t* keys;
  const uint32_t* place;
  uint32_t count;    // of contributions
  uint32_t skipped;  // a key that names nothing
  const void* x;
  void* y;
  uint32_t columns;       // of a row, in packs where the kernel works in packs
  uint32_t tile_columns;  // that a block takes, a power of two
  Divisor column_tiles;   // of a row
  Walk<1> from;           // where contribution n begins in x
  Walk<1> to;             // where the row of a key begins in y
  Walk<2> column;         // where a column is in both
  void* partials;         // sums of chunks: [slot][column]
};

}  // namespace beeswax::gpu
