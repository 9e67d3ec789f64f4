// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and running sums.
#include "ops/common.h"

namespace beeswax {
namespace {

// Axes of the mask last, the others before them, both in order.
std::array<int, kMaxRank> with_last(uint32_t mask, int rank) {
  std::array<int, kMaxRank> order{};
  size_t at = 0;
  for (const bool last : {false, true})
    for (int axis = 0; axis < rank; ++axis)
      if (((mask >> axis) & 1u) == (last ? 1u : 0u)) order[at++] = axis;
  return order;
}

// The result where the axes of the mask are neighbours before others and the backend can leave them there,
// else an undefined tensor.
Tensor softmax_across(const Tensor& x, uint32_t mask, bool log) {
  if (mask == 0 || !x.is_contiguous() || x.elem_count() == 0) return {};
  int64_t sizes[3] = {1, 1, 1};
  size_t part = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if ((((mask >> axis) & 1u) != 0) != (part == 1)) ++part;
    if (part > 2) return {};
    sizes[part] *= x.dim(axis);
  }
  if (part < 2) return {};
  Tensor out = ops::empty_on(x, x.shape(), x.dtype());
  const Shape shape(sizes);
  if (!ops::backend_of(x).softmax_across(ops::operand(x.reshape(shape)), log,
                                         ops::target(out.reshape(shape))))
    return {};
  return out;
}

Tensor softmax_over(std::string_view name, const Tensor& x, const Axes& axes, bool log) try {
  ops::check_dtype(name, x, ops::Accept::Float);
  const uint32_t mask = axes.mask(x.shape(), name);
  if (const Tensor out = softmax_across(x, mask, log); out.defined()) return out;
  const auto rank = static_cast<size_t>(x.rank());
  const std::array<int, kMaxRank> order = with_last(mask, x.rank());
  std::array<int, kMaxRank> back{};
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  Tensor turned = x.permute(std::span(order.data(), rank));
  // The backend gathers rows; copying turns whole tiles.
  if (rank > 0 && turned.layout().stride(static_cast<int>(rank) - 1) != 1) turned = turned.contiguous();
  Tensor out = ops::empty_on(x, turned.shape(), x.dtype());
  if (out.elem_count() > 0)
    ops::backend_of(x).softmax(ops::operand(turned), __builtin_popcount(mask), log, ops::target(out));
  return out.permute(std::span(back.data(), rank)).contiguous();
} catch (...) {
  ops::rethrow_as(name, {x});
}

// The weight that was given, or ones: of the bias's shape, or over the last axis.
Tensor weight_or_ones(std::string_view name, const Tensor& x, const Tensor& given, const Tensor& bias) {
  if (given.defined()) return given;
  if (bias.defined()) return Tensor::ones(bias.shape(), x.dtype(), x.device());
  return Tensor::ones({x.dim(x.shape().axis(-1, name))}, x.dtype(), x.device());
}

Tensor normalize(NormKind kind, std::string_view name, const Tensor& x, const Tensor& given,
                 const Tensor& bias, double eps) try {
  ops::check_dtype(name, x, ops::Accept::Float);
  const Tensor weight = weight_or_ones(name, x, given, bias);
  ops::check_same_dtype(name, x, weight);
  ops::check_same_device(name, x, weight);
  bool fits = weight.rank() >= 1 && weight.rank() <= x.rank();
  for (int axis = 1; fits && axis <= weight.rank(); ++axis) fits = weight.dim(-axis) == x.dim(-axis);
  if (!fits)
    fail(ErrorKind::ShapeMismatch, name, given.defined() ? "the weight " : "the bias ", weight.describe(),
         " must have the last axes of ", x.describe());
  if (bias.defined()) {
    ops::check_same_dtype(name, x, bias);
    ops::check_same_device(name, x, bias);
    if (bias.shape() != weight.shape())
      fail(ErrorKind::ShapeMismatch, name, "the bias ", bias.describe(), " must have the weight's shape ",
           weight.describe());
  }
  const Tensor w = weight.contiguous();
  const Tensor b = bias.defined() ? bias.contiguous() : Tensor();
  const Operand no_bias{nullptr, nullptr, x.dtype()};
  Tensor out = ops::empty_on(x, x.shape(), x.dtype());
  if (out.elem_count() > 0)
    ops::backend_of(x).norm(kind, ops::operand(x), ops::operand(w), b.defined() ? ops::operand(b) : no_bias,
                            eps, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as(name, {x});
}

}  // namespace

Tensor Tensor::softmax(const Axes& axes) const { return softmax_over("softmax", *this, axes, false); }
Tensor Tensor::log_softmax(const Axes& axes) const { return softmax_over("log_softmax", *this, axes, true); }

Tensor Tensor::rms_norm(const Tensor& weight, double eps) const {
  return normalize(NormKind::Rms, "rms_norm", *this, weight, Tensor(), eps);
}

Tensor Tensor::layer_norm(const Tensor& weight, const Tensor& bias, double eps) const {
  return normalize(NormKind::Layer, "layer_norm", *this, weight, bias, eps);
}

Tensor Tensor::cumsum(int axis) const try {
  ops::check_dtype("cumsum", *this, ops::Accept::Number);
  const int at = shape().axis(axis, "cumsum");
  Tensor out = ops::empty_on(*this, shape(), dtype());
  if (out.elem_count() > 0) ops::backend_of(*this).cumsum(ops::operand(*this), at, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("cumsum", {*this});
}

}  // namespace beeswax
