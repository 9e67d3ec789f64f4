// SPDX-License-Identifier: Apache-2.0
// Loops of reductions: one chunk of the documented order (docs/numerics.md) at a time, over the compute type
// A of a dtype. The caller splits a sequence into chunks of kChunk elements and reduces the chunks' results
// again.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/cast.h"

namespace beeswax::cpu {

inline constexpr int64_t kChunk = 512;
inline constexpr int64_t kLanes = 64;
/// Chunks of a sequence of n elements.
inline constexpr int64_t chunks_of(int64_t n) { return (n + kChunk - 1) / kChunk; }
inline constexpr int64_t kBlockColumns = 64;      // the most columns that `blocks` takes
inline constexpr int64_t kStripeBytes = 1 << 15;  // the most bytes of sums in a row of `columns`

/// y[i] = map(x[i], centers[i * step]), step 0 or 1. y may be x. Null centers (step 0) are for maps without
/// one.
using MapFn = void (*)(const void* x, int64_t count, const void* centers, int64_t step, void* y);

/// One chunk of neighbouring columns: row i begins at x + offsets[i] elements.
struct ColumnsArgs {
  const void* x;
  const int64_t* offsets;
  int64_t rows;  // at most kChunk
  int64_t columns;
  bool dense;           // row i + 1 follows row i without a gap
  bool from_memory;     // what is read is more than caches hold
  int64_t next;         // elements from x to that of the next call, which is requested where rows are dense
  int64_t bytes;        // of one element of x
  CastLoop widen;       // to A, or null where x holds what the loop takes
  MapFn map;            // or null
  const void* centers;  // one for each column, or null
  void* scratch;        // 64-byte aligned, of columns_scratch bytes
  void* out;            // a result for each column
};
inline constexpr int64_t kStreams = kChunk / kLanes;  // rows that are read at a time
inline constexpr int64_t kCopied = 512;               // elements of each that are widened or mapped
inline constexpr int64_t kGroups = 8;
/// Neighbouring lanes that `columns` does in one go, if `kept` times as many have to be kept: as many as the
/// second cache has room for beside what goes by.
inline constexpr int64_t column_range(int64_t kept, int64_t columns, int64_t sum_bytes) {
  int64_t lanes = kGroups;
  while (lanes > 1 && kept * lanes * columns * sum_bytes > (1 << 19)) lanes /= 2;
  return lanes;
}
/// Sets of kGroups lanes, of `sets`, that are kept until the tree joins them with those of the other half.
inline constexpr int64_t sets_kept(int64_t sets) { return sets > 1 ? sets / 2 : 1; }
/// Lanes whose sums there is room for, at least: all where they stay near beside what goes by.
inline constexpr int64_t lanes_kept(int64_t columns, int64_t sum_bytes) {
  return kLanes * columns * sum_bytes <= 1 << 17 ? kLanes : kLanes / 2;
}
/// Bytes of scratch for sums that take up to sum_bytes each.
inline constexpr int64_t columns_scratch(int64_t columns, int64_t sum_bytes) {
  constexpr int64_t kKept = sets_kept(kLanes / kGroups);
  const int64_t sets = (1 + kKept) * column_range(kKept, columns, sum_bytes);
  const int64_t lanes = lanes_kept(columns, sum_bytes);
  return (kStreams * kCopied + (kGroups + (sets < lanes ? lanes : sets)) * columns) * sum_bytes;
}

struct ReduceLoops {
  /// Unit u is a dense block of `rows` <= kChunk rows of `columns` <= kBlockColumns elements at
  /// x + u * unit_stride; its rows are reduced to out[u * columns ..].
  void (*blocks)(const void* x, int64_t unit_stride, int64_t units, int64_t rows, int64_t columns, void* out);
  void (*columns)(const ColumnsArgs& args);
  /// The same of the dtype's own elements, which it maps; null where they must be widened or mapped first.
  void (*own_columns)(const ColumnsArgs& args);
  /// out[u] = chunk u of kChunk dense elements of the dtype itself, at x + u * unit_stride, mapped and
  /// reduced; null where the elements must be widened or mapped first.
  void (*whole)(const void* x, int64_t unit_stride, int64_t units, void* out);
  MapFn map;  // null where the map is the element itself
  /// values[i] = final(values[i], n, centers[i]); null where the value stays.
  void (*finish)(void* values, int64_t count, int64_t n, const void* centers);
};

inline constexpr int kReduceOps = 0
#define BW_REDUCE(...) +1
#include "tables/reduce.def"
    ;

struct ReduceKernels {
  /// By operation and dtype; the entries of a narrow dtype are those of float, except for `own_columns` and
  /// `whole`.
  ReduceLoops loops[kReduceOps][kArithmeticDTypeCount];
};

BW_KERNEL_TABLE(ReduceKernels, reduce_kernels)

/// The row of the table whose result is the center of this one, or -1.
inline constexpr int kNoCenter = -1;
int reduce_center(ReduceOp op);

}  // namespace beeswax::cpu
