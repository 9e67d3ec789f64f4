// SPDX-License-Identifier: Apache-2.0
// What sorting kernels are called with. A key is an unsigned number whose order is the documented order of
// elements.
#pragma once

#include "kernels/args.h"
#include "tables/index_limits.h"

namespace beeswax::gpu {

/// How the bits of an element say its order.
struct SortOrder {
  uint32_t bytes;    // of an element: 1, 2, 4, 8
  uint32_t kind;     // 0 unsigned, 1 signed, 2 float
  uint64_t flip;     // all bits of an element where the order is descending, else 0
  uint64_t largest;  // of floats: the bits of the largest number, infinity where there is one; above are NaNs
};

/// Sorts rows, or makes their keys, or takes what was sorted.
struct SortArgs {
  const void* x;
  void* values;   // or null
  uint32_t* ids;  // results; of sort_take, all of a row sorted
  uint32_t rows, length, keep;
  uint32_t width;  // of small rows: places for each
  uint32_t bits;   // of keys that differ
  int64_t stride;  // of a row's elements
  SortOrder order;
  Walk<1> walk;          // of rows
  void* keys;            // sort_keys: where to
  const uint32_t* from;  // sort_take: ids of whole rows
};

/// One pass of a stable radix sort of rows by the digit at `shift`.
struct RadixArgs {
  const void* keys;
  const uint32_t* ids;  // or null: 0, 1, 2, ...
  void* keys_out;       // or null
  uint32_t* ids_out;
  uint32_t* counts;  // [row][digit][tile]
  uint32_t* totals;  // [row][digit]
  uint32_t length, tiles, shift;
};

}  // namespace beeswax::gpu
