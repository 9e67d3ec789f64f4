// SPDX-License-Identifier: Apache-2.0
// The image as a side of a product whose lanes are outputs: the terms of a window, gathered one by one. Where
// they lie relative to a window stands in a table that a block fills as k goes on.
#pragma once

#include "kernels/conv.h"

namespace beeswax::gpu {

/// Where a sum of a batch begins.
struct ConvPart {
  int64_t w, x, y;
  int32_t down, across;  // position of a window, besides the axes' own origins
};
/// The class of an axis: input position and output that its first tap meets.
BW_DEVICE void conv_class(const ConvClassAxis& axis, int32_t at, int32_t& origin, int32_t& first) {
  const int32_t ahead = at * axis.dilation - axis.padding;
  const int32_t whole = ahead / axis.stride;
  const int32_t down = ahead < whole * axis.stride ? whole - 1 : whole;  // rounded down
  origin = -down;
  first = ahead - down * axis.stride;
}
BW_DEVICE ConvPart conv_part(const ConvArgs& args, uint32_t batch) {
  const uint32_t number = batch / args.groups, group = batch - number * args.groups;
  const auto row = static_cast<int32_t>(number) / args.class_across.count;
  const int32_t column = static_cast<int32_t>(number) - row * args.class_across.count;
  ConvPart part;
  int32_t first_down, first_across;
  conv_class(args.class_down, row, part.down, first_down);
  conv_class(args.class_across, column, part.across, first_across);
  part.w = group * args.w_group + row * args.class_down.w + column * args.class_across.w;
  part.x = group * args.x_group + part.down * args.x_row + part.across * args.x_column;
  part.y = group * args.y_group + first_down * args.class_down.y + first_across * args.class_across.y;
  return part;
}

/// Where a term lies relative to a window, and what tells whether that is in the image (ConvInside).
struct alignas(8) ConvStep {
  int32_t x;
  uint32_t where;
};
/// Terms whose steps a block keeps: two halves, one of which is filled while the other is read.
inline constexpr uint32_t kConvSteps = 2 * kConvTable;
struct alignas(16) ConvSteps {
  ConvStep v[kConvSteps];
};

BW_DEVICE ConvStep conv_step(const ConvArgs& args, uint32_t k) {
  if (k >= args.k) return {0, args.inside == ConvInside::Distances ? 0x7fff7fffu : ~0u};  // in no image
  const ConvTap at = conv_tap(args, k);
  const int32_t down = static_cast<int32_t>(at.row) * args.down.tap_step;
  const int32_t across = static_cast<int32_t>(at.column) * args.across.tap_step;
  ConvStep step;
  step.x = static_cast<int32_t>(at.channel * args.x_channel + down * args.x_row + across * args.x_column);
  step.where = args.inside == ConvInside::All ? 0
               : args.inside == ConvInside::Bits
                   ? 1u << at.row | 1u << (kConvBitColumns + at.column)
                   : static_cast<uint32_t>(down) << 16 | (static_cast<uint32_t>(across) & 0xffffu);
  return step;
}

/// The window of one output.
struct ConvWindow {
  const ConvArgs& args;
  ConvSteps& steps;
  int64_t x;  // the window's first position
  int32_t down, across;
  uint32_t outside;  // rows and columns of taps that do not lie in the image

  BW_DEVICE_MEMBER ConvWindow(const ConvArgs& args_, ConvSteps& steps_, const ConvPart& part, uint32_t column)
      : args(args_), steps(steps_), outside(~0u) {
    const ConvPlace at = conv_place(args, column < args.n ? column : 0);
    x = part.x + at.x;
    down = part.down + at.down;
    across = part.across + at.across;
    if (args.inside == ConvInside::Bits) {
#pragma unroll 1
      for (int32_t row = 0; row < args.down.taps; ++row)
        outside &= on_axis(args.down, down + row * args.down.tap_step) ? ~(1u << row) : ~0u;
#pragma unroll 1
      for (int32_t i = 0; i < args.across.taps; ++i)
        outside &=
            on_axis(args.across, across + i * args.across.tap_step) ? ~(1u << (kConvBitColumns + i)) : ~0u;
    }
    steps.v[thread()] = conv_step(args, thread());
    barrier();
  }
  /// Before the tile at k is fetched, `step` of k after the last one, with a barrier between any two.
  BW_DEVICE_MEMBER void fill(uint32_t k, uint32_t step) const {
    // Nobody has read the other half for a tile's time, and nobody reads it before the next barrier.
    if (k % kConvTable != step) return;
    const uint32_t ahead = k - step + kConvTable + thread();
    steps.v[ahead % kConvSteps] = conv_step(args, ahead);
  }
  /// Calls gather(in), where in(where) tells whether a term lies in the image.
  template <class Gather>
  BW_DEVICE_MEMBER void with_inside(Gather gather) const {
    if (args.inside != ConvInside::Distances) {
      gather([&](uint32_t where) __attribute__((always_inline)) { return (outside & where) == 0; });
    } else {
      gather([&](uint32_t where) __attribute__((always_inline)) {
        return on_axis(args.down, down + (static_cast<int32_t>(where) >> 16)) &&
               on_axis(args.across, across + static_cast<int16_t>(where));
      });
    }
  }
};

}  // namespace beeswax::gpu
