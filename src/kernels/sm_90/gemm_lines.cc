// SPDX-License-Identifier: Apache-2.0
// Matrix products of f32 on Hopper: the copy engine brings tiles, threads multiply them straight from shared
// memory. Each element is one chain of fused multiply-adds from +0 in increasing k, as in gemm.h.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of a, b and c over the bandwidth
#include "kernels/sm_90/lines_ring.h"
#include "kernels/sm_90/parts.h"

namespace beeswax::gpu {

template <LinesTile tile, bool turned_a, bool turned_b>
BW_DEVICE void gemm_lines(const HopperArgs& args, const HopperArgs* maps) {
  using Ring = LinesRing<tile, turned_a, turned_b>;
  const Ring ring;
  const uint32_t unit = divide(block(), args.part);
  const uint32_t part = block() - unit * args.part.divisor, first = part * args.part_steps;
  const uint32_t last = first + args.part_steps < args.steps ? first + args.part_steps : args.steps;
  const TilePlace at = tile_place(args.grid, unit);
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  const auto each = [](const auto& sums, auto to) __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < Ring::A::kOwn; ++i)
#pragma unroll
      for (int j = 0; j < Ring::B::kOwn; ++j) to(Ring::row(i), Ring::column(j), sums[i][j]);
  };
  const auto join = [&](const auto& sums, auto parts) __attribute__((always_inline)) {
    products_barrier();
    each(sums, [&](uint32_t r, uint32_t to, float sum)
                   __attribute__((always_inline)) { parts.put(parts.place(r, to), sum); });
    parts.template join<kLinesThreads>(
        part, args.parts,
        [&](uint32_t r, uint32_t to, const Pack<float, 4>& joined) __attribute__((always_inline)) {
          parts.template store<float>(args, at.batch, row + r, column + to, joined);
        });
  };
  ring.run([&](auto body) __attribute__((always_inline)) { body(LinesSegment{unit, first, last}); },
           [&](const LinesSegment&, uint32_t step, uint32_t a, uint32_t b, uint32_t ready)
               __attribute__((always_inline)) {
                 Ring::A::load(a, &maps->a, ready, step * kLinesStep, row, at.batch * args.a_batch);
                 Ring::B::load(b, &maps->b, ready, step * kLinesStep, column, at.batch * args.b_batch);
               },
           [&](const LinesSegment&, const typename Ring::Sums& sums) __attribute__((always_inline)) {
             if (args.parts > 1) {
               using Down = TileParts<tile.rows, tile.columns, true>;
               using Across = TileParts<tile.rows, tile.columns, false>;
               constexpr uint32_t kRoom = tile.stages * Ring::kStage;
               static_assert(Down::kBytes <= kRoom && Across::kBytes <= kRoom);
               args.parts_down != 0 ? join(sums, Down{ring.stages}) : join(sums, Across{ring.stages});
               return;
             }
             float* c = static_cast<float*>(args.c_data) + at.batch * args.c_batch;
             each(sums, [&](uint32_t r, uint32_t to, float sum) __attribute__((always_inline)) {
               if (row + r < args.m && column + to < args.n)
                 c[(row + r) * args.c_row + (column + to) * args.c_column] = sum;
             });
           });
}

#define BW_GEMM_LINES_AS(name, tile, turned_a, turned_b)                                     \
  BW_KERNEL_OF_REGISTERS(kLinesThreads + 128) name(HopperArgs args) {                        \
    gemm_lines<kLinesTiles[tile], turned_a, turned_b>(args, BW_ARGUMENT(#name, HopperArgs)); \
  }
#define BW_GEMM_LINES(rows, tile)                                  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_nt, tile, false, false) \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_nn, tile, false, true)  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_tt, tile, true, false)  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_tn, tile, true, true)
BW_GEMM_LINES(128, 0)
BW_GEMM_LINES(64, 1)

}  // namespace beeswax::gpu
