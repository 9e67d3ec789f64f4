// SPDX-License-Identifier: Apache-2.0
// Matrix products without matrix units: f32 (f16, bf16 and f8e4m3 widen to it, in any mixture), f64 and integers.
#include "kernels/gemm.h"

namespace beeswax::gpu {

template <class T, GemmTile tile, class Shared>
BW_DEVICE void gemm(const GemmArgs& args, Shared& shared) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  int64_t offset[3];
  offsets_at(args.batch, at.batch, offset);
  StridedSide<T, tile.rows, tile.step> a(args.a, offset[0], args.a_type, args.a_row, args.a_step, row, args.m, args.k);
  StridedSide<T, tile.columns, tile.step> b(args.b, offset[1], args.b_type, args.b_column, args.b_step, column, args.n,
                                            args.k);
  T sums[tile.rows_each][tile.columns_each];
  gemm_sums<T, tile>(a, b, args.k, shared, sums);
  constexpr int kColumnThreads = tile.columns / tile.columns_each;
  using Rows = TileSpan<T, tile.rows_each, kGemmThreads / kColumnThreads>;
  using Columns = TileSpan<T, tile.columns_each, kColumnThreads>;
#pragma unroll
  for (int i = 0; i < tile.rows_each; ++i) {
    const uint32_t r = row + Rows::place(thread() / kColumnThreads, i);
    if (r >= args.m) continue;
#pragma unroll
    for (int j = 0; j < tile.columns_each; ++j) {
      const uint32_t c = column + Columns::place(thread() % kColumnThreads, j);
      if (c < args.n) store_element(args.c, offset[2] + r * args.c_row + c * args.c_column, args.c_type, sums[i][j]);
    }
  }
}

#define BW_GEMM(name, T, tile)                                               \
  BW_KERNEL(kGemmThreads) gemm_##name(GemmArgs args) {                       \
    BW_SHARED static GemmShared<T, tile.rows, tile.columns, tile.step> shared; \
    gemm<T, tile>(args, shared);                                             \
  }
BW_GEMM(f32_large, float, kGemmLarge)
BW_GEMM(f32, float, kGemmSmall)
BW_GEMM(f64, double, kGemmWide)
BW_GEMM(bits32, uint32_t, kGemmSmall)
BW_GEMM(bits64, uint64_t, kGemmWide)

}  // namespace beeswax::gpu
