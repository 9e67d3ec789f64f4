// SPDX-License-Identifier: Apache-2.0
// Convolutions: shapes are checked and output sizes found here; a 1-D convolution is a 2-D one of height 1.
#include "ops/common.h"

namespace beeswax {
namespace {

// Sizes and options are held below this, so that no position computed from them overflows.
constexpr int64_t kMost = int64_t{1} << 40;

// One call: its names for messages and what was given.
struct Call {
  std::string_view operation;
  const Tensor& x;
  const Tensor& kernel;
  const ConvOptions& options;
  bool transposed;

  std::string describe() const {
    std::string text =
        join_text("input ", x.describe(), ", kernel ", kernel.describe(), ", padding ", options.padding,
                  ", stride ", options.stride, ", dilation ", options.dilation, ", groups ", options.groups);
    if (transposed) text += join_text(", output_padding ", options.output_padding);
    return text;
  }

  [[noreturn]] void refuse(ErrorKind kind, std::string_view what) const {
    fail(kind, operation, what, ": ", describe());
  }

  void check_range(std::string_view name, int64_t value, int64_t least) const {
    if (value < least || value > kMost)
      refuse(ErrorKind::InvalidArgument, join_text(name, " must be from ", least, " to 2^40, got ", value));
  }

  void check(int rank, std::string_view x_axes, std::string_view kernel_axes) const try {
    ops::check_dtype(operation, x, ops::Accept::Number);
    ops::check_same_dtype(operation, x, kernel);
    ops::check_same_device(operation, x, kernel);
    ops::check_rank(operation, x, rank, x_axes);
    ops::check_rank(operation, kernel, rank, kernel_axes);
    check_range("padding", options.padding, 0);
    check_range("stride", options.stride, 1);
    check_range("dilation", options.dilation, 1);
    check_range("groups", options.groups, 1);
    if (transposed) {
      check_range("output_padding", options.output_padding, 0);
      if (options.output_padding >= std::max(options.stride, options.dilation))
        refuse(ErrorKind::InvalidArgument,
               "output_padding must be less than the larger of stride and dilation");
    } else if (options.output_padding != 0) {
      refuse(ErrorKind::InvalidArgument, "output_padding is an option of transposed convolutions");
    }
    check_channels();
  } catch (...) {
    rethrow();
  }

  [[noreturn]] void rethrow() const { ops::rethrow_as(operation, {x, {"kernel", kernel}}); }

  void check_channels() const {
    const int64_t channels = x.dim(1);
    if (channels % options.groups != 0)
      refuse(ErrorKind::InvalidArgument,
             join_text("the ", channels, " channels of the input do not divide into ", options.groups,
                       " groups"));
    const int64_t wanted = transposed ? channels : channels / options.groups;
    const int64_t got = kernel.dim(transposed ? 0 : 1);
    if (wanted != got)
      refuse(ErrorKind::ShapeMismatch,
             join_text("the kernel's axis ", transposed ? 0 : 1, " must be ", wanted,
                       transposed ? " (the input's channels)" : " (the input's channels / groups)", ", got ",
                       got));
    if (!transposed && kernel.dim(0) % options.groups != 0)
      refuse(ErrorKind::InvalidArgument,
             join_text("the ", kernel.dim(0), " output channels do not divide into ", options.groups,
                       " groups"));
  }

  // Positions along one axis that the output has.
  int64_t output_size(int64_t in, int64_t taps) const {
    check_range("each axis of the input", in, 0);
    check_range("each axis of the kernel", taps, 1);
    const ConvOptions& o = options;
    // The products stay below 2^82; doubles tell whether they fit.
    const auto reach = static_cast<double>(o.dilation) * static_cast<double>(taps - 1);
    const auto spread = static_cast<double>(in - 1) * static_cast<double>(o.stride);
    if (reach > static_cast<double>(kMost) || (transposed && spread > static_cast<double>(kMost)))
      refuse(ErrorKind::TooLarge, "one axis of the window or the output is longer than 2^40");
    const int64_t window = o.dilation * (taps - 1) + 1;
    if (transposed) {
      const int64_t size = (in - 1) * o.stride - 2 * o.padding + window + o.output_padding;
      if (in < 1) refuse(ErrorKind::InvalidArgument, "the input has no positions along an axis");
      if (size < 1) refuse(ErrorKind::InvalidArgument, join_text("the output would have size ", size));
      return size;
    }
    const int64_t padded = in + 2 * o.padding;
    if (window > padded)
      refuse(ErrorKind::InvalidArgument, join_text("the output would be empty: the window of ", window,
                                                   " positions is longer than the padded input of ", padded));
    return (padded - window) / o.stride + 1;
  }
};

// x is [b, c, h, w], the kernel [.., .., kh, kw]; options of the height apply unless it is 1-D's.
Tensor convolve(const Call& call, bool flat, const Tensor& x, const Tensor& kernel) try {
  const ConvOptions& o = call.options;
  ConvShape s{};
  s.batch = x.dim(0);
  s.groups = o.groups;
  s.c_in = x.dim(1) / o.groups;
  s.c_out = call.transposed ? kernel.dim(1) : kernel.dim(0) / o.groups;
  s.h_in = x.dim(2);
  s.w_in = x.dim(3);
  s.h_k = kernel.dim(2);
  s.w_k = kernel.dim(3);
  s.h_stride = flat ? 1 : o.stride;
  s.h_padding = flat ? 0 : o.padding;
  s.h_dilation = flat ? 1 : o.dilation;
  s.w_stride = o.stride;
  s.w_padding = o.padding;
  s.w_dilation = o.dilation;
  s.h_out = flat ? 1 : call.output_size(s.h_in, s.h_k);
  s.w_out = call.output_size(s.w_in, s.w_k);
  const Shape to{s.batch, s.groups * s.c_out, s.h_out, s.w_out};
  if (x.elem_count() == 0 && (call.transposed || s.batch == 0 || s.c_in == 0))
    return Tensor::zeros(to, x.dtype(), x.device());  // sums of nothing
  Tensor in = x;
  if (x.elem_count() == 0) {
    // Every sum is over padding, which takes part in it. A zero in the place of an empty axis is like it.
    s.h_in = std::max<int64_t>(s.h_in, 1);
    s.w_in = std::max<int64_t>(s.w_in, 1);
    in = Tensor::zeros({1}, x.dtype(), x.device()).broadcast_as({s.batch, x.dim(1), s.h_in, s.w_in});
  }
  const Tensor out = ops::empty_on(x, to, x.dtype());
  if (out.elem_count() == 0) return out;
  Backend& backend = ops::backend_of(x);
  if (call.transposed) {
    backend.conv_transpose(s, ops::operand(in), ops::operand(kernel), ops::target(out));
  } else {
    backend.conv(s, ops::operand(in), ops::operand(kernel), ops::target(out));
  }
  return out;
} catch (...) {
  call.rethrow();
}

}  // namespace

Tensor Tensor::conv1d(const Tensor& kernel, const ConvOptions& options) const {
  const Call call{"conv1d", *this, kernel, options, false};
  call.check(3, "input [batch, channels, length]", "kernel [channels out, channels in / groups, length]");
  return convolve(call, true, unsqueeze(2), kernel.unsqueeze(2)).squeeze(2);
}

Tensor Tensor::conv2d(const Tensor& kernel, const ConvOptions& options) const {
  const Call call{"conv2d", *this, kernel, options, false};
  call.check(4, "input [batch, channels, height, width]",
             "kernel [channels out, channels in / groups, height, width]");
  return convolve(call, false, *this, kernel);
}

Tensor Tensor::conv_transpose1d(const Tensor& kernel, const ConvOptions& options) const {
  const Call call{"conv_transpose1d", *this, kernel, options, true};
  call.check(3, "input [batch, channels, length]", "kernel [channels in, channels out / groups, length]");
  return convolve(call, true, unsqueeze(2), kernel.unsqueeze(2)).squeeze(2);
}

Tensor Tensor::conv_transpose2d(const Tensor& kernel, const ConvOptions& options) const {
  const Call call{"conv_transpose2d", *this, kernel, options, true};
  call.check(4, "input [batch, channels, height, width]",
             "kernel [channels in, channels out / groups, height, width]");
  return convolve(call, false, *this, kernel);
}

}  // namespace beeswax
