// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding.
#include <algorithm>

#include "backends/convert_scalar.h"
#include "ops/common.h"

namespace beeswax {
namespace {

void check_angles(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  const DType compute = compute_dtype(x.dtype());
  if (cos.dtype() != sin.dtype() || (cos.dtype() != x.dtype() && cos.dtype() != compute)) {
    const std::string also = compute == x.dtype() ? "" : join_text(" or ", dtype_name(compute));
    fail(ErrorKind::DTypeMismatch, "rope", "cos ", cos.describe(), " and sin ", sin.describe(),
         " must both be ", dtype_name(x.dtype()), also, " for ", x.describe());
  }
  ops::check_same_device("rope", x, cos);
  ops::check_same_device("rope", x, sin);
  bool fits = x.rank() > 0 && cos.shape() == sin.shape() && cos.rank() > 0 && cos.rank() <= x.rank() &&
              cos.dim(-1) <= x.dim(-1) / 2;
  for (int axis = 2; fits && axis <= cos.rank(); ++axis)
    fits = cos.dim(-axis) == 1 || cos.dim(-axis) == x.dim(-axis);
  if (!fits)
    fail(ErrorKind::ShapeMismatch, "rope", "cos ", cos.describe(), " and sin ", sin.describe(),
         " must have one shape, at most half as many elements along the last axis as ", x.describe(),
         ", and other axes that broadcast to its own");
}

}  // namespace

Tensor Tensor::rope(const Tensor& cos, const Tensor& sin, RopePairs pairs) const try {
  ops::check_dtype("rope", *this, ops::Accept::Float);
  check_angles(*this, cos, sin);
  if (cos.dim(-1) == 0) return copy();
  Tensor out = ops::empty_on(*this, shape(), dtype());
  if (out.elem_count() == 0) return out;
  const Tensor x = ops::dense_rows(*this);
  Tensor c = ops::dense_rows(cos.to_dtype(compute_dtype(dtype())));
  Tensor s = ops::dense_rows(sin.to_dtype(compute_dtype(dtype())));
  if (!std::ranges::equal(c.strides(), s.strides())) {
    c = c.contiguous();
    s = s.contiguous();
  }
  Shape to = shape();
  to.set(rank() - 1, cos.dim(-1));
  const Layout c_layout = c.layout().broadcast_as(to, "rope"), s_layout = s.layout().broadcast_as(to, "rope");
  ops::backend_of(*this).rope(pairs, ops::operand(x), ops::operand(c, c_layout), ops::operand(s, s_layout),
                              ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("rope", {*this, {"cos", cos}, {"sin", sin}});
}

}  // namespace beeswax
