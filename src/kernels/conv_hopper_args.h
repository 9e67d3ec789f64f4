// SPDX-License-Identifier: Apache-2.0
// Convolutions on Hopper as products of the kernel and the image's places: what their kernels are called
// with.
#pragma once

#include "kernels/hopper_args.h"

namespace beeswax::gpu {

/// At most: classes of a transposed convolution, and taps of all of them.
inline constexpr int kConvMostClasses = 16, kConvMostTaps = 128;

/// y[channel, output] = sum over taps and channels of kernel[channel, tap, c] places[output + distance of
/// tap, c]. The product: m channels of the result by n places; a is the kernel, whose taps have whole steps
/// of k, b the places. A batch is either the classes of a transposed convolution (ConvClassAxis), each of
/// which has a kernel and distances of its own, or, where b has one too, the groups of any other: they have
/// kernels and channels of their own, and results c_batch apart.
struct ConvHopperArgs {
  HopperArgs product;
  Divisor tap_steps;
  uint32_t taps;
  int32_t distances[kConvMostTaps];  // [class][tap], in places
  Divisor plane, pitch;              // places of an image and of a row
  uint32_t out_rows, out_columns;
  int64_t y_image, y_channel, y_row, y_column;
  int64_t class_y[kConvMostClasses];  // where the results of a class begin
  // Of f32: steps of all tiles in a row are cut into shares, one for each block. A tile that several share is
  // summed up from `parts`, two tiles for each block: that of its first steps, and that of its last.
  Divisor steps;
  uint32_t all_steps, share;
  float* parts;
};

/// Channels of the result by places.
struct ConvWgmmaTile {
  int rows;
  WgmmaTile ring;
};
inline constexpr ConvWgmmaTile kConvWgmmaTiles[] = {
    {128, {256, 4}}, {128, {128, 6}}, {128, {64, 8}}, {64, {256, 4}}, {64, {128, 6}}};

inline constexpr int kConvSpreadTile = 64;  // places, and channels
inline constexpr int kConvSpreadThreads = 256;
/// Lays [images, channels, rows, columns] out as places of `line` channels. Where outputs are several rows or
/// columns apart, so are the neighbours among places: each phase has places of its own, which follow those of
/// the one before. Row i of phase p is row i * phase_rows + p of `rows`. Blocks take a tile of all phases one
/// after another, for columns of several phases lie in the same lines of memory.
struct ConvSpread {
  const void* x;
  void* y;
  int64_t x_image, x_channel;
  int64_t x_row, x_column;              // from one of a phase to its next
  int64_t x_phase_row, x_phase_column;  // from one phase to the next
  uint32_t channels, line;              // line: whole packs of 16 bytes
  uint32_t by_channels;                 // whether those are neighbours in the image, and not columns
  uint32_t rows, columns, places;       // places: of a phase
  uint32_t phase_rows;
  Divisor phase_columns;
  Divisor phases, plane, pitch, channel_tiles;  // plane and pitch: places of an image and of a row
};
/// Two of them at once: blocks from `second` on have the other.
struct ConvSpreadArgs {
  ConvSpread of[2];
  uint32_t second;
};

}  // namespace beeswax::gpu
