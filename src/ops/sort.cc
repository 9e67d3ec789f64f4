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

// All of it, with the checks; any axis.
std::pair<Tensor, Tensor> sorted_axis(std::string_view name, const Tensor& x, int axis, bool ascending,
                                      bool want_values) try {
  ops::check_dtype(name, x, ops::Accept::Number);
  const int at = x.shape().axis(axis, name);
  return sorted(name, x, at, ascending, x.dim(at), want_values);
} catch (...) {
  ops::rethrow_as(name, {x});
}

}  // namespace

Tensor Tensor::arg_sort(int axis, bool ascending) const {
  return sorted_axis("arg_sort", *this, axis, ascending, false).second;
}
Tensor Tensor::arg_sort_last_dim(bool ascending) const {
  return sorted_axis("arg_sort_last_dim", *this, -1, ascending, false).second;
}

std::pair<Tensor, Tensor> Tensor::sort(int axis, bool ascending) const {
  return sorted_axis("sort", *this, axis, ascending, true);
}
std::pair<Tensor, Tensor> Tensor::sort_last_dim(bool ascending) const {
  return sorted_axis("sort_last_dim", *this, -1, ascending, true);
}

std::pair<Tensor, Tensor> Tensor::topk(int64_t k, bool largest) const try {
  ops::check_dtype("topk", *this, ops::Accept::Number);
  const int at = shape().axis(-1, "topk");
  if (k < 0 || k > dim(at))
    fail(ErrorKind::InvalidArgument, "topk", "k = ", k, " is not in [0, ", dim(at), "], the last axis of ",
         describe());
  return sorted("topk", *this, at, !largest, k, true);
} catch (...) {
  ops::rethrow_as("topk", {*this});
}

}  // namespace beeswax
