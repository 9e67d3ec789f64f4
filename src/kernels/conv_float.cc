// SPDX-License-Identifier: Apache-2.0
// Convolutions in f32 of f32 and narrower floats, where matrix units are not to be used: products whose
// columns are gathered from the image on their way to shared memory. Positions outside the image are zeros
// that take part in the sum.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of image, kernel and result over the
//   bandwidth
#include "kernels/conv_gather.h"
#include "kernels/gemm.h"

namespace beeswax::gpu {

/// The image as the side whose lanes are outputs: a thread gathers terms of one of them.
template <int lanes, int step>
struct ConvLanes {
  TileShare<lanes, step> share;
  ConvWindow window;
  Element type;

  BW_DEVICE_MEMBER ConvLanes(const ConvArgs& args, ConvSteps& steps, int64_t offset, uint32_t first)
      : share(false), window(args, steps, offset, first + share.lane), type(args.type) {}

  BW_DEVICE_MEMBER void fetch(uint32_t k, Raw<float> (&raw)[TileShare<lanes, step>::kCount]) const {
    window.fill(k, step);
    const ConvStep* steps = window.steps.v + (k + share.k) % kConvSteps;
    with_size<float>(type, [&](auto e) __attribute__((always_inline)) {
      const auto* from = static_cast<const decltype(e)*>(window.args.x) + window.x;
      window.with_inside([&](auto in) __attribute__((always_inline)) {
#pragma unroll
        for (uint32_t i = 0; i < TileShare<lanes, step>::kCount; ++i) {
          const ConvStep at = steps[i * (kGemmThreads / lanes)];
          raw[i] = in(at.where) ? from[at.x] : e;
        }
      });
    });
  }
};

template <GemmTile tile, class Shared>
BW_DEVICE void conv_float(const ConvArgs& args, Shared& shared, ConvSteps& steps) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  StridedSide<float, tile.rows, tile.step> a(args.w, at.batch * args.w_group, args.type, args.w_out, 1, row,
                                             args.m, args.k);
  ConvLanes<tile.columns, tile.step> b(args, steps, at.batch * args.x_group, column);
  float sums[tile.rows_each][tile.columns_each];
  gemm_sums<float, tile>(a, b, args.k, shared, sums);
  constexpr int kColumnThreads = tile.columns / tile.columns_each;
  using Rows = TileSpan<float, tile.rows_each, kGemmThreads / kColumnThreads>;
  using Columns = TileSpan<float, tile.columns_each, kColumnThreads>;
#pragma unroll
  for (int j = 0; j < tile.columns_each; ++j) {
    const uint32_t c = column + Columns::place(thread() % kColumnThreads, j);
    if (c >= args.n) continue;
    const int64_t to = at.batch * args.y_group + conv_place(args, c).y;
#pragma unroll
    for (int i = 0; i < tile.rows_each; ++i) {
      const uint32_t r = row + Rows::place(thread() / kColumnThreads, i);
      if (r < args.m) store_element(args.y, to + r * args.y_channel, args.type, sums[i][j]);
    }
  }
}

#define BW_CONV_FLOAT(name, tile)                                                  \
  BW_KERNEL(kGemmThreads) conv_float_##name(ConvArgs args) {                       \
    BW_SHARED static GemmShared<float, tile.rows, tile.columns, tile.step> shared; \
    BW_SHARED static ConvSteps steps;                                              \
    conv_float<tile>(args, shared, steps);                                         \
  }
BW_CONV_FLOAT(few, kConvFew)
BW_CONV_FLOAT(some, kConvSome)
BW_CONV_FLOAT(many, kGemmLarge)

}  // namespace beeswax::gpu
