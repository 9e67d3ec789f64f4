// SPDX-License-Identifier: Apache-2.0
// Sorting along an axis. Other axes than the last are views whose rows are brought together first.
#include "ops/common.h"

namespace beeswax {
namespace {

// The first `keep` elements of every row along `axis` in order, as values (where wanted) and ids.
std::pair<Tensor, Tensor> sorted(std::string_view name, const Tensor& x, int axis, bool ascending,
                                 int64_t keep, bool want_values) {
  const int last = x.rank() - 1;
  if (x.dim(axis) > int64_t{UINT32_MAX})
    fail(ErrorKind::TooLarge, name, "axis ", axis, " of ", x.describe(), " has ", x.dim(axis),
         " elements; ids are u32, so at most ", UINT32_MAX);
  Tensor rows = x.transpose(axis, last);
  if (rows.layout().stride(last) != 1) rows = rows.contiguous();
  Shape to = rows.shape();
  to.set(last, keep);
  const Tensor ids = ops::empty_on(x, to, DType::U32);
  const Tensor values = want_values ? ops::empty_on(x, to, x.dtype()) : Tensor();
  if (ids.elem_count() > 0)
    ops::backend_of(x).sort(ops::operand(rows), ascending, want_values ? ops::target(values) : Target{},
                            ops::target(ids));
  return {want_values ? values.transpose(axis, last).contiguous() : values,
          ids.transpose(axis, last).contiguous()};
}

}  // namespace

Tensor Tensor::arg_sort(int axis, bool ascending) const {
  ops::check_dtype("arg_sort", *this, ops::Accept::Number);
  const int at = shape().axis(axis, "arg_sort");
  return sorted("arg_sort", *this, at, ascending, dim(at), false).second;
}

std::pair<Tensor, Tensor> Tensor::sort(int axis, bool ascending) const {
  ops::check_dtype("sort", *this, ops::Accept::Number);
  const int at = shape().axis(axis, "sort");
  return sorted("sort", *this, at, ascending, dim(at), true);
}

std::pair<Tensor, Tensor> Tensor::topk(int64_t k, bool largest) const {
  ops::check_dtype("topk", *this, ops::Accept::Number);
  const int at = shape().axis(-1, "topk");
  if (k < 0 || k > dim(at))
    fail(ErrorKind::InvalidArgument, "topk", "k = ", k, " is not in [0, ", dim(at), "], the last axis of ",
         describe());
  return sorted("topk", *this, at, !largest, k, true);
}

}  // namespace beeswax
