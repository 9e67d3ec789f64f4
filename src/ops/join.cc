// SPDX-License-Identifier: Apache-2.0
// Joining and repeating: each part is copied once, straight to its place in the result.
#include <algorithm>
#include <array>

#include "ops/common.h"

namespace beeswax {
namespace {

using ops::check_not_packed;

// Copies `part` into `out` at `start` along `axis`; shapes were checked.
void place(const Tensor& out, int axis, int64_t start, const Tensor& part) {
  if (part.elem_count() == 0) return;
  const Tensor to = out.with_layout(out.layout().narrow(axis, start, part.shape()[axis]));
  ops::backend_of(out).copy(ops::operand(part), ops::target(to));
}

// The parts, alike but for their size along `axis`, one after the other.
Tensor join(std::string_view operation, std::span<const Tensor> parts, int axis) {
  Shape to = parts[0].shape();
  int64_t size = 0;
  for (const Tensor& part : parts) size = ops::add_sizes(operation, part, size, part.shape()[axis]);
  to.set(axis, size);
  const Tensor out = ops::empty_on(parts[0], to, parts[0].dtype());
  if (out.elem_count() == 0) return out;
  Backend& backend = ops::backend_of(out);
  std::array<Operand, Backend::kMostJoined> operands;
  int64_t start = 0;
  for (size_t first = 0; first < parts.size(); first += operands.size()) {
    const std::span<const Tensor> some =
        parts.subspan(first, std::min(operands.size(), parts.size() - first));
    for (size_t i = 0; i < some.size(); ++i) operands[i] = ops::operand(some[i]);
    const bool joined = backend.join({operands.data(), some.size()}, axis, start, ops::target(out));
    for (const Tensor& part : some) {
      if (!joined) place(out, axis, start, part);
      start += part.shape()[axis];
    }
  }
  return out;
}

bool alike(const Shape& a, const Shape& b, int axis) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

// Parts of one dtype and device.
void check_parts(std::string_view operation, std::span<const Tensor> parts) {
  if (parts.empty()) fail(ErrorKind::InvalidArgument, operation, "needs at least one tensor, got none");
  for (const Tensor& part : parts) {
    ops::check_same_dtype(operation, parts[0], part);
    ops::check_same_device(operation, parts[0], part);
    if (parts.size() > 1) check_not_packed(operation, part);
  }
}

void check_pads(std::string_view operation, const Tensor& x, int axis, int64_t left, int64_t right) {
  if (left < 0 || right < 0)
    fail(ErrorKind::InvalidArgument, operation, "left ", left, " and right ", right, " of axis ", axis,
         " of ", x.describe(), " must not be negative");
  check_not_packed(operation, x);
}

// `x` in the middle of a result that is `left` and `right` longer.
Tensor padded(std::string_view operation, const Tensor& x, int axis, int64_t left, int64_t right) {
  Shape to = x.shape();
  const int64_t added = ops::add_sizes(operation, x, left, right);
  to.set(axis, ops::add_sizes(operation, x, added, x.shape()[axis]));
  const Tensor out = ops::empty_on(x, to, x.dtype());
  place(out, axis, left, x);
  return out;
}

}  // namespace

Tensor Tensor::cat(std::initializer_list<Tensor> parts, int axis) {
  return cat(std::span(parts.begin(), parts.size()), axis);
}

Tensor Tensor::cat(std::span<const Tensor> parts, int axis) try {
  check_parts("cat", parts);
  const int at = parts[0].shape().axis(axis, "cat");
  for (size_t i = 1; i < parts.size(); ++i)
    if (!alike(parts[0].shape(), parts[i].shape(), at))
      fail(ErrorKind::ShapeMismatch, "cat", "part ", i, " is ", parts[i].describe(), ", part 0 is ",
           parts[0].describe(), "; only axis ", at, " may differ");
  return parts.size() == 1 ? parts[0] : join("cat", parts, at);
} catch (...) {
  ops::rethrow_as("cat", {});
}

Tensor Tensor::stack(std::initializer_list<Tensor> parts, int axis) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}

Tensor Tensor::stack(std::span<const Tensor> parts, int axis) try {
  check_parts("stack", parts);
  const int rank = parts[0].rank();
  const int at = axis < 0 ? axis + rank + 1 : axis;
  if (at < 0 || at > rank)
    fail(ErrorKind::DimOutOfRange, "stack", "axis ", axis, " is out of range for parts ", parts[0].describe(),
         " (accepted: ", -rank - 1, " to ", rank, ")");
  if (rank == kMaxRank)
    fail(ErrorKind::InvalidArgument, "stack", "parts ", parts[0].describe(), " have ", kMaxRank,
         " axes already; it would add one");
  std::vector<Tensor> rows;
  rows.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!(parts[i].shape() == parts[0].shape()))
      fail(ErrorKind::ShapeMismatch, "stack", "part ", i, " is ", parts[i].describe(), ", part 0 is ",
           parts[0].describe(), "; all must be alike");
    rows.push_back(parts[i].with_layout(parts[i].layout().unsqueeze(at)));
  }
  return rows.size() == 1 ? rows[0] : join("stack", rows, at);
} catch (...) {
  ops::rethrow_as("stack", {});
}

Tensor Tensor::pad_with_zeros(int axis, int64_t left, int64_t right) const try {
  const int at = shape().axis(axis, "pad_with_zeros");
  check_pads("pad_with_zeros", *this, axis, left, right);
  if (left == 0 && right == 0) return *this;
  ops::check_dtype("pad_with_zeros", *this, ops::Accept::Number);
  Tensor out = padded("pad_with_zeros", *this, at, left, right);
  const auto clear = [&](int64_t start, int64_t length) {
    const Tensor part = out.narrow(at, start, length);
    if (part.elem_count() > 0)
      ops::backend_of(out).fill(ops::target(part), Scalar(0).to(dtype(), "pad_with_zeros"));
  };
  clear(0, left);
  clear(left + shape()[at], right);
  return out;
} catch (...) {
  ops::rethrow_as("pad_with_zeros", {*this});
}

Tensor Tensor::pad_with_same(int axis, int64_t left, int64_t right) const try {
  const int at = shape().axis(axis, "pad_with_same");
  check_pads("pad_with_same", *this, axis, left, right);
  if (left == 0 && right == 0) return *this;
  const int64_t size = shape()[at];
  if (size == 0)
    fail(ErrorKind::EmptyTensor, "pad_with_same", "axis ", axis, " of ", describe(),
         " is empty: it has no edge to repeat");
  Tensor out = padded("pad_with_same", *this, at, left, right);
  Shape edge = shape();
  edge.set(at, left);
  place(out, at, 0, narrow(at, 0, 1).broadcast_as(edge));
  edge.set(at, right);
  place(out, at, left + size, narrow(at, size - 1, 1).broadcast_as(edge));
  return out;
} catch (...) {
  ops::rethrow_as("pad_with_same", {*this});
}

Tensor Tensor::repeat(std::initializer_list<int64_t> times) const {
  return repeat(std::span(times.begin(), times.size()));
}

Tensor Tensor::repeat(std::span<const int64_t> times) const try {
  check_not_packed("repeat", *this);
  const bool fits = times.size() <= static_cast<size_t>(kMaxRank);
  if (!fits || std::ranges::any_of(times, [](int64_t count) { return count < 0; }))
    fail(ErrorKind::InvalidArgument, "repeat", "takes at most ", kMaxRank, " factors of 0 or more for ",
         describe(), ", got ", times.size(), times.empty() ? "" : ", the least ",
         times.empty() ? "" : std::to_string(*std::ranges::min_element(times)));
  const Shape factors(times);
  Tensor out = *this;
  while (out.rank() < factors.rank()) out = out.unsqueeze(0);
  // From the last axis to the first, so that the last and largest pass copies the longest runs. One axis:
  // [outer, 1, inner] broadcast to [outer, times, inner].
  const int added = out.rank() - factors.rank();
  for (int axis = out.rank() - 1; axis >= added; --axis) {
    const int64_t count = factors[axis - added];
    if (count == 1) continue;
    Shape to = out.shape();
    to.set(axis, ops::multiply_sizes("repeat", *this, to[axis], count));
    if (ops::count_elements("repeat", *this, to) == 0) {
      out = empty(to, dtype(), device());
      continue;
    }
    int64_t inner = 1;
    for (int i = axis; i < out.rank(); ++i) inner *= out.shape()[i];
    const int64_t outer = out.elem_count() / inner;
    out = out.reshape({outer, 1, inner}).broadcast_as({outer, count, inner}).copy().reshape(to);
  }
  return out;
} catch (...) {
  ops::rethrow_as("repeat", {*this});
}

Tensor Tensor::flip(const Axes& axes) const try {
  check_not_packed("flip", *this);
  const uint32_t mask = axes.mask(shape(), "flip");
  Tensor out = ops::empty_on(*this, shape(), dtype());
  if (elem_count() == 0) return out;
  // The same elements walked from the other end.
  std::array<int64_t, kMaxRank> strides{};
  int64_t offset = layout().offset();
  for (int axis = 0; axis < rank(); ++axis) {
    const bool flipped = (mask >> axis & 1u) != 0;
    const int64_t stride = layout().stride(axis);
    strides[static_cast<size_t>(axis)] = flipped ? -stride : stride;
    if (flipped) offset += stride * (shape()[axis] - 1);
  }
  const Layout backwards(shape(), std::span(strides.data(), static_cast<size_t>(rank())), offset);
  ops::backend_of(*this).copy(ops::operand(*this, backwards), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("flip", {*this});
}

Tensor Tensor::roll(int64_t shift, int axis) const try {
  const int at = shape().axis(axis, "roll");
  check_not_packed("roll", *this);
  const int64_t size = shape()[at];
  if (size == 0) return *this;
  const int64_t rest = shift % size;
  const int64_t by = rest < 0 ? rest + size : rest;
  if (by == 0) return *this;
  const Tensor parts[] = {narrow(at, size - by, by), narrow(at, 0, size - by)};
  return join("roll", parts, at);
} catch (...) {
  ops::rethrow_as("roll", {*this});
}

}  // namespace beeswax
