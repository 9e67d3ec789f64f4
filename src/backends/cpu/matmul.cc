// SPDX-License-Identifier: Apache-2.0
// CpuBackend::matmul: layouts into the strides of one batched product.
#include "backends/cpu/backend.h"
#include "backends/cpu/gemm.h"

namespace beeswax::cpu {

void CpuBackend::matmul(const Operand& a, const Operand& b, const Target& out) {
  const Layout& left = *a.layout;
  const Layout& right = *b.layout;
  const int batch_rank = out.layout->rank() - 2;
  const int row = batch_rank, column = batch_rank + 1;
  GemmArgs args;
  args.types = {a.dtype, b.dtype, out.dtype};
  args.m = left.dim(row);
  args.k = left.dim(column);
  args.n = right.dim(column);
  args.a = a.data();
  args.a_row = left.stride(row);
  args.a_col = left.stride(column);
  args.b = b.data();
  args.b_row = right.stride(row);
  args.b_col = right.stride(column);
  args.c = out.data();
  args.c_row = args.n;
  args.c_batch = args.m * args.n;
  args.batch_rank = batch_rank;
  for (int i = 0; i < batch_rank; ++i) {
    const auto at = static_cast<size_t>(i);
    args.batch[at] = out.layout->dim(i);
    args.a_batch[at] = left.stride(i);
    args.b_batch[at] = right.stride(i);
  }
  gemm(args);
}

}  // namespace beeswax::cpu
