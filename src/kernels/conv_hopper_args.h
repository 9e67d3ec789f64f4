// SPDX-License-Identifier: Apache-2.0
// Convolutions on Hopper as products of the kernel and the image's places: what their kernels are called
// with.
#pragma once

#include "kernels/hopper_args.h"

namespace beeswax::gpu {

/// y[channel, output] = sum over taps and channels of kernel[channel, tap, c] places[output + distance of
/// tap, c]. The product: m channels of the result by n places; a is the kernel, whose taps have whole steps
/// of k, b the places; neither is a batch nor cut into parts.
struct ConvHopperArgs {
  HopperArgs product;
  Divisor tap_steps, tap_columns;
  int32_t first_tap, next_tap_row, next_tap_column;  // in places
  Divisor plane, pitch;                              // places of an image and of a row
  uint32_t out_rows, out_columns;
  int64_t y_image, y_channel, y_row, y_column;
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
/// Lays [images, channels, rows, columns] of 16 bits out as places of `line` channels.
struct ConvSpreadArgs {
  const void* x;
  void* y;
  int64_t x_image, x_channel, x_row, x_column;
  uint32_t channels, line;  // line: a multiple of 8
  uint32_t rows, columns, places;
  Divisor plane, pitch, channel_tiles;
};

}  // namespace beeswax::gpu
