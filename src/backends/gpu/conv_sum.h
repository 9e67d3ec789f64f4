// SPDX-License-Identifier: Apache-2.0
// Sum: a convolution, or a part of a transposed one, as a sum over channels and taps.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "backends/gpu/launch.h"
#include "kernels/gemm_args.h"

namespace beeswax::gpu {

inline constexpr int64_t kMostPosition = (int64_t{1} << 31) - 1;

/// One axis: its outputs, and how they and the taps meet the input (ConvAxis).
struct Axis {
  int64_t in, out, taps, step, tap_step, origin;
  ConvAxis kernel() const {
    // A step that is never taken may be longer than 32 bits.
    return {static_cast<int32_t>(in), static_cast<int32_t>(taps), out > 1 ? static_cast<int32_t>(step) : 0,
            taps > 1 ? static_cast<int32_t>(tap_step) : 0, static_cast<int32_t>(origin)};
  }
  // Whether its outputs are positions of the input, `step` apart.
  bool is_pointwise() const { return taps == 1 && origin == 0 && (out - 1) * step < in; }
  // No position that an output and a tap make is further from the input's first one.
  int64_t reach() const {
    return std::max(in, out > 1 ? (out - 1) * step : 0) + (taps - 1) * std::abs(tap_step) + std::abs(origin);
  }
  // Whether every window lies in the input.
  bool is_inside() const {
    const int64_t far = (taps - 1) * tap_step;
    return origin + std::min<int64_t>(far, 0) >= 0 &&
           origin + (out > 1 ? (out - 1) * step : 0) + std::max<int64_t>(far, 0) < in;
  }
};

/// A sum over channels and taps. Offsets and strides count elements.
struct Sum {
  DType dtype;
  bool reduced;  // whether f32 may be rounded (set_reduced_precision_f32)
  int64_t batch, groups, c_in, c_out;
  Axis down, across;
  const std::byte* x;
  std::byte* y;
  const Storage* kernel;    // null of products, which nobody copies
  const std::byte* w_base;  // its memory
  int64_t w;                // where the kernel begins there
  bool w_filled;            // with zeros behind its rows up to packs of 8
  int64_t x_image, x_group, x_channel, x_row, x_column;
  int64_t w_group, w_out, w_in, w_row, w_column;
  int64_t y_image, y_group, y_channel, y_row, y_column;

  // As ConvArgs has it: a batch of such sums.
  ConvClassAxis class_down{1, 1, 0, 0, 0, 0}, class_across{1, 1, 0, 0, 0, 0};
  std::optional<ConvInside> classes_inside;  // of all of them
  int64_t classes() const { return int64_t{class_down.count} * class_across.count; }

  const std::byte* w_data() const { return at(w_base, w, dtype); }
};

/// Whether conv_hopper() makes the sum.
bool conv_hopper_takes(const Gpu& gpu, const Sum& s);
/// Makes the sum by Hopper's copy engine where the device has it and that is quicker; tells whether. That
/// does not depend on the batch, so neither do an image's bits, but of f32.
bool conv_hopper(Gpu& gpu, Backend& backend, const Sum& s);

}  // namespace beeswax::gpu
