// SPDX-License-Identifier: Apache-2.0
// Rows whose elements stay in registers (kernels/rows.h): which kernel has them, and how many a block takes.
#pragma once

#include <optional>

#include "backends/gpu/launch.h"
#include "kernels/reduce_args.h"

namespace beeswax::gpu {

/// Rows of n neighbouring elements.
struct DenseRows {
  const std::byte* x;
  int64_t rows, n;
  int64_t stride;  // elements from row to row
};

/// Whether x begins where packs of a thread's lanes do.
bool in_packs(const void* x, DType dtype);
/// Whether all rows do, and are whole packs.
bool in_packs(const DenseRows& rows, DType dtype);

/// A launch over all rows, in parts that fit one: launch(first row, rows).
template <class Launch>
void for_rows(int64_t rows, int64_t per_launch, const Launch& launch) {
  for (int64_t first = 0; first < rows; first += per_launch)
    launch(first, std::min(per_launch, rows - first));
}

/// How rows that fit registers are launched.
struct RowsPlan {
  RowKind kind;
  bool spread;  // over the blocks of a cluster
  uint32_t chunks, block_chunks, width_log2, block_rows;
  LaunchShape launch;  // but for the number of blocks
};
/// For rows of n elements, in packs or loose; over clusters for what has kernels for `spread_target`.
std::optional<RowsPlan> plan_rows(const Gpu& gpu, int64_t n, DType dtype, bool packs,
                                  const char* spread_target = nullptr);

/// Launches `kernel` over all rows; each has y_row elements at y. `args` has what else the kernel takes.
void launch_rows(Gpu& gpu, const Kernel& kernel, const RowsPlan& plan, const DenseRows& rows, DType dtype,
                 std::byte* y, int64_t y_row, RowsArgs args);

}  // namespace beeswax::gpu
