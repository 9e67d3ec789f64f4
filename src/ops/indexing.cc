// SPDX-License-Identifier: Apache-2.0
// Selecting and scattering by id tensors.
#include "ops/common.h"
#include "ops/scatter.h"

namespace beeswax {
namespace {

void check_id_tensor(std::string_view operation, const Tensor& x, const Tensor& ids) {
  ops::check_dtype(operation, ids, ops::Accept::Int);
  ops::check_same_device(operation, x, ids);
}

}  // namespace

Tensor Tensor::index_select(const Tensor& ids, int axis) const try {
  const int at = shape().axis(axis, "index_select");
  ops::check_not_packed("index_select", *this);
  check_id_tensor("index_select", *this, ids);
  ops::check_rank("index_select", ids, 1, "ids [n]");
  Shape to = shape();
  to.set(at, ids.elem_count());
  Tensor out = ops::empty_on(*this, to, dtype());
  if (ids.elem_count() > 0)
    ops::backend_of(*this).index_select(ops::operand(*this), ops::operand(ids), at, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("index_select", {*this, {"ids", ids}});
}

Tensor Tensor::embedding(const Tensor& ids) const try {
  ops::check_rank("embedding", *this, 2, "a table [rows, columns]");
  check_id_tensor("embedding", *this, ids);
  const Shape to = ops::embedded_shape(ids, shape()[1]);
  try {
    return index_select(ids.flatten_all(), 0).reshape(to);
  } catch (Error& error) {
    throw error.while_doing(join_text("embedding of ids ", ids.describe(), " in ", describe()));
  }
} catch (...) {
  ops::rethrow_as("embedding", {*this, {"ids", ids}});
}

Tensor Tensor::gather(const Tensor& ids, int axis) const try {
  const int at = shape().axis(axis, "gather");
  ops::check_not_packed("gather", *this);
  check_id_tensor("gather", *this, ids);
  ops::check_fits("gather", "ids", ids, *this, at);
  Tensor out = ops::empty_on(*this, ids.shape(), dtype());
  if (out.elem_count() > 0)
    ops::backend_of(*this).gather(ops::operand(*this), ops::operand(ids), at, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("gather", {*this, {"ids", ids}});
}

Tensor Tensor::scatter(const Tensor& ids, const Tensor& source, int axis) const try {
  const int at = ops::check_scatter("scatter", ScatterMode::Set, *this, ids, source, axis);
  Tensor out = copy();
  if (source.elem_count() > 0)
    ops::backend_of(out).scatter(ScatterMode::Set, ops::operand(ids), ops::operand(source), at,
                                 ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("scatter", {*this, {"ids", ids}, {"source", source}});
}

Tensor Tensor::scatter_add(const Tensor& ids, const Tensor& source, int axis) const try {
  const int at = ops::check_scatter("scatter_add", ScatterMode::Add, *this, ids, source, axis);
  Tensor out = copy();
  if (source.elem_count() > 0)
    ops::backend_of(out).scatter(ScatterMode::Add, ops::operand(ids), ops::operand(source), at,
                                 ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("scatter_add", {*this, {"ids", ids}, {"source", source}});
}

Tensor Tensor::index_add(const Tensor& ids, const Tensor& source, int axis) const try {
  const int at = shape().axis(axis, "index_add");
  check_id_tensor("index_add", *this, ids);
  ops::check_rank("index_add", ids, 1, "ids [n]");
  ops::check_same_dtype("index_add", *this, source);
  ops::check_dtype("index_add", *this, ops::Accept::Number);
  ops::check_same_device("index_add", *this, source);
  Shape expected = shape();
  expected.set(at, ids.elem_count());
  if (!(source.shape() == expected))
    fail(ErrorKind::ShapeMismatch, "index_add", "the source ", source.describe(),
         " does not go with the destination ", describe(), " and ", ids.elem_count(), " ids along axis ",
         axis, "; expected ", expected);
  Tensor out = copy();
  if (ids.elem_count() > 0)
    ops::backend_of(out).index_add(ops::operand(ids), ops::operand(source), at, ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("index_add", {*this, {"ids", ids}, {"source", source}});
}

Tensor Tensor::slice_scatter(const Tensor& source, int axis, int64_t start) const try {
  const int at = shape().axis(axis, "slice_scatter");
  ops::check_slice("slice_scatter", *this, source, at, start);
  Tensor out = copy();
  ops::write_slice(out, source, at, start);
  return out;
} catch (...) {
  ops::rethrow_as("slice_scatter", {*this, {"source", source}});
}

}  // namespace beeswax
