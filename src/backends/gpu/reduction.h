// SPDX-License-Identifier: Apache-2.0
// Reductions in the documented order (docs/numerics.md) over any view, for reduce, softmax, norms and running
// sums. Each pass turns chunks of 512 elements into one, until one is left; a row of up to 512 chunks is one
// pass of its own where there are rows enough to fill the device.
#pragma once

#include "backends/gpu/launch.h"
#include "backends/reduce_nest.h"
#include "kernels/reduce_args.h"

namespace beeswax::gpu {

/// A temporary of the pool; it may be given back when the work that uses it is submitted.
class PoolScratch {
 public:
  PoolScratch(Gpu& gpu, int64_t bytes)
      : gpu_(gpu), data_(bytes > 0 ? gpu.pool().take(static_cast<size_t>(bytes), gpu.current()) : nullptr) {}
  ~PoolScratch() {
    if (data_ != nullptr) gpu_.pool().give(data_);
  }
  PoolScratch(const PoolScratch&) = delete;
  PoolScratch& operator=(const PoolScratch&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  Gpu& gpu_;
  void* data_;
};

/// Fewer neighbouring columns than this are reduced as rows with strides.
inline constexpr int64_t kLeastColumns = 16;

struct ReduceView : ReduceNest {
  const std::byte* base;
  DType dtype;

  ReduceView(const Operand& x, uint32_t axes, int64_t least_columns = kLeastColumns);
  ReduceView(const std::byte* x, DType type, int64_t outer_count, int64_t n, int64_t columns_count)
      : ReduceNest(outer_count, n, columns_count), base(x), dtype(type) {}
  /// Whether kernels can walk it; else it is to be copied first.
  bool fits() const;
};

/// What is made of the sums: the row's last step or nothing, in the operand's dtype or in what it is computed
/// in.
enum class Finish { InDType, InCompute, None };

/// results() values at `y`. `centers` may hold the results, in the compute dtype, of the row that `op` has
/// for its center. `mapping` is the first pass's kernel over rows where that is not the row's own.
void reduce_view(Gpu& gpu, ReduceOp op, const ReduceView& view, Finish finish, std::byte* y,
                 const std::byte* centers = nullptr, const Kernel* mapping = nullptr);
/// The sum of each chunk of dense rows: ceil(n / 512) of them for each row, in the compute dtype.
void chunk_sums(Gpu& gpu, const ReduceView& rows, std::byte* y);

/// The reduced axes of a view, as kernels walk them.
ReducedAxes reduced_axes(const Nest<1>& reduced);
/// Whether every row begins at a multiple of `bytes`.
bool rows_begin_at(const std::byte* base, DType dtype, const Nest<1>& outer, int bytes);
/// Whether every row has its columns in packs of `own`, each beginning where such packs do.
bool columns_in_packs(const ReduceView& view, int64_t own);

/// ceil(log2(n)) for n >= 1.
constexpr uint32_t log2_up(int64_t n) {
  return static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(n - 1)));
}

}  // namespace beeswax::gpu
