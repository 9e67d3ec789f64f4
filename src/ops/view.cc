// SPDX-License-Identifier: Apache-2.0
// Views: new layouts over the same storage, and the copies where a layout does not allow a view.
#include "core/broadcast.h"
#include "ops/common.h"

namespace beeswax {

using ops::check_not_packed;

namespace {

// Views that can have more elements than what they look into must still be countable.
Tensor checked_view(std::string_view operation, const Tensor& x, const Layout& layout) {
  try {
    (void)layout.shape().elem_count();
  } catch (const Error& error) {
    fail(error.kind(), operation, "a view of ", x.describe(), " with ", layout.shape(),
         " has more than 2^63 elements");
  }
  return x.with_layout(layout);
}

[[noreturn]] void fail_rank(std::string_view operation, const Tensor& x, int rank) {
  fail(ErrorKind::InvalidArgument, operation, "the result of ", x.describe(), " would have ", rank,
       " axes; accepted: at most ", kMaxRank);
}

// One position of an axis, which is dropped.
Tensor position(std::string_view operation, const Tensor& x, int axis, int64_t index) {
  const int at = x.shape().axis(axis, operation);
  const int64_t size = x.shape()[at];
  const int64_t from = index < 0 ? index + size : index;
  if (from < 0 || from >= size)
    fail(ErrorKind::IndexOutOfRange, operation, "index ", index, " is out of range for axis ", axis, " of ",
         x.describe(), ops::accepted_positions(size));
  check_not_packed(operation, x);
  return x.with_layout(x.layout().narrow(at, from, 1).squeeze(at));
}

}  // namespace

Tensor Tensor::reshape(const std::initializer_list<int64_t>& sizes) const {
  return reshape(std::span(sizes.begin(), sizes.size()));
}

Tensor Tensor::reshape(std::span<const int64_t> sizes) const try {
  const int64_t count = elem_count();
  if (sizes.size() > static_cast<size_t>(kMaxRank))
    fail_rank("reshape", *this, static_cast<int>(sizes.size()));
  int hole = -1;
  Shape to;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1 || (sizes[i] == -1 && hole >= 0))
      fail(ErrorKind::InvalidArgument, "reshape", "size ", sizes[i], " of axis ", i, " for ", describe(),
           "; accepted: sizes of 0 or more, one of them may be -1");
    if (sizes[i] == -1) hole = static_cast<int>(i);
    to.push_back(sizes[i] == -1 ? 1 : sizes[i]);
  }
  const int64_t rest = ops::count_elements("reshape", *this, to);
  if (hole >= 0) {
    if (rest == 0 || count % rest != 0)
      fail(ErrorKind::ShapeMismatch, "reshape", "cannot infer the -1: ", count, " elements of ", describe(),
           " do not divide by ", rest, "; accepted: other sizes whose product is not 0 and divides ", count);
    to.set(hole, count / rest);
  } else if (rest != count) {
    fail(ErrorKind::ShapeMismatch, "reshape", describe(), " has ", count, " elements, ", to, " has ", rest,
         "; accepted: sizes whose product is ", count);
  }
  Layout view;
  if (layout().reshape_view(to, &view)) return with_layout(view);
  return contiguous().with_layout(Layout(to));
} catch (...) {
  ops::rethrow_as("reshape", {*this});
}

Tensor Tensor::flatten(int first, int last) const try {
  if (rank() == 0) return reshape({1});
  const int from = shape().axis(first, "flatten");
  const int to = shape().axis(last, "flatten");
  if (from > to)
    fail(ErrorKind::InvalidArgument, "flatten", "first axis ", first, " comes after last axis ", last, " in ",
         describe(), "; accepted: a first axis that does not");
  Shape out;
  int64_t joined = 1;
  for (int axis = 0; axis < rank(); ++axis) {
    if (axis < from || axis > to) {
      out.push_back(shape()[axis]);
      continue;
    }
    joined *= shape()[axis];
    if (axis == to) out.push_back(joined);
  }
  return reshape(out);
} catch (...) {
  ops::rethrow_as("flatten", {*this});
}

Tensor Tensor::flatten_all() const { return flatten(0, -1); }

Tensor Tensor::squeeze(int axis) const {
  const int at = shape().axis(axis, "squeeze");
  return shape()[at] == 1 ? with_layout(layout().squeeze(at)) : *this;
}

Tensor Tensor::unsqueeze(int axis) const {
  const int at = axis < 0 ? axis + rank() + 1 : axis;
  if (at < 0 || at > rank())
    fail(ErrorKind::DimOutOfRange, "unsqueeze", "axis ", axis, " is out of range for shape ", describe(),
         " (accepted: ", -rank() - 1, " to ", rank(), ")");
  if (rank() == kMaxRank) fail_rank("unsqueeze", *this, rank() + 1);
  return with_layout(layout().unsqueeze(at));
}

Tensor Tensor::transpose(int a, int b) const {
  check_not_packed("transpose", *this);
  return with_layout(layout().transpose(shape().axis(a, "transpose"), shape().axis(b, "transpose")));
}

Tensor Tensor::t() const {
  if (rank() < 2) fail(ErrorKind::ShapeMismatch, "t", "needs at least two axes, got ", describe());
  return transpose(-2, -1);
}

Tensor Tensor::permute(std::initializer_list<int> axes) const {
  return permute(std::span(axes.begin(), axes.size()));
}

Tensor Tensor::permute(std::span<const int> axes) const {
  check_not_packed("permute", *this);
  const uint32_t mask = Axes(axes).mask(shape(), "permute");
  if (mask != (1u << rank()) - 1)
    fail(ErrorKind::InvalidArgument, "permute", "names ", axes.size(), " of the ", rank(), " axes of ",
         describe(), "; each must be named once");
  std::array<int, kMaxRank> order{};
  for (size_t i = 0; i < axes.size(); ++i) order[i] = shape().axis(axes[i], "permute");
  return with_layout(layout().permute(std::span(order.data(), axes.size())));
}

Tensor Tensor::broadcast_as(const Shape& to) const {
  check_not_packed("broadcast_as", *this);
  if (!broadcasts_to(shape(), to))
    fail(ErrorKind::ShapeMismatch, "broadcast_as", "cannot broadcast ", describe(), " to ", to,
         "; accepted: each size equal or 1, counted from the last axis");
  return checked_view("broadcast_as", *this, layout().broadcast_as(to, "broadcast_as"));
}

Tensor Tensor::broadcast_left(const Shape& left) const try {
  if (left.rank() + rank() > kMaxRank) fail_rank("broadcast_left", *this, left.rank() + rank());
  Shape to = left;
  for (int64_t size : shape()) to.push_back(size);
  return broadcast_as(to);
} catch (...) {
  ops::rethrow_as("broadcast_left", {*this});
}

Tensor Tensor::unfold(int axis, int64_t size, int64_t step) const {
  check_not_packed("unfold", *this);
  const int at = shape().axis(axis, "unfold");
  if (size < 0 || step < 1 || size > shape()[at])
    fail(ErrorKind::InvalidArgument, "unfold", "windows of ", size, " in steps of ", step,
         " do not fit axis ", axis, " of ", describe(), " (accepted: 0 <= size <= ", shape()[at],
         ", step >= 1)");
  if (rank() == kMaxRank) fail_rank("unfold", *this, rank() + 1);
  return checked_view("unfold", *this, layout().unfold(at, size, step));
}

Tensor Tensor::narrow(int axis, int64_t start, int64_t length) const {
  const int at = shape().axis(axis, "narrow");
  const int64_t size = shape()[at];
  if (start < 0 || length < 0 || start > size || length > size - start)
    fail(ErrorKind::InvalidArgument, "narrow", "start ", start, " and length ", length, " do not fit axis ",
         axis, " of ", describe(), " (accepted: a start from 0 to ", size, ", a length from 0 to ", size,
         " - start)");
  if (start == 0 && length == size) return *this;
  check_not_packed("narrow", *this);
  return with_layout(layout().narrow(at, start, length));
}

Tensor Tensor::get(int64_t index) const { return position("get", *this, 0, index); }
Tensor Tensor::get_on_dim(int axis, int64_t index) const {
  return position("get_on_dim", *this, axis, index);
}

std::vector<Tensor> Tensor::chunk(int chunks, int axis) const try {
  const int at = shape().axis(axis, "chunk");
  if (chunks < 1)
    fail(ErrorKind::InvalidArgument, "chunk", "needs at least one chunk of ", describe(), ", got ", chunks);
  const int64_t size = shape()[at];
  const int64_t parts = size < chunks ? size : chunks;
  std::vector<Tensor> out;
  for (int64_t part = 0, start = 0; part < parts; ++part) {
    const int64_t length = size / parts + (part < size % parts ? 1 : 0);
    out.push_back(narrow(at, start, length));
    start += length;
  }
  return out;
} catch (...) {
  ops::rethrow_as("chunk", {*this});
}

Tensor Tensor::contiguous() const try { return is_contiguous() ? *this : copy(); } catch (...) {
  ops::rethrow_as("contiguous", {});
}

Tensor Tensor::copy() const try {
  Tensor out = ops::empty_on(*this, shape(), dtype());
  if (elem_count() > 0) ops::backend_of(*this).copy(ops::operand(*this), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("copy", {*this});
}

}  // namespace beeswax
