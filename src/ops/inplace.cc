// SPDX-License-Identifier: Apache-2.0
// Operations that write in place. All checks come before the first write; each write counts in the storage's
// version.
#include "ops/scatter.h"

namespace beeswax {
namespace {

// Whether two positions may be one element: sorted by stride, each axis must step over all smaller ones.
// Exact for what views make of dense storage.
bool overlaps(const Layout& layout) {
  uint32_t left = 0;
  for (int axis = 0; axis < layout.rank(); ++axis) left |= layout.dim(axis) > 1 ? 1u << axis : 0u;
  int64_t reach = 0;
  while (left != 0) {
    int nearest = __builtin_ctz(left);
    for (int axis = nearest + 1; axis < layout.rank(); ++axis)
      if ((left >> axis & 1u) != 0 && layout.stride(axis) < layout.stride(nearest)) nearest = axis;
    if (layout.stride(nearest) <= reach) return true;
    reach += (layout.dim(nearest) - 1) * layout.stride(nearest);
    left &= ~(1u << nearest);
  }
  return false;
}

void check_writable(std::string_view operation, const Tensor& to) {
  if (to.storage().read_only())
    fail(ErrorKind::Aliasing, operation, "the destination ", to.describe(),
         " looks into memory of another owner, such as a mapped file, which is never written; write to a "
         "copy() "
         "of it");
  if (to.elem_count() > 0 && overlaps(to.layout()))
    fail(ErrorKind::Aliasing, operation, "the destination ", to.describe(),
         " is a view with several positions on one element (broadcast or unfolded); write to a copy() of it");
}

void check_apart(std::string_view operation, const Tensor& to, const Tensor& other, std::string_view name) {
  if (&to.storage() == &other.storage())
    fail(ErrorKind::Aliasing, operation, "the ", name, " ", other.describe(),
         " shares storage with the destination ", to.describe(), "; give a copy() of one");
}

void scatter_in_place(std::string_view operation, ScatterMode mode, const Tensor& to, const Tensor& ids,
                      const Tensor& source, int axis) try {
  const int at = ops::check_scatter(operation, mode, to, ids, source, axis);
  check_writable(operation, to);
  check_apart(operation, to, ids, "ids");
  check_apart(operation, to, source, "source");
  if (source.elem_count() == 0) return;
  // Backends write to dense memory; through a view that means a copy and back.
  const Tensor dense = to.contiguous();
  try {
    Backend& backend = ops::backend_of(to);
    if (&dense.storage() == &to.storage()) {
      ops::write_in_place(
          to, [&] { backend.scatter(mode, ops::operand(ids), ops::operand(source), at, ops::target(to)); });
      return;
    }
    backend.scatter(mode, ops::operand(ids), ops::operand(source), at, ops::target(dense));
    ops::write_in_place(to, [&] { backend.copy(ops::operand(dense), ops::target(to)); });
  } catch (Error& error) {
    throw error.while_doing(join_text(operation, " into ", to.describe()));
  }
} catch (...) {
  ops::rethrow_as(operation, {to, {"ids", ids}, {"source", source}});
}

}  // namespace

void Tensor::scatter_set(const Tensor& ids, const Tensor& source, int axis) {
  scatter_in_place("scatter_set", ScatterMode::Set, *this, ids, source, axis);
}

void Tensor::scatter_add_set(const Tensor& ids, const Tensor& source, int axis) {
  scatter_in_place("scatter_add_set", ScatterMode::Add, *this, ids, source, axis);
}

void Tensor::slice_set(const Tensor& source, int axis, int64_t offset) try {
  const int at = shape().axis(axis, "slice_set");
  ops::check_slice("slice_set", *this, source, at, offset);
  check_writable("slice_set", *this);
  check_apart("slice_set", *this, source, "source");
  if (source.elem_count() == 0) return;
  ops::write_in_place(*this, [&] { ops::write_slice(*this, source, at, offset); });
} catch (...) {
  ops::rethrow_as("slice_set", {*this, {"source", source}});
}

void Tensor::const_set(const Scalar& value) try {
  ops::check_dtype("const_set", *this, ops::Accept::Number);
  const Scalar converted = value.to(dtype(), "const_set");
  check_writable("const_set", *this);
  if (elem_count() == 0) return;
  ops::write_in_place(*this, [&] { ops::backend_of(*this).fill(ops::target(*this), converted); });
} catch (...) {
  ops::rethrow_as("const_set", {*this});
}

}  // namespace beeswax
