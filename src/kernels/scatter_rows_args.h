// SPDX-License-Identifier: Apache-2.0
// What the kernels of scatter_rows.cc are called with: short rows of scatter_add, several in a block.
#pragma once

#include "kernels/index_args.h"

namespace beeswax::gpu {

/// Threads of a block, and where a row has more contributions than they can take.
inline constexpr int kRowsThreads = 256;
inline constexpr int kLongRowsThreads = 512;
inline constexpr int kRowsItems = 8;  // contributions that a thread takes
/// The most contributions of a block; places in shared lists are half words.
constexpr int most_in_rows(bool longer) { return (longer ? kLongRowsThreads : kRowsThreads) * kRowsItems; }
inline constexpr int kRowsSorters =
    8;  // waves of a block that put long lists into order, where it has as many

/// Where the parts of a block's shared memory begin, in bytes.
struct RowsMemory {
  uint32_t values, at, bits, lists, queue, bytes;
};
/// For rows that have `count` contributions and `places` destinations together. Integers (`lists` is false)
/// need sums alone.
constexpr RowsMemory rows_memory(uint32_t rows, uint32_t count, uint32_t places, uint32_t element,
                                 bool lists) {
  RowsMemory out{};
  const auto whole = [](uint32_t bytes) { return (bytes + 15) / 16 * 16; };
  out.at = 160 + rows * 32;  // after sums of waves, lengths of queues, and where each row begins
  const uint32_t words = (places + 3) / 4 * 4;
  out.values = whole(out.at + words * (lists ? 4 : element));
  if (!lists) {
    out.bytes = out.values;
    return out;
  }
  out.bits = whole(out.values + (count + 1) * element);
  out.lists = out.bits + kRowsSorters * ((count + 31) / 32) * 4;
  out.queue = out.lists + (count + 1) / 2 * 4;
  out.bytes = whole(out.queue + (count / 5 + 1) * 2);
  return out;
}

// Kinds of floats.
inline constexpr uint32_t kRowsBF16 = 0;
inline constexpr uint32_t kRowsF16 = 1;
inline constexpr uint32_t kRowsF8 = 2;
inline constexpr uint32_t kRowsWide = 3;  // as they are computed

/// y[row][id of contribution i] += x[row][i]. A block takes `in_block` rows.
struct ScatterRowsArgs {
  IdsArgs ids;
  const void* x;
  void* y;
  uint32_t kind;  // one of the above; of integers their bytes
  uint32_t rows, in_block;
  uint32_t length;  // contributions of a row
  uint32_t size;    // destinations of a row
  // Contributions and destinations of a block are numbered row by row, or, where it is `across`, each
  // position along the axis with its neighbours in all rows.
  uint32_t across;
  Divisor by_length, by_size;     // across: both in_block
  uint32_t row_step, place_step;  // between numbers of destinations
  int64_t strides[4];             // along the axis: ids, x, y, and the linear index of ids
  Walk<4> walk;                   // where a row begins in these
  RowsMemory memory;
};

}  // namespace beeswax::gpu
