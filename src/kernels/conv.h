// SPDX-License-Identifier: Apache-2.0
// Where the terms and the outputs of a convolution lie.
#pragma once

#include "kernels/elements.h"
#include "kernels/gemm_args.h"

namespace beeswax::gpu {

/// A term of k: its channel and tap.
struct ConvTap {
  uint32_t channel, row, column;
};
BW_DEVICE ConvTap conv_tap(const ConvArgs& args, uint32_t k) {
  ConvTap at;
  at.channel = divide(k, args.taps);
  const uint32_t tap = k - at.channel * args.taps.divisor;
  at.row = divide(tap, args.tap_columns);
  at.column = tap - at.row * args.tap_columns.divisor;
  return at;
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

/// Whether a position of an axis lies in the image.
BW_DEVICE bool on_axis(const ConvAxis& axis, int32_t position) {
  return static_cast<uint32_t>(position) < static_cast<uint32_t>(axis.in);
}

}  // namespace beeswax::gpu
