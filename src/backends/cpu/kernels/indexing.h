// SPDX-License-Identifier: Apache-2.0
// Loops over ids. Ids are read once into int64, where -1 means "skip"; the moves then work on those and know
// only the size of an element ([0] 1 byte, [1] 2, [2] 4, [3] 8), so that they keep every bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/isa.h"

namespace beeswax::cpu {

/// Ids that are read at once: their int64 form stays in the first cache.
inline constexpr int64_t kIdBlock = 1024;

/// A run of a gather with ids as they are stored.
struct GatherRun {
  void* out;
  const void* from;
  int64_t step, axis_stride;
  const void* ids;
  int64_t id_stride, count, size;
  bool far;  // whether every element of `from` is likely to lie in a line of its own, beyond the caches
};

struct IndexingKernels {
  /// out[i] = ids[i * stride] where that lies in [0, size), else -1. True if every other id is the largest of
  /// its type. By dtype: [0] u8, [1] u32, [2] i16, [3] i32, [4] i64.
  bool (*load[5])(int64_t* out, const void* ids, int64_t stride, int64_t count, int64_t size);
  /// The answer of load alone.
  bool (*check[5])(const void* ids, int64_t stride, int64_t count, int64_t size);
  /// out[i] = ids[i] < 0 ? 0 : from[i * step + ids[i] * axis_stride].
  void (*take[4])(void* out, const void* from, int64_t step, int64_t axis_stride, const int64_t* ids,
                  int64_t count);
  /// out[i] = from[i * step + id * axis_stride] for id = ids[i * id_stride] in [0, size), else 0. True if
  /// every id outside is the largest of its type. By the ids' dtype, as in `load`, and the element's size.
  bool (*gather[5][4])(const GatherRun& run);
  /// out[i * step + ids[i] * axis_stride] = from[i * from_stride] where ids[i] >= 0, in increasing i.
  void (*put[4])(void* out, int64_t step, int64_t axis_stride, const int64_t* ids, const void* from,
                 int64_t from_stride, int64_t count);
};

BW_KERNEL_TABLE(IndexingKernels, indexing_kernels)

}  // namespace beeswax::cpu
