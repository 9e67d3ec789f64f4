// SPDX-License-Identifier: Apache-2.0
// Reductions in the documented order (docs/numerics.md) over any view, for reduce, softmax and norms.
//
// A view is seen as [outer][n][columns]: n elements are reduced to one for each of outer * columns results.
// Columns are neighbours in memory where the innermost kept axis is dense, so that loops run across them;
// else there is one column, and loops run along the reduced elements, gathered where they are not dense. Each
// pass reduces chunks of kChunk elements to one, until one is left; passes after the first are over dense
// results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/backend.h"
#include "backends/cpu/chunks.h"
#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/nest.h"
#include "backends/reduce_nest.h"

namespace beeswax::cpu {

struct ReduceView : ReduceNest {
  const std::byte* base;
  DType dtype;
  size_t bytes;    // of one element
  DType compute;   // what sums are of
  CastLoop widen;  // to `compute`; null where the elements are of it

  ReduceView(const Operand& x, uint32_t axes);
  /// Dense elements of `compute`.
  ReduceView(const std::byte* x, DType compute, int64_t outer_count, int64_t n, int64_t columns_count);
  size_t compute_bytes() const { return dtype_bytes(compute, 1); }
};

/// The results in the compute dtype, before they are rounded to the operand's.
void reduce_in_compute(ReduceOp op, const ReduceView& view, std::byte* out);

/// The row-major numbers of the reduced axes: element i of `view`'s reduced sequence begins at offsets[i]
/// elements, for `count` elements from `begin` on.
void reduced_offsets(const ReduceView& view, int64_t begin, int64_t count, int64_t* offsets);

}  // namespace beeswax::cpu
