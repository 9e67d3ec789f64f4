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

/// Most columns that add_rows takes at once: its lanes stay in the first two caches.
inline constexpr int64_t kSumWidth = 128;

/// Contributions to destination `id`: order[begin .. end).
struct IdGroup {
  int64_t id;
  int64_t begin;
  int64_t end;
};

struct IndexSumKernels {
  /// out[c * step] += sum of from[order[k] * row_stride + c], k < count, for c < width <= kSumWidth.
  void (*add_rows[kArithmeticDTypeCount])(void* out, int64_t step, const void* from, int64_t row_stride,
                                          const int64_t* order, int64_t count, int64_t width);
  /// out[group.id * axis_stride] += sum of from[order[k] * from_stride] over the group, for each group.
  void (*add_groups[kArithmeticDTypeCount])(void* out, int64_t axis_stride, const void* from,
                                            int64_t from_stride, const int64_t* order, const IdGroup* groups,
                                            int64_t group_count);
};

BW_KERNEL_TABLE(IndexSumKernels, index_sum_kernels)

}  // namespace beeswax::cpu
