// SPDX-License-Identifier: Apache-2.0
// Convolutions as sums over channels and taps. A transposed convolution with a stride is one such sum for
// each set of outputs that the same taps reach.
#include <algorithm>
#include <vector>

#include "backends/conv_taps.h"
#include "backends/cpu/backend.h"
#include "backends/cpu/conv_sum.h"
#include "backends/cpu/gemm.h"

namespace beeswax::cpu {
namespace {

const std::byte* element(const Operand& x, int64_t offset) {
  return x.storage->data() + dtype_bytes(x.dtype, static_cast<size_t>(offset));
}

// Whether the axes from `first` on are dense, row-major.
bool dense_from(const Layout& layout, int first) {
  int64_t size = 1;
  for (int axis = layout.rank() - 1; axis >= first; --axis) {
    if (layout.dim(axis) != 1 && layout.stride(axis) != size) return false;
    size *= layout.dim(axis);
  }
  return true;
}

ConvSum sum_of(const ConvShape& s, const Operand& x, const Target& out) {
  ConvSum sum{};
  sum.dtype = x.dtype;
  sum.batch = s.batch;
  sum.groups = s.groups;
  sum.c_in = s.c_in;
  sum.c_out = s.c_out;
  sum.out = out.data();
  sum.out_row = s.w_out;
  sum.out_column = 1;
  sum.out_channel = s.h_out * s.w_out;
  sum.out_batch = s.groups * s.c_out * sum.out_channel;
  return sum;
}

bool is_pointwise(const ConvAxis& axis) {
  return axis.taps == 1 && axis.step == 1 && axis.origin == 0 && axis.out == axis.in;
}

// Where every output sees its own column of all channels, or the whole image, the sum is a matrix product as
// it stands.
bool as_product(const ConvSum& s) {
  GemmArgs args;
  args.types = s.dtype;
  args.c = s.out;
  const int64_t terms = s.terms();
  const bool whole = s.y.out * s.x.out == 1 && s.y.origin == 0 && s.x.origin == 0 && s.y.taps == s.y.in &&
                     s.x.taps == s.x.in && s.y.tap_step == 1 && s.x.tap_step == 1 && s.groups == 1 &&
                     (s.y.in == 1 || s.in_row == s.x.in) && (s.c_in == 1 || s.in_channel == s.y.in * s.x.in);
  if (whole) {
    args.m = s.batch;
    args.n = s.c_out;
    args.k = terms;
    args.a = s.in;
    args.a_row = s.in_batch;
    args.a_col = 1;
    args.b = s.kernel;
    args.b_row = 1;
    args.b_col = terms;
    args.c_row = s.c_out;
    gemm(args);
    return true;
  }
  const bool pointwise =
      is_pointwise(s.y) && is_pointwise(s.x) && s.c_in > 1 && (s.y.in == 1 || s.in_row == s.x.in);
  if (!pointwise) return false;
  args.m = s.c_out;
  args.n = s.y.out * s.x.out;
  args.k = s.c_in;
  args.a = s.kernel;
  args.a_row = terms;
  args.a_col = 1;
  args.b = s.in;
  args.b_row = s.in_channel;
  args.b_col = 1;
  args.c_row = args.n;
  args.batch_rank = 2;
  args.batch = {s.batch, s.groups};
  args.a_batch = {0, s.c_out * terms};
  args.b_batch = {s.in_batch, s.c_in * s.in_channel};
  args.c_batch = s.c_out * args.n;
  gemm(args);
  return true;
}

}  // namespace

void CpuBackend::conv(const ConvShape& s, const Operand& x, const Operand& kernel, const Target& out) {
  ConvSum sum = sum_of(s, x, out);
  Copied x_copy, kernel_copy;
  set_input(sum, x, x_copy);
  sum.kernel = dense_from(*kernel.layout, 0) ? kernel.data() : kernel_copy.make(kernel, *kernel.layout);
  sum.y = {s.h_in, s.h_out, s.h_k, s.h_stride, s.h_dilation, -s.h_padding};
  sum.x = {s.w_in, s.w_out, s.w_k, s.w_stride, s.w_dilation, -s.w_padding};
  if (!as_product(sum)) conv_sum(sum);
}

void CpuBackend::conv_transpose(const ConvShape& s, const Operand& x, const Operand& kernel,
                                const Target& out) {
  ConvSum sum = sum_of(s, x, out);
  Copied x_copy;
  set_input(sum, x, x_copy);
  const auto rows = tap_classes<ConvAxis>(s.h_in, s.h_out, s.h_k, s.h_stride, s.h_padding, s.h_dilation);
  const auto columns = tap_classes<ConvAxis>(s.w_in, s.w_out, s.w_k, s.w_stride, s.w_padding, s.w_dilation);
  int64_t outputs = 0;
  for (const TapClass<ConvAxis>& y : rows)
    for (const TapClass<ConvAxis>& w : columns) outputs += y.axis.out * w.axis.out;
  if (outputs < s.h_out * s.w_out)
    fill(out, Scalar(0).to(out.dtype, "conv_transpose"));  // no tap reaches some

  const Layout& k = *kernel.layout;  // [groups * c_in, c_out, h, w]
  for (const TapClass<ConvAxis>& y : rows) {
    for (const TapClass<ConvAxis>& w : columns) {
      const int64_t dims[] = {s.groups, s.c_out, s.c_in, y.axis.taps, w.axis.taps};
      const int64_t strides[] = {s.c_in * k.stride(0), k.stride(1), k.stride(0), y.tap_stride * k.stride(2),
                                 w.tap_stride * k.stride(3)};
      const int64_t offset = k.offset() + y.first_tap * k.stride(2) + w.first_tap * k.stride(3);
      const Layout taps(Shape(dims), strides, offset);
      Copied kernel_copy;
      sum.kernel = dense_from(taps, 0) ? element(kernel, offset) : kernel_copy.make(kernel, taps);
      sum.y = y.axis;
      sum.x = w.axis;
      sum.out =
          out.data() + dtype_bytes(out.dtype, static_cast<size_t>(y.first_output * s.w_out + w.first_output));
      sum.out_row = s.h_stride * s.w_out;
      sum.out_column = s.w_stride;
      const bool dense = s.h_stride == 1 && s.w_stride == 1;
      if (!dense || !as_product(sum)) conv_sum(sum);
    }
  }
}

}  // namespace beeswax::cpu
