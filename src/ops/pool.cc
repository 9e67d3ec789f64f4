// SPDX-License-Identifier: Apache-2.0
// Pooling and upsampling: checks and output sizes.
#include <algorithm>
#include <cmath>

#include "ops/common.h"

namespace beeswax {
namespace {

// Positions along one axis that upsampling counts in 32 bits.
constexpr int64_t kMostPositions = INT32_MAX;

using Pair = std::pair<int64_t, int64_t>;

std::optional<Pair> square(const std::optional<int64_t>& side) {
  return side.has_value() ? std::optional<Pair>({*side, *side}) : std::nullopt;
}

std::string text_of(const Pair& pair) { return join_text("(", pair.first, ", ", pair.second, ")"); }

Tensor pool(std::string_view operation, PoolKind kind, const Tensor& x, const Pair& kernel,
            const std::optional<Pair>& given_stride) try {
  const Pair stride = given_stride.value_or(kernel);
  ops::check_dtype(operation, x, ops::Accept::Number);
  ops::check_rank(operation, x, 4, "input [batch, channels, height, width]");
  const auto refuse = [&](std::string_view what) {
    fail(ErrorKind::InvalidArgument, operation, what, ": input ", x.describe(), ", kernel ", text_of(kernel),
         ", stride ", text_of(stride));
  };
  if (kernel.first < 1 || kernel.second < 1) refuse("each side of the kernel must be at least 1");
  if (stride.first < 1 || stride.second < 1) refuse("each stride must be at least 1");
  if (kernel.first > x.dim(2) || kernel.second > x.dim(3))
    refuse("the output would be empty, because the window is larger than the input");
  PoolShape s{};
  s.kind = kind;
  s.batch = x.dim(0);
  s.channels = x.dim(1);
  s.h_in = x.dim(2);
  s.w_in = x.dim(3);
  s.h_k = kernel.first;
  s.w_k = kernel.second;
  s.h_stride = stride.first;
  s.w_stride = stride.second;
  s.h_out = (s.h_in - s.h_k) / s.h_stride + 1;
  s.w_out = (s.w_in - s.w_k) / s.w_stride + 1;
  // A longer stride than the input reads nothing else, and cannot overflow.
  s.h_stride = std::min(s.h_stride, s.h_in);
  s.w_stride = std::min(s.w_stride, s.w_in);
  Tensor out = ops::empty_on(x, {s.batch, s.channels, s.h_out, s.w_out}, x.dtype());
  if (out.elem_count() > 0) ops::backend_of(x).pool(s, ops::operand(x), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(operation, {x});
}

// x is [b, c, h, w]; `given` is what the caller named, and has the same last axes. The factors are 0 where
// the caller gave sizes.
Tensor upsample(std::string_view operation, const Tensor& x, const Tensor& given, UpsampleShape s) try {
  s.batch = x.dim(0);
  s.channels = x.dim(1);
  s.h_in = x.dim(2);
  s.w_in = x.dim(3);
  const auto refuse = [&](ErrorKind kind, std::string_view what) {
    fail(kind, operation, what, ": input ", given.describe(), ", output ",
         given.rank() == 3 ? join_text("length ", s.w_out)
                           : join_text("height ", s.h_out, ", width ", s.w_out));
  };
  if (s.h_out < 1 || s.w_out < 1)
    refuse(ErrorKind::InvalidArgument, "each side of the output must be at least 1");
  if (s.h_in < 1 || s.w_in < 1) refuse(ErrorKind::EmptyTensor, "each side of the input must be at least 1");
  if (std::max({s.h_in, s.w_in, s.h_out, s.w_out}) > kMostPositions)
    refuse(ErrorKind::TooLarge, "each side must be less than 2^31");
  if (s.h_out == s.h_in && s.w_out == s.w_in) return x.copy();
  Tensor out = ops::empty_on(x, {s.batch, s.channels, s.h_out, s.w_out}, x.dtype());
  if (out.elem_count() > 0) ops::backend_of(x).upsample(s, ops::operand(x), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(operation, {given});
}

Tensor bilinear(std::string_view operation, const Tensor& x, UpsampleShape s) try {
  s.bilinear = true;
  const bool same_size = x.dim(2) == s.h_out && x.dim(3) == s.w_out;
  if (dtype_is_float(x.dtype()) || same_size) return upsample(operation, x, x, s);
  // Integers through floats that hold them (those of 64 bits up to 2^53), and to the nearest.
  const DType wide = dtype_bits(x.dtype()) <= 16 ? DType::F32 : DType::F64;
  return upsample(operation, x.to_dtype(wide), x, s).round().to_dtype(x.dtype());
} catch (...) {
  ops::rethrow_as(operation, {});
}

void check_planes(std::string_view operation, const Tensor& x, ops::Accept accept) {
  ops::check_dtype(operation, x, accept);
  ops::check_rank(operation, x, 4, "input [batch, channels, height, width]");
}

int64_t scaled(const Tensor& x, int axis, double factor) {
  const auto refuse = [&](ErrorKind kind, std::string_view what) {
    fail(kind, "upsample_bilinear2d_with_scale", what, ", got ", factor, " for axis ", axis, " of ",
         x.describe());
  };
  if (!(factor > 0) || !std::isfinite(factor))
    refuse(ErrorKind::InvalidArgument, "scales must be positive and finite");
  const double size = std::floor(static_cast<double>(x.dim(axis)) * factor);
  // Smaller ones are refused with the sizes.
  if (!(size < 0x1p62)) refuse(ErrorKind::TooLarge, "scales must make each side less than 2^31");
  return static_cast<int64_t>(size);
}

}  // namespace

Tensor Tensor::avg_pool2d(int64_t kernel, std::optional<int64_t> stride) const {
  return avg_pool2d({kernel, kernel}, square(stride));
}

Tensor Tensor::max_pool2d(int64_t kernel, std::optional<int64_t> stride) const {
  return max_pool2d({kernel, kernel}, square(stride));
}

Tensor Tensor::avg_pool2d(std::pair<int64_t, int64_t> kernel,
                          std::optional<std::pair<int64_t, int64_t>> stride) const {
  return pool("avg_pool2d", PoolKind::Average, *this, kernel, stride);
}

Tensor Tensor::max_pool2d(std::pair<int64_t, int64_t> kernel,
                          std::optional<std::pair<int64_t, int64_t>> stride) const {
  return pool("max_pool2d", PoolKind::Max, *this, kernel, stride);
}

Tensor Tensor::upsample_nearest1d(int64_t size) const {
  ops::check_dtype("upsample_nearest1d", *this, ops::Accept::Number);
  ops::check_rank("upsample_nearest1d", *this, 3, "input [batch, channels, length]");
  UpsampleShape s{};
  s.h_out = 1;
  s.w_out = size;
  return upsample("upsample_nearest1d", unsqueeze(2), *this, s).squeeze(2);
}

Tensor Tensor::upsample_nearest2d(int64_t height, int64_t width) const {
  check_planes("upsample_nearest2d", *this, ops::Accept::Number);
  UpsampleShape s{};
  s.h_out = height;
  s.w_out = width;
  return upsample("upsample_nearest2d", *this, *this, s);
}

Tensor Tensor::upsample_bilinear2d(int64_t height, int64_t width, bool align_corners) const {
  check_planes("upsample_bilinear2d", *this, ops::Accept::Number);
  UpsampleShape s{};
  s.align_corners = align_corners;
  s.h_out = height;
  s.w_out = width;
  return bilinear("upsample_bilinear2d", *this, s);
}

Tensor Tensor::upsample_bilinear2d_with_scale(double scale_h, double scale_w, bool align_corners) const {
  check_planes("upsample_bilinear2d_with_scale", *this, ops::Accept::Number);
  UpsampleShape s{};
  s.align_corners = align_corners;
  s.h_out = scaled(*this, 2, scale_h);
  s.w_out = scaled(*this, 3, scale_w);
  s.scale_h = scale_h;
  s.scale_w = scale_w;
  return bilinear("upsample_bilinear2d_with_scale", *this, s);
}

}  // namespace beeswax
