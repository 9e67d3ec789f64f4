// SPDX-License-Identifier: Apache-2.0
// The image as a side of a product whose lanes are outputs: the terms of a window, gathered one by one. Where
// they lie relative to a window stands in a table that a block fills as k goes on.
#pragma once

#include "kernels/conv.h"

namespace beeswax::gpu {

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
  uint32_t valid;  // rows and columns of taps that lie in the image

  BW_DEVICE_MEMBER ConvWindow(const ConvArgs& args_, ConvSteps& steps_, int64_t offset, uint32_t column)
      : args(args_), steps(steps_), valid(0) {
    const ConvPlace at = conv_place(args, column < args.n ? column : 0);
    x = offset + at.x;
    down = at.down;
    across = at.across;
    if (args.inside == ConvInside::Bits) {
#pragma unroll 1
      for (int32_t row = 0; row < args.down.taps; ++row)
        valid |= on_axis(args.down, down + row * args.down.tap_step) ? 1u << row : 0;
#pragma unroll 1
      for (int32_t i = 0; i < args.across.taps; ++i)
        valid |= on_axis(args.across, across + i * args.across.tap_step) ? 1u << (kConvBitColumns + i) : 0;
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
      gather([&](uint32_t where) __attribute__((always_inline)) { return (valid & where) == where; });
    } else {
      gather([&](uint32_t where) __attribute__((always_inline)) {
        return on_axis(args.down, down + (static_cast<int32_t>(where) >> 16)) &&
               on_axis(args.across, across + static_cast<int16_t>(where));
      });
    }
  }
};

}  // namespace beeswax::gpu
