// SPDX-License-Identifier: Apache-2.0
// Convolutions as products whose columns are gathered from the image on their way to shared memory: the
// matrix of all windows never exists. Positions outside the image are zeros that take part in the sum.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of image, kernel and result over the
//   bandwidth
#include "kernels/conv.h"
#include "kernels/gemm.h"

namespace beeswax::gpu {

/// Where a term of k lies in the kernel and, relative to a window, in the image.
struct ConvTerm {
  int64_t w, x;
  int32_t down, across;
};
BW_DEVICE ConvTerm conv_term(const ConvArgs& args, uint32_t k) {
  const ConvTap at = conv_tap(args, k);
  ConvTerm term;
  term.down = static_cast<int32_t>(at.row) * args.down.tap_step;
  term.across = static_cast<int32_t>(at.column) * args.across.tap_step;
  term.w = at.channel * args.w_in + at.row * args.w_row + at.column * args.w_column;
  term.x = at.channel * args.x_channel + term.down * args.x_row + term.across * args.x_column;
  return term;
}

BW_DEVICE bool in_image(const ConvArgs& args, const ConvPlace& at, const ConvTerm& term) {
  return on_axis(args.down, at.down + term.down) && on_axis(args.across, at.across + term.across);
}

/// The kernel as the side whose lanes are output channels; it also keeps the table of terms that both sides
/// read.
template <class T, int lanes, int step>
struct ConvWeights {
  TileShare<lanes, step> share;
  const ConvArgs& args;
  ConvTerm* table;
  int64_t offset;
  uint32_t first;
  Element type;

  BW_DEVICE_MEMBER ConvWeights(const ConvArgs& args_, ConvTerm* table_, int64_t offset_, uint32_t first_)
      : share(true), args(args_), table(table_), offset(offset_), first(first_), type(args_.type) {}

  BW_DEVICE_MEMBER void fetch(uint32_t k, Raw<T> (&raw)[TileShare<lanes, step>::kCount]) const {
    if (k % kConvTable == 0) {
      barrier();
      if (k + thread() < args.k) table[thread()] = conv_term(args, k + thread());
      barrier();
    }
    const uint32_t at = k + share.k;
    const int64_t term = at < args.k ? table[at % kConvTable].w : 0;
    with_size<T>(type, [&](auto e) __attribute__((always_inline)) {
      const auto* from = static_cast<const decltype(e)*>(args.w) + offset + term;
#pragma unroll
      for (uint32_t i = 0; i < TileShare<lanes, step>::kCount; ++i) {
        const uint32_t lane = first + share.lane + i * share.lane_each;
        raw[i] = at < args.k && lane < args.m ? from[lane * args.w_out] : e;
      }
    });
  }
};

/// The image as the side whose lanes are outputs.
template <class T, int lanes, int step>
struct ConvWindows {
  TileShare<lanes, step> share;
  const ConvArgs& args;
  const ConvTerm* table;
  ConvPlace at;
  bool exists;
  Element type;

  BW_DEVICE_MEMBER ConvWindows(const ConvArgs& args_, const ConvTerm* table_, int64_t offset, uint32_t first)
      : share(false), args(args_), table(table_), exists(first + share.lane < args_.n), type(args_.type) {
    at = conv_place(args, exists ? first + share.lane : 0);
    at.x += offset;
  }

  BW_DEVICE_MEMBER void fetch(uint32_t k, Raw<T> (&raw)[TileShare<lanes, step>::kCount]) const {
    with_size<T>(type, [&](auto e) __attribute__((always_inline)) {
      const auto* from = static_cast<const decltype(e)*>(args.x) + at.x;
#pragma unroll
      for (uint32_t i = 0; i < TileShare<lanes, step>::kCount; ++i) {
        const uint32_t place = k + share.k + i * share.k_each;
        const ConvTerm term = table[place % kConvTable];
        raw[i] = exists && place < args.k && in_image(args, at, term) ? from[term.x] : e;
      }
    });
  }
};

template <class T, GemmTile tile, class Shared>
BW_DEVICE void conv(const ConvArgs& args, Shared& shared, ConvTerm* table) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  ConvWeights<T, tile.rows, tile.step> a(args, table, at.batch * args.w_group, row);
  ConvWindows<T, tile.columns, tile.step> b(args, table, at.batch * args.x_group, column);
  T sums[tile.rows_each][tile.columns_each];
  gemm_sums<T, tile>(a, b, args.k, shared, sums);
  constexpr int kColumnThreads = tile.columns / tile.columns_each;
  using Rows = TileSpan<T, tile.rows_each, kGemmThreads / kColumnThreads>;
  using Columns = TileSpan<T, tile.columns_each, kColumnThreads>;
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

/// One output of few channels: the terms in order, straight from memory.
template <class T>
BW_DEVICE void conv_direct(const ConvArgs& args) {
  const uint32_t index = block() * kGemmThreads + thread();
  const uint32_t lane = divide(index, args.grid.tiles);  // group and channel; args.grid.tiles holds n
  if (lane >= args.groups * args.m) return;
  const uint32_t group = lane / args.m, channel = lane - group * args.m;
  const ConvPlace at = conv_place(args, index - lane * args.n);
  T sum = T(0);
  with_size<T>(args.type, [&](auto e) __attribute__((always_inline)) {
    using E = decltype(e);
    const E* w_channel = static_cast<const E*>(args.w) + group * args.w_group + channel * args.w_out;
    const E* x_channel = static_cast<const E*>(args.x) + group * args.x_group + at.x;
    const int64_t x_row = args.down.tap_step * args.x_row, x_column = args.across.tap_step * args.x_column;
    const uint32_t channels = args.k / args.taps.divisor;
#pragma unroll 1
    for (uint32_t c = 0; c < channels; ++c) {
      const E *w_row = w_channel, *x_line = x_channel;
      int32_t down = at.down;
#pragma unroll 1
      for (int32_t i = 0; i < args.down.taps; ++i) {
        const bool inside = on_axis(args.down, down);
        const E *from_w = w_row, *from_x = x_line;
        int32_t across = at.across;
#pragma unroll 1
        for (int32_t j = 0; j < args.across.taps; ++j) {
          const Raw<T> a = *from_w;
          const Raw<T> b = inside && on_axis(args.across, across) ? *from_x : e;
          sum = multiply_add(widen<T>(a, args.type), widen<T>(b, args.type), sum);
          from_w += args.w_column;
          from_x += x_column;
          across += args.across.tap_step;
        }
        w_row += args.w_row;
        x_line += x_row;
        down += args.down.tap_step;
      }
      w_channel += args.w_in;
      x_channel += args.x_channel;
    }
  });
  store_element(args.y, group * args.y_group + channel * args.y_channel + at.y, args.type, sum);
}

#define BW_CONV(name, T, tile)                                                 \
  BW_KERNEL(kGemmThreads) conv_##name(ConvArgs args) {                         \
    BW_SHARED static GemmShared<T, tile.rows, tile.columns, tile.step> shared; \
    BW_SHARED static ConvTerm table[kConvTable];                               \
    conv<T, tile>(args, shared, table);                                        \
  }                                                                            \
  BW_KERNEL(kGemmThreads) conv_direct_##name(ConvArgs args) { conv_direct<T>(args); }
BW_CONV(f32, float, kGemmSmall)
BW_CONV(f64, double, kGemmWide)
BW_CONV(bits32, uint32_t, kGemmSmall)
BW_CONV(bits64, uint64_t, kGemmWide)

}  // namespace beeswax::gpu
