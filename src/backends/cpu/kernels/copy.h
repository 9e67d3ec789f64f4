// SPDX-License-Identifier: Apache-2.0
// Loops that move elements and never look at them, by element size: [0] 1 byte, [1] 2, [2] 4, [3] 8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/isa.h"

namespace beeswax::cpu {

struct CopyKernels {
  /// out[i] = from[i * stride], i < count (stride 0 repeats one element).
  void (*gather[4])(void* out, const void* from, int64_t stride, int64_t count);
  /// out[i * stride] = from[i], i < count.
  void (*scatter[4])(void* out, int64_t stride, const void* from, int64_t count);
  /// A copy past the caches, for results too large to stay in them. Any alignment. Other threads see it only
  /// after this one has called fence().
  void (*stream)(void* out, const void* from, size_t bytes);
  /// The same of `rows` rows of `bytes` each, dense in `from` and `stride` bytes apart in `out`.
  void (*stream_rows)(std::byte* out, size_t stride, const std::byte* from, size_t bytes, int64_t rows);
  void (*fence)();
};

BW_KERNEL_TABLE(CopyKernels, copy_kernels)

}  // namespace beeswax::cpu
