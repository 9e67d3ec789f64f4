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
  static constexpr uint32_t kCount = TileShare<lanes, step>::kCount;
  TileShare<lanes, step> share;
  ConvWindow window;
  Element type;

  BW_DEVICE_MEMBER ConvLanes(const ConvArgs& args, ConvSteps& steps, Element type_, const ConvPart& part,
                             uint32_t first)
      : share(false), window(args, steps, part, first + share.lane), type(type_) {
    share.k *= kCount;  // terms that follow each other
    share.k_each = 1;
  }

  BW_DEVICE_MEMBER void fetch(uint32_t k, Raw<float> (&raw)[kCount]) const {
    window.fill(k, step);
    const auto* steps =
        reinterpret_cast<const Pack<uint32_t, 4>*>(window.steps.v + (k + share.k) % kConvSteps);
    with_size<float>(type, [&](auto e) __attribute__((always_inline)) {
      const auto* from = static_cast<const decltype(e)*>(window.args.x) + window.x;
      window.with_inside([&](auto in) __attribute__((always_inline)) {
#pragma unroll
        for (uint32_t i = 0; i < kCount / 2; ++i) {
          const Pack<uint32_t, 4> two = steps[i];
          raw[2 * i] = in(two.v[1]) ? from[static_cast<int32_t>(two.v[0])] : e;
          raw[2 * i + 1] = in(two.v[3]) ? from[static_cast<int32_t>(two.v[2])] : e;
        }
      });
    });
  }
};

template <GemmTile tile, class Shared>
BW_DEVICE void conv_float(const ConvArgs& args, Element type, Shared& shared, ConvSteps& steps) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  const ConvPart part = conv_part(args, at.batch);
  StridedSide<float, tile.rows, tile.step> a(args.w, part.w, type, args.w_out, 1, row, args.m, args.k);
  ConvLanes<tile.columns, tile.step> b(args, steps, type, part, column);
  float sums[tile.rows_each][tile.columns_each];
  gemm_sums<float, tile>(a, b, args.k, shared, sums);
  constexpr int kColumnThreads = tile.columns / tile.columns_each;
  using Rows = TileSpan<float, tile.rows_each, kGemmThreads / kColumnThreads>;
  using Columns = TileSpan<float, tile.columns_each, kColumnThreads>;
  with_element<float>(type, [&](auto element) __attribute__((always_inline)) {
    using E = decltype(element);
#pragma unroll
    for (int j = 0; j < tile.columns_each; ++j) {
      const uint32_t c = column + Columns::place(thread() % kColumnThreads, j);
      if (c >= args.n) continue;
      E* to = static_cast<E*>(args.y) + part.y + conv_place(args, c).y;
#pragma unroll
      for (int i = 0; i < tile.rows_each; ++i) {
        const uint32_t r = row + Rows::place(thread() / kColumnThreads, i);
        if (r < args.m) to[r * args.y_channel] = as_element<E>(sums[i][j]);
      }
    }
  });
}

#define BW_CONV_FLOAT(name, tile, type, blocks)                                    \
  BW_KERNEL_SIDE_BY_SIDE(kGemmThreads, blocks) conv_##name(ConvArgs args) {        \
    BW_SHARED static GemmShared<float, tile.rows, tile.columns, tile.step> shared; \
    BW_SHARED static ConvSteps steps;                                              \
    conv_float<tile>(args, type, shared, steps);                                   \
  }
BW_CONV_FLOAT(f32_few, kConvFew, Element::F32, 2)
BW_CONV_FLOAT(f32_some, kConvSome, Element::F32, 3)
BW_CONV_FLOAT(f32_many, kConvMany, Element::F32, 3)
BW_CONV_FLOAT(f32_small, kGemmSmall, Element::F32, 3)
BW_CONV_FLOAT(narrow, kConvSome, args.type, 2)

}  // namespace beeswax::gpu
