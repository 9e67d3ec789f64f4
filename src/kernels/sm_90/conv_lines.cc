// SPDX-License-Identifier: Apache-2.0
// Convolutions of f32 on Hopper, as products of the kernel and the image's places (conv_wgmma.cc) without
// matrix units, through the ring of lines_ring.h. Tiles that do not go evenly on the blocks are cut along k,
// and what several blocks summed up of one is added by conv_lines_join, in order.
//   floors: 2 m n k over the rate of fused multiply-adds, n counting all places; the bytes of image, places
//   (twice), kernel and result over the bandwidth
#include "kernels/sm_90/conv_places.h"
#include "kernels/sm_90/lines_ring.h"

namespace beeswax::gpu {

template <LinesTile tile>
struct ConvLines {
  using Ring = LinesRing<tile, false, false>;
  using Sums = typename Ring::Sums;
  static constexpr uint32_t kSums = 64, kTileSums = kSums * kLinesThreads;

  BW_DEVICE_MEMBER static uint32_t first_row(const TilePlace& at) { return at.row * tile.rows; }
  BW_DEVICE_MEMBER static uint32_t first_column(const TilePlace& at) { return at.column * tile.columns; }

  BW_DEVICE_MEMBER static void store(const ConvHopperArgs& args, uint32_t number, const Sums& sums) {
    const TilePlace at = tile_place(args.product.grid, number);
    const uint32_t row = first_row(at), column = first_column(at);
    float* const y = conv_results<float>(args, at.batch);
#pragma unroll
    for (int j = 0; j < Ring::B::kOwn; ++j) {
      const ConvOutput output = conv_output(args, column + Ring::column(j));
      if (!output.exists) continue;
#pragma unroll
      for (int i = 0; i < Ring::A::kOwn; ++i) {
        const uint32_t channel = row + Ring::row(i);
        if (channel < args.product.m) y[channel * args.y_channel + output.offset] = sums[i][j];
      }
    }
  }

  /// This thread's first sum of one of the two tiles that a block may have a part of.
  BW_DEVICE_MEMBER static float* part(const ConvHopperArgs& args, uint32_t of_block, uint32_t which) {
    return args.parts + (int64_t{of_block} * 2 + which) * kTileSums + thread();
  }
  template <class Each>
  BW_DEVICE_MEMBER static void each(Each with) {
#pragma unroll
    for (int i = 0; i < Ring::A::kOwn; ++i)
#pragma unroll
      for (int j = 0; j < Ring::B::kOwn; ++j) with(i, j, (i * Ring::B::kOwn + j) * kLinesThreads);
  }

  BW_DEVICE_MEMBER static void multiply(const ConvHopperArgs& args, const ConvHopperArgs* maps) {
    const uint32_t begin = block() * args.share;
    const uint32_t end = begin + args.share < args.all_steps ? begin + args.share : args.all_steps;
    const Ring ring;
    ring.run(
        [&](auto body) __attribute__((always_inline)) {
#pragma unroll 1
          for (uint32_t at = begin; at < end;) {
            const uint32_t number = divide(at, args.steps), first = at - number * args.steps.divisor;
            const uint32_t left = end - at, whole = args.steps.divisor - first;
            const uint32_t steps = left < whole ? left : whole;
            body(LinesSegment{number, first, first + steps});
            at += steps;
          }
        },
        [&](const LinesSegment& segment, uint32_t step, uint32_t a, uint32_t b, uint32_t ready)
            __attribute__((always_inline)) {
              const TilePlace at = tile_place(args.product.grid, segment.tile);
              load_conv_step<kLinesStep>(args, maps, at.batch, first_row(at), first_column(at), step, a, b,
                                         ready);
            },
        [&](const LinesSegment& segment, const Sums& sums) __attribute__((always_inline)) {
          if (segment.last - segment.first == args.steps.divisor) return store(args, segment.tile, sums);
          const bool is_first = segment.tile * args.steps.divisor + segment.first == begin;
          float* const to = part(args, block(), is_first ? 0 : 1);
          each([&](int i, int j, int at) __attribute__((always_inline)) { to[at] = sums[i][j]; });
        });
  }

  /// Where share number block() + 1 begins within a tile, and is the first to do so: the tile's parts added.
  BW_DEVICE_MEMBER static void join(const ConvHopperArgs& args) {
    const uint32_t begin = (block() + 1) * args.share, number = divide(begin, args.steps);
    const uint32_t first = number * args.steps.divisor, last = first + args.steps.divisor;
    if (begin == first || begin - args.share > first) return;
    const float* from = part(args, block(), begin - args.share == first ? 0 : 1);
    Sums sums;
    each([&](int i, int j, int at) __attribute__((always_inline)) { sums[i][j] = from[at]; });
    for (uint32_t next = block() + 1; next * args.share < last; ++next) {
      const float* more = part(args, next, 0);
      each([&](int i, int j, int at) __attribute__((always_inline)) { sums[i][j] += more[at]; });
    }
    store(args, number, sums);
  }
};

#define BW_CONV_LINES(rows, tile)                                                                   \
  BW_KERNEL_OF_REGISTERS(kLinesThreads + 128) conv_lines_##rows(ConvHopperArgs args) {              \
    ConvLines<kLinesTiles[tile]>::multiply(args, BW_ARGUMENT("conv_lines_" #rows, ConvHopperArgs)); \
  }                                                                                                 \
  BW_KERNEL_OF_REGISTERS(kLinesThreads) conv_lines_join_##rows(ConvHopperArgs args) {               \
    ConvLines<kLinesTiles[tile]>::join(args);                                                       \
  }
BW_CONV_LINES(128, 0)
BW_CONV_LINES(64, 1)

}  // namespace beeswax::gpu
