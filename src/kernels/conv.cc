// SPDX-License-Identifier: Apache-2.0
// Convolutions as products whose columns are gathered from the image on their way to shared memory: the matrix of all
// windows never exists. Positions outside the image are zeros that take part in the sum.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of image, kernel and result over the bandwidth
#include "kernels/gemm.h"

namespace beeswax::gpu {

/// Where a term of k lies in the kernel and, relative to a window, in the image.
struct ConvTerm {
  int64_t w, x;
  int32_t down, across;
};
BW_DEVICE ConvTerm conv_term(const ConvArgs& args, uint32_t k) {
  const uint32_t channel = divide(k, args.taps);
  const uint32_t tap = k - channel * args.taps.divisor;
  const uint32_t row = divide(tap, args.tap_columns);
  const uint32_t column = tap - row * args.tap_columns.divisor;
  ConvTerm term;
  term.down = static_cast<int32_t>(row) * args.down.tap_step;
  term.across = static_cast<int32_t>(column) * args.across.tap_step;
  term.w = channel * args.w_in + row * args.w_row + column * args.w_column;
  term.x = channel * args.x_channel + term.down * args.x_row + term.across * args.x_column;
  return term;
}

/// Where an output lies, and its window.
struct ConvPlace {
  int64_t y, x;
  int32_t down, across;  // the window's first position
};
BW_DEVICE ConvPlace conv_place(const ConvArgs& args, uint32_t column) {
  const uint32_t image = divide(column, args.outputs);
  const uint32_t in = column - image * args.outputs.divisor;
  const uint32_t row = divide(in, args.output_columns);
  const uint32_t across = in - row * args.output_columns.divisor;
  ConvPlace at;
  at.down = static_cast<int32_t>(row) * args.down.step + args.down.origin;
  at.across = static_cast<int32_t>(across) * args.across.step + args.across.origin;
  at.y = image * args.y_image + row * args.y_row + across * args.y_column;
  at.x = image * args.x_image + at.down * args.x_row + at.across * args.x_column;
  return at;
}
BW_DEVICE bool in_image(const ConvArgs& args, const ConvPlace& at, const ConvTerm& term) {
  return static_cast<uint32_t>(at.down + term.down) < static_cast<uint32_t>(args.down.in) &&
         static_cast<uint32_t>(at.across + term.across) < static_cast<uint32_t>(args.across.in);
}

/// Calls load(E) with an unsigned integer of the size of an element of `type`.
template <class T, class Load>
BW_DEVICE void with_size(Element type, Load load) {
  if constexpr (sizeof(T) == 8) {
    load(uint64_t{});
  } else {
    const uint32_t bytes = bytes_of(type);
    if (bytes == 4) {
      load(uint32_t{});
    } else if (bytes == 2) {
      load(uint16_t{});
    } else {
      load(uint8_t{});
    }
  }
}

/// The kernel as the side whose lanes are output channels; it also keeps the table of terms that both sides read.
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
  const int64_t w = group * args.w_group + channel * args.w_out;
  const int64_t x = group * args.x_group + at.x;
  T sum = T(0);
  with_size<T>(args.type, [&](auto e) __attribute__((always_inline)) {
    const auto* from_w = static_cast<const decltype(e)*>(args.w) + w;
    const auto* from_x = static_cast<const decltype(e)*>(args.x) + x;
#pragma unroll 1
    for (uint32_t k = 0; k < args.k; ++k) {
      const ConvTerm term = conv_term(args, k);
      const Raw<T> a = from_w[term.w];
      const Raw<T> b = in_image(args, at, term) ? from_x[term.x] : e;
      sum = multiply_add(widen<T>(a, args.type), widen<T>(b, args.type), sum);
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
