// SPDX-License-Identifier: Apache-2.0
// Transposes by element size: [0] 1 byte, [1] 2, [2] 4, [3] 8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/isa.h"

namespace beeswax::cpu {

struct TransposeKernels {
  /// out[r * out_row + c] = from[c * from_col + r], r < rows, c < cols. With `past_caches`, whole lines of
  /// the output go past the caches; other threads see them only after copy_kernels().fence().
  void (*transpose[4])(void* out, int64_t out_row, const void* from, int64_t from_col, int64_t rows,
                       int64_t cols, bool past_caches);
};

BW_KERNEL_TABLE(TransposeKernels, transpose_kernels)

}  // namespace beeswax::cpu
