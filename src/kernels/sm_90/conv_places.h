// SPDX-License-Identifier: Apache-2.0
// Where the operands and the results of a convolution on Hopper lie.
#pragma once

#include "kernels/conv_hopper_args.h"
#include "kernels/mma/wgmma.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// What a number of the batch stands for.
struct ConvPart {
  uint32_t group, of_classes;
};
BW_DEVICE ConvPart conv_part(const ConvHopperArgs& args, uint32_t batch) {
  return args.product.b_batch != 0 ? ConvPart{batch, 0} : ConvPart{0, batch};
}

/// Has the operands of a step of `width` of k copied to shared memory: rows from `row` on of the kernel,
/// places for outputs from `column` on. Places before the first and behind the last are zeros too.
template <uint32_t width>
BW_DEVICE void load_conv_step(const ConvHopperArgs& args, const ConvHopperArgs* maps, uint32_t batch,
                              uint32_t row, uint32_t column, uint32_t step, uint32_t a, uint32_t b,
                              uint32_t ready) {
  const uint32_t tap = divide(step, args.tap_steps), chunk = step - tap * args.tap_steps.divisor;
  const ConvPart part = conv_part(args, batch);
  const int32_t distance = args.distances[part.of_classes * args.taps + tap];
  load_box(a, &maps->product.a, ready, step * width, row, batch);
  load_box(b, &maps->product.b, ready, chunk * width, column + static_cast<uint32_t>(distance), part.group);
}

/// Where the results of a part of the batch begin.
template <class R>
BW_DEVICE R* conv_results(const ConvHopperArgs& args, uint32_t batch) {
  const ConvPart part = conv_part(args, batch);
  return static_cast<R*>(args.product.c_data) + args.class_y[part.of_classes] +
         part.group * args.product.c_batch;
}

/// The output that a place stands for: in elements from the first of its class and channel; if there is one.
struct ConvOutput {
  int64_t offset;
  bool exists;
};
BW_DEVICE ConvOutput conv_output(const ConvHopperArgs& args, uint32_t place) {
  const uint32_t image = divide(place, args.plane), in = place - image * args.plane.divisor;
  const uint32_t row = divide(in, args.pitch), column = in - row * args.pitch.divisor;
  return {image * args.y_image + row * args.y_row + column * args.y_column,
          place < args.product.n && row < args.out_rows && column < args.out_columns};
}

}  // namespace beeswax::gpu
#endif
