// SPDX-License-Identifier: Apache-2.0
// Sums of the contributions to one destination, in the documented order: contribution k goes to lane k mod 64
// of its 512-long chunk, lanes add in increasing k, a fixed tree joins the lanes, chunks are joined by the
// same rule. The sum is then added to the destination's value, and rounded once where the dtype is narrower
// than f32.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// Most columns that add_rows takes at once: its partial sums stay in the first cache.
inline constexpr int64_t kSumWidth = 512;

/// Contributions to destination `id`: order[begin .. end).
struct IdGroup {
  int64_t id;
  int64_t begin;
  int64_t end;
};

/// Contributions to one destination for which IdColumn::slots has room.
inline constexpr int64_t kSlots = 8;

/// One column of scatter_add: contribution i, at from[i * from_stride], goes to to[ids[i] * to_stride] (or
/// nowhere where the id is negative). The working arrays have `count` elements; `places` has one for every
/// destination and is 0 before and after. `values` holds elements of the type that sums are made in.
struct IdColumn {
  void* to;
  const void* from;
  const int64_t* ids;
  int64_t to_stride, from_stride, count;
  int64_t* places;
  int64_t* touched;
  void* values;
  /// Room for kSlots such elements for each of `size` destinations, or null where many are expected to get
  /// more contributions, or most to get none.
  void* slots;
  int64_t size;
};

struct IndexSumKernels {
  /// out[c] += sum of from[order[k] * row_stride + c], k < count, for c < width <= kSumWidth.
  void (*add_rows[kArithmeticDTypeCount])(void* out, const void* from, int64_t row_stride,
                                          const int64_t* order, int64_t count, int64_t width);
  /// out[group.id * axis_stride] += sum of from[order[k] * from_stride] over the group, for each group.
  void (*add_groups[kArithmeticDTypeCount])(void* out, int64_t axis_stride, const void* from,
                                            int64_t from_stride, const int64_t* order, const IdGroup* groups,
                                            int64_t group_count);
  void (*add_column[kArithmeticDTypeCount])(const IdColumn& column);
};

BW_KERNEL_TABLE(IndexSumKernels, index_sum_kernels)

}  // namespace beeswax::cpu
