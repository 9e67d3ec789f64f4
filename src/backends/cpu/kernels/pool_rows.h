// SPDX-License-Identifier: Apache-2.0
// Pooling with small windows, a row of outputs at a time, straight from the input: down the rows of a window
// first, then across its columns. That is the documented order where the sides are powers of two; a maximum
// does not depend on it.
#pragma once

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

inline constexpr int64_t kPoolRows = 16;       // of a window, at most
inline constexpr int64_t kPoolTaps = 8;        // columns of a window, at most
inline constexpr int64_t kPoolOutputs = 1024;  // of one call, at most

/// The windows of one row of outputs; columns are dense.
struct PoolRow {
  const void* from;    // the first element of the first window
  int64_t row_step;    // elements between its rows
  int64_t rows, taps;  // of a window
  int64_t step;        // columns between windows, at most kPoolTaps
  int64_t columns;     // outputs
  void* work;          // pool_row_work() bytes
  void* to;            // `columns` elements of the dtype
};
inline constexpr int64_t pool_row_work(int64_t columns, int64_t step, int64_t taps) {
  return 8 * ((columns - 1) * step + taps + columns);
}

struct PoolRowKernels {
  void (*max[kArithmeticDTypeCount])(const PoolRow&);  // null where there is none
  /// Null but for f32 and f64. rows and taps are 1, 2 or 4.
  void (*average[kArithmeticDTypeCount])(const PoolRow&);
};
BW_KERNEL_TABLE(PoolRowKernels, pool_row_kernels)

}  // namespace beeswax::cpu
