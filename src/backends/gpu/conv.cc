// SPDX-License-Identifier: Apache-2.0
// Convolutions as products over channels and taps. A transposed convolution is one such product for each set
// of outputs that the same taps reach.
#include <vector>

#include "backends/conv_taps.h"
#include "backends/gpu/dnn/conv.h"
#include "backends/gpu/gemm.h"

namespace beeswax::gpu {
namespace {

enum ConvKernel : size_t { kF32, kF64, kBits32, kBits64, kConvKernels };
// Tiles, then those where a thread sums one output by itself.
KernelTable conv_kernels(kConvKernels * 2, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"f32", "f64", "bits32", "bits64"};
  return {join_text(i / kConvKernels == 0 ? "conv_" : "conv_direct_", kNames[i % kConvKernels]), "conv"};
});

constexpr int64_t kMostOutputs = int64_t{1} << 30;
constexpr int64_t kMostPosition = (int64_t{1} << 31) - 1;

// One axis: its outputs, and how they and the taps meet the input (ConvAxis).
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
};

// A sum over channels and taps. Offsets of x, w and y count elements, of the first image and group.
struct Sum {
  DType dtype;
  int64_t batch, groups, c_in, c_out;
  Axis down, across;
  const std::byte* x;
  const std::byte* w;
  std::byte* y;
  int64_t x_image, x_group, x_channel, x_row, x_column;
  int64_t w_group, w_out, w_in, w_row, w_column;
  int64_t y_image, y_group, y_channel, y_row, y_column;
};

// 1 x 1 windows: a product of the kernel and every image as it lies.
bool as_product(Gpu& gpu, Backend& backend, const Sum& s) {
  if (!s.down.is_pointwise() || !s.across.is_pointwise() || s.c_out <= kConvDirect) return false;
  const int64_t x_down = s.x_row * s.down.step, x_across = s.x_column * s.across.step;
  if (s.down.out > 1 && (x_down != x_across * s.across.out || s.y_row != s.y_column * s.across.out))
    return false;
  const Shape images({s.batch, s.groups});
  const int64_t none[] = {0, s.w_group}, x[] = {s.x_image, s.x_group}, y[] = {s.y_image, s.y_group};
  const Layout w_layout(images, none, 0), x_layout(images, x, 0), y_layout(images, y, 0);
  gemm(gpu, backend,
       {s.c_out, s.down.out * s.across.out, s.c_in, s.dtype, s.dtype, s.dtype, s.w, s.x, s.y, s.w_out, s.w_in,
        s.x_channel, x_across, s.y_channel, s.y_column, Nest<3>({&w_layout, &x_layout, &y_layout})},
       "conv");
  return true;
}

void launch_sum(Gpu& gpu, Backend& backend, const Sum& s) {
  if (as_product(gpu, backend, s)) return;
  const int64_t outputs = s.down.out * s.across.out;
  const int64_t terms = s.c_in * s.down.taps * s.across.taps;
  if (std::max(outputs * s.groups * s.c_out, terms) > kMostOutputs ||
      std::max(s.down.reach(), s.across.reach()) > kMostPosition)
    fail(ErrorKind::TooLarge, "conv", "an image of ", s.c_in, " by ", s.down.in, " by ", s.across.in, " for ",
         s.groups * s.c_out, " channels of ", s.down.out, " by ", s.across.out);
  ConvArgs arguments{};
  arguments.m = static_cast<uint32_t>(s.c_out);
  arguments.k = static_cast<uint32_t>(terms);
  arguments.groups = static_cast<uint32_t>(s.groups);
  arguments.type = element_of(s.dtype);
  arguments.w = s.w;
  arguments.w_group = s.w_group;
  arguments.w_out = s.w_out;
  arguments.w_in = s.w_in;
  arguments.w_row = s.w_row;
  arguments.w_column = s.w_column;
  arguments.x_image = s.x_image;
  arguments.x_group = s.x_group;
  arguments.x_channel = s.x_channel;
  arguments.x_row = s.x_row;
  arguments.x_column = s.x_column;
  arguments.y_image = s.y_image;
  arguments.y_group = s.y_group;
  arguments.y_channel = s.y_channel;
  arguments.y_row = s.y_row;
  arguments.y_column = s.y_column;
  arguments.down = s.down.kernel();
  arguments.across = s.across.kernel();
  arguments.taps = divisor_of(static_cast<uint32_t>(s.down.taps * s.across.taps));
  arguments.tap_columns = divisor_of(static_cast<uint32_t>(s.across.taps));
  arguments.outputs = divisor_of(static_cast<uint32_t>(outputs));
  arguments.output_columns = divisor_of(static_cast<uint32_t>(s.across.out));
  const bool direct = s.c_out <= kConvDirect;
  const bool wide = bytes_of(s.dtype) == 8;
  const ConvKernel kind = s.dtype == DType::F64     ? kF64
                          : wide                    ? kBits64
                          : dtype_is_float(s.dtype) ? kF32
                                                    : kBits32;
  const GemmTile tile = wide ? kGemmWide : kGemmSmall;
  const Kernel& kernel = conv_kernels.get(gpu, direct ? kConvKernels + kind : kind);
  const int64_t most = kMostOutputs / (outputs * s.groups * s.c_out);  // images of a launch
  for (int64_t image = 0; image < s.batch; image += most) {
    const int64_t images = std::min(most, s.batch - image);
    arguments.n = static_cast<uint32_t>(images * outputs);
    arguments.x = at(s.x, image * s.x_image, s.dtype);
    arguments.y = at(s.y, image * s.y_image, s.dtype);
    uint32_t blocks = 0;
    if (direct) {
      arguments.grid.tiles = divisor_of(arguments.n);
      blocks = blocks_for(s.groups * s.c_out * arguments.n, kGemmThreads);
    } else {
      arguments.grid = gemm_grid(s.c_out, arguments.n, tile);
      blocks = static_cast<uint32_t>(tiles_of(arguments.grid) * s.groups);
    }
    gpu.launch(kernel, {{blocks, 1, 1}, kGemmThreads, 0}, arguments);
  }
}

Sum sum_of(const ConvShape& s, const Operand& x, const Operand& kernel, const Target& out) {
  const Layout& in = *x.layout;  // [batch, groups * c_in, h, w]
  Sum sum{};
  sum.dtype = x.dtype;
  sum.batch = s.batch;
  sum.groups = s.groups;
  sum.c_in = s.c_in;
  sum.c_out = s.c_out;
  sum.x = x.data();
  sum.w = kernel.data();
  sum.y = out.data();
  sum.x_image = in.stride(0);
  sum.x_channel = in.stride(1);
  sum.x_group = s.c_in * sum.x_channel;
  sum.x_row = in.stride(2);
  sum.x_column = in.stride(3);
  sum.y_column = 1;
  sum.y_row = s.w_out;
  sum.y_channel = s.h_out * s.w_out;
  sum.y_group = s.c_out * sum.y_channel;
  sum.y_image = s.groups * sum.y_group;
  return sum;
}

}  // namespace

void GpuBackend::conv(const ConvShape& s, const Operand& x, const Operand& kernel, const Target& out) {
  if (dnn::conv(dnn::choice(), gpu_, *this, s, x, kernel, out, false)) return;
  const Layout& w = *kernel.layout;  // [groups * c_out, c_in, h, w]
  Sum sum = sum_of(s, x, kernel, out);
  sum.w_out = w.stride(0);
  sum.w_group = s.c_out * w.stride(0);
  sum.w_in = w.stride(1);
  sum.w_row = w.stride(2);
  sum.w_column = w.stride(3);
  sum.down = {s.h_in, s.h_out, s.h_k, s.h_stride, s.h_dilation, -s.h_padding};
  sum.across = {s.w_in, s.w_out, s.w_k, s.w_stride, s.w_dilation, -s.w_padding};
  launch_sum(gpu_, *this, sum);
}

void GpuBackend::conv_transpose(const ConvShape& s, const Operand& x, const Operand& kernel,
                                const Target& out) {
  if (dnn::conv(dnn::choice(), gpu_, *this, s, x, kernel, out, true)) return;
  const Layout& w = *kernel.layout;  // [groups * c_in, c_out, h, w]
  Sum sum = sum_of(s, x, kernel, out);
  sum.w_in = w.stride(0);
  sum.w_group = s.c_in * w.stride(0);
  sum.w_out = w.stride(1);
  const auto rows = tap_classes<Axis>(s.h_in, s.h_out, s.h_k, s.h_stride, s.h_padding, s.h_dilation);
  const auto columns = tap_classes<Axis>(s.w_in, s.w_out, s.w_k, s.w_stride, s.w_padding, s.w_dilation);
  int64_t outputs = 0;
  for (const TapClass<Axis>& y : rows)
    for (const TapClass<Axis>& x_class : columns) outputs += y.axis.out * x_class.axis.out;
  if (outputs < s.h_out * s.w_out)
    fill(out, Scalar(0).to(out.dtype, "conv_transpose"));  // no tap reaches some
  for (const TapClass<Axis>& y : rows) {
    for (const TapClass<Axis>& c : columns) {
      Sum part = sum;
      part.down = y.axis;
      part.across = c.axis;
      part.w = at(sum.w, y.first_tap * w.stride(2) + c.first_tap * w.stride(3), x.dtype);
      part.w_row = y.tap_stride * w.stride(2);
      part.w_column = c.tap_stride * w.stride(3);
      part.y = at(sum.y, y.first_output * s.w_out + c.first_output, x.dtype);
      part.y_row = s.h_stride * s.w_out;
      part.y_column = s.w_stride;
      launch_sum(gpu_, *this, part);
    }
  }
}

}  // namespace beeswax::gpu
