// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions: a group has one input channel and few outputs. A block brings the part of a channel
// that its outputs see to shared memory, zeros around the image included, and a thread sums four outputs.
//   floors: the bytes of image and result over the bandwidth; a load from shared memory for each product
#include "kernels/conv.h"
#include "kernels/gemm.h"
#include "kernels/unsigned_of.h"

namespace beeswax::gpu {

constexpr uint32_t kAtOnce = 8;  // loads under way in a thread

template <class T>
struct ConvPlaneShared {
  T window[kConvWindow / sizeof(T)];
  T weights[kConvPlaneWeights / sizeof(T)];
  int64_t x[kConvMostPlanes], y[kConvMostPlanes];  // where planes begin
};

/// What the outputs of a tile see, element after element; a plane's rows follow those of the one before.
template <bool one, class E, class T>
BW_DEVICE void fill_window(const ConvPlanesArgs& planes, E, uint32_t row0, uint32_t column0, uint32_t count,
                           ConvPlaneShared<T>& shared) {
  const ConvArgs& args = planes.conv;
  const int32_t down0 = static_cast<int32_t>(row0) * args.down.step + planes.down_first;
  const int32_t across0 = static_cast<int32_t>(column0) * args.across.step + planes.across_first;
  // Unsigned, since places outside the image may wrap.
  const auto x_row = static_cast<uint32_t>(args.x_row), x_column = static_cast<uint32_t>(args.x_column);
  using Bits = UnsignedOf<sizeof(E)>;
  const Bits* x = static_cast<const Bits*>(args.x) + (one ? shared.x[0] : 0);
  const uint32_t pitch = planes.pitch.divisor, size = count * planes.window_rows.divisor * pitch;
  const uint32_t rows_on = divide(kGemmThreads, planes.pitch), columns_on = kGemmThreads - rows_on * pitch;
  const uint32_t wrap = x_row - pitch * x_column;
  const uint32_t on = rows_on * x_row + columns_on * x_column;
  uint32_t row = divide(thread(), planes.pitch), column = thread() - row * pitch;
  uint32_t place =
      (static_cast<uint32_t>(down0) + row) * x_row + (static_cast<uint32_t>(across0) + column) * x_column;
#pragma unroll 1
  for (uint32_t from = thread(); from < size; from += kGemmThreads * kAtOnce) {
    Raw<T> raw[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      uint32_t in = row;
      uint32_t at = place;
      bool exists = true;
      if constexpr (!one) {
        const uint32_t plane = divide(row, planes.window_rows);
        const uint32_t above = plane * planes.window_rows.divisor;
        in -= above;
        exists = plane < count;
        at += static_cast<uint32_t>(shared.x[exists ? plane : 0]) - above * x_row;
      }
      const bool inside = exists && on_axis(args.down, down0 + static_cast<int32_t>(in)) &&
                          on_axis(args.across, across0 + static_cast<int32_t>(column));
      raw[i] = 0;
      if (inside) raw[i] = x[static_cast<int32_t>(at)];
      const bool next = column + columns_on >= pitch;
      row += next ? rows_on + 1 : rows_on;
      column += next ? columns_on - pitch : columns_on;
      place += next ? on + wrap : on;
    }
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      if (from + i * kGemmThreads < size)
        shared.window[from + i * kGemmThreads] = static_cast<T>(widen(from_bytes<E>(raw[i])));
  }
}

/// Three by three taps and outputs below each other, an input row apart like the taps: each row is read once.
template <class T>
BW_DEVICE void slide(const T* window, int32_t line, int32_t next, const T* weights,
                     T (&sums)[kConvPlaneOutputs]) {
  T w[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) w[i] = weights[i];
#pragma unroll
  for (int i = 0; i < kConvPlaneOutputs + 2; ++i) {
    T x[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) x[c] = window[line + c];
    line += next;
#pragma unroll
    for (int o = 0; o < kConvPlaneOutputs; ++o) {
      if (i - o < 0 || i - o >= 3) continue;
#pragma unroll
      for (int c = 0; c < 3; ++c) sums[o] = multiply_add(w[(i - o) * 3 + c], x[c], sums[o]);
    }
  }
}

template <class T>
BW_DEVICE void conv_planes(const ConvPlanesArgs& planes, ConvPlaneShared<T>& shared) {
  const ConvArgs& args = planes.conv;
  const uint32_t unit = divide(block(), planes.tiles);
  const uint32_t tile = block() - unit * planes.tiles.divisor;
  const uint32_t tile_row = divide(tile, planes.tiles_across);
  const uint32_t tile_column = tile - tile_row * planes.tiles_across.divisor;
  const uint32_t first = unit * planes.each;  // plane
  const uint32_t count = planes.count - first < planes.each ? planes.count - first : planes.each;
  const uint32_t row0 = tile_row * planes.rows, column0 = tile_column * planes.columns;

  if (thread() < count) {
    const uint32_t image = divide(first + thread(), planes.groups);
    const uint32_t group = first + thread() - image * args.groups;
    shared.x[thread()] = image * args.x_image + group * args.x_group;
    shared.y[thread()] = image * args.y_image + group * args.y_group;
  }
  barrier();
  const uint32_t taps = args.taps.divisor, weights = count * args.m * taps;
#pragma unroll 1
  for (uint32_t i = thread(); i < weights; i += kGemmThreads) {
    const uint32_t lane = divide(i, args.taps);  // plane and output channel
    const ConvTap tap = conv_tap(args, i - lane * taps);
    const uint32_t plane = divide(lane, planes.channels);
    const uint32_t group = first + plane - divide(first + plane, planes.groups) * args.groups;
    const int64_t at = group * args.w_group + (lane - plane * args.m) * args.w_out + tap.row * args.w_row +
                       tap.column * args.w_column;
    with_size<T>(args.type, [&](auto e) __attribute__((always_inline)) {
      shared.weights[i] = widen<T>(static_cast<const decltype(e)*>(args.w)[at], args.type);
    });
  }
  with_element<T>(args.type, [&](auto element) __attribute__((always_inline)) {
    if (planes.each == 1) {
      fill_window<true>(planes, element, row0, column0, count, shared);
    } else {
      fill_window<false>(planes, element, row0, column0, count, shared);
    }
  });
  barrier();

  const uint32_t pitch = planes.pitch.divisor;
  const auto pitch_step = static_cast<int32_t>(pitch);
  const int32_t next = static_cast<int32_t>(planes.next_row) * args.down.step * pitch_step +
                       static_cast<int32_t>(planes.next_column) * args.across.step;
  const int32_t down_tap = args.down.tap_step * pitch_step;
  const uint32_t lanes = count * args.m;
#pragma unroll 1
  for (uint32_t item = thread(); item < lanes * planes.items.divisor; item += kGemmThreads) {
    const uint32_t lane = divide(item, planes.items);
    const uint32_t plane = divide(lane, planes.channels), channel = lane - plane * args.m;
    const uint32_t in = item - lane * planes.items.divisor;
    const uint32_t item_row = divide(in, planes.item_columns);
    const uint32_t down = item_row * planes.item_rows, across = in - item_row * planes.item_columns.divisor;
    int32_t line = static_cast<int32_t>(plane * planes.window_rows.divisor * pitch) + planes.first_tap +
                   static_cast<int32_t>(down) * args.down.step * pitch_step +
                   static_cast<int32_t>(across) * args.across.step;
    const T* w = shared.weights + lane * taps;
    T sums[kConvPlaneOutputs];
#pragma unroll
    for (T& sum : sums) sum = T(0);
    if (planes.slides != 0) {
      slide(shared.window, line, next, w, sums);
    } else {
#pragma unroll 1
      for (int32_t r = 0; r < args.down.taps; ++r) {
        int32_t from = line;
#pragma unroll 1
        for (int32_t c = 0; c < args.across.taps; ++c) {
          const T weight = *w++;
#pragma unroll
          for (int32_t i = 0; i < kConvPlaneOutputs; ++i)
            sums[i] = multiply_add(weight, shared.window[from + i * next], sums[i]);
          from += args.across.tap_step;
        }
        line += down_tap;
      }
    }
    const uint32_t at_row = row0 + down, at_column = column0 + across;
    const int64_t y = shared.y[plane] + channel * args.y_channel;
    const auto first_y = static_cast<int32_t>(at_row) * static_cast<int32_t>(args.y_row) +
                         static_cast<int32_t>(at_column) * static_cast<int32_t>(args.y_column);
    const auto next_y = static_cast<int32_t>(planes.next_row) * static_cast<int32_t>(args.y_row) +
                        static_cast<int32_t>(planes.next_column) * static_cast<int32_t>(args.y_column);
    with_element<T>(args.type, [&](auto element) __attribute__((always_inline)) {
      using E = decltype(element);
      E* to = static_cast<E*>(args.y) + y + first_y;
#pragma unroll
      for (uint32_t i = 0; i < kConvPlaneOutputs; ++i) {
        if (at_row + i * planes.next_row < planes.out_rows &&
            at_column + i * planes.next_column < args.output_columns.divisor)
          *to = as_element<E>(sums[i]);
        to += next_y;
      }
    });
  }
}

#define BW_CONV_PLANES(name, T)                                     \
  BW_KERNEL(kGemmThreads) conv_planes_##name(ConvPlanesArgs args) { \
    BW_SHARED static ConvPlaneShared<T> shared;                     \
    conv_planes<T>(args, shared);                                   \
  }
BW_CONV_PLANES(f32, float)
BW_CONV_PLANES(f64, double)
BW_CONV_PLANES(bits32, uint32_t)
BW_CONV_PLANES(bits64, uint64_t)

}  // namespace beeswax::gpu
