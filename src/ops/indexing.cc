// SPDX-License-Identifier: Apache-2.0
// Selecting and scattering by id tensors.
#include "ops/common.h"

namespace beeswax {

Tensor Tensor::index_select(const Tensor& ids, int axis) const {
  const int at = shape().axis(axis, "index_select");
  ops::check_dtype("index_select", ids, ops::Accept::Int);
  ops::check_same_device("index_select", *this, ids);
  ops::check_rank("index_select", ids, 1, "ids [n]");
  Shape to = shape();
  to.set(at, ids.elem_count());
  Tensor out = ops::empty_on(*this, to, dtype());
  if (out.elem_count() > 0)
    ops::backend_of(*this).index_select(ops::operand(*this), ops::operand(ids), at, ops::target(out));
  return out;
}

}  // namespace beeswax
