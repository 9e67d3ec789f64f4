// SPDX-License-Identifier: Apache-2.0
#include "beeswax/shape.h"

#include <algorithm>
#include <climits>

#include "core/broadcast.h"
#include "core/fail.h"

namespace beeswax {
namespace {

void check_rank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxRank))
    fail(ErrorKind::InvalidArgument, "shape", rank, " dimensions; at most ", kMaxRank, " are supported");
}

[[noreturn]] void fail_size(int64_t size) {
  fail(ErrorKind::InvalidArgument, "shape", "negative size ", size);
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) {
  check_rank(dims.size());
  for (int64_t size : dims) push_back(size);
}

void Shape::push_back(int64_t size) { insert(rank_, size); }

void Shape::insert(int axis, int64_t size) {
  check_rank(static_cast<size_t>(rank_) + 1);
  if (size < 0) fail_size(size);
  if (axis < 0 || axis > rank_)
    fail(ErrorKind::DimOutOfRange, "shape", "no size can be put before axis ", axis, " of shape ", *this);
  std::copy_backward(dims_.begin() + axis, dims_.begin() + rank_, dims_.begin() + rank_ + 1);
  ++rank_;
  dims_[static_cast<size_t>(axis)] = size;
}

void Shape::refuse(int axis, int64_t size) const {
  if (axis < 0 || axis >= rank_)
    fail(ErrorKind::DimOutOfRange, "shape", "axis ", axis, " is out of range for shape ", *this);
  fail_size(size);
}

void Shape::erase(int axis) {
  if (axis < 0 || axis >= rank_) refuse(axis, 0);
  std::copy(dims_.begin() + axis + 1, dims_.begin() + rank_, dims_.begin() + axis);
  --rank_;
}

int64_t Shape::elem_count() const {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t size : dims()) {
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count);
  }
  if (overflow)
    fail(ErrorKind::TooLarge, "shape", to_string(),
         empty ? ": its other sizes have a product above 2^63" : " has more than 2^63 elements");
  return empty ? 0 : count;
}

int Shape::axis(int axis, std::string_view operation) const {
  const int normalized = axis < 0 ? axis + rank_ : axis;
  if (normalized < 0 || normalized >= rank_)
    fail(ErrorKind::DimOutOfRange, operation, "axis ", axis, " is out of range for shape ", to_string(),
         rank_ == 0 ? std::string(" (a scalar has no axes)")
                    : join_text(" (accepted: ", -rank_, " to ", rank_ - 1, ")"));
  return normalized;
}

bool Shape::operator==(const Shape& other) const { return std::ranges::equal(dims(), other.dims()); }

std::string Shape::to_string() const {
  std::string text = "[";
  for (int64_t size : dims()) text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  return text + "]";
}

Axes::Axes(std::initializer_list<int> axes) : Axes(std::span(axes.begin(), axes.size())) {}

Axes::Axes(std::span<const int> axes) : count_(static_cast<int>(std::min<size_t>(axes.size(), INT_MAX))) {
  std::ranges::copy(axes.first(kept()), axes_.begin());
}

uint32_t Axes::mask(const Shape& shape, std::string_view operation) const {
  if (count_ > kMaxRank)
    fail(ErrorKind::InvalidArgument, operation, count_, " axes are named for shape ", shape, "; at most ",
         kMaxRank, " are supported");
  uint32_t mask = 0;
  for (int axis : list()) {
    const uint32_t bit = 1u << shape.axis(axis, operation);
    if ((mask & bit) != 0)
      fail(ErrorKind::DuplicateDim, operation, "axis ", axis, " is named twice for shape ", shape);
    mask |= bit;
  }
  return mask;
}

namespace {
std::string_view space(std::string_view word) { return word.empty() ? "" : " "; }
}  // namespace

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation, std::string_view a_dtype,
                       std::string_view b_dtype) {
  if (const int axis = broadcast_misfit(a, b); axis != 0)
    fail(ErrorKind::ShapeMismatch, operation, "cannot broadcast ", a, space(a_dtype), a_dtype, " with ", b,
         space(b_dtype), b_dtype, ": sizes ", a[a.rank() + axis], " and ", b[b.rank() + axis], " of axis ",
         axis, " differ and neither is 1");
  const bool a_is_longer = a.rank() >= b.rank();
  Shape out = a_is_longer ? a : b;
  const Shape& other = a_is_longer ? b : a;
  for (int i = 1; i <= other.rank(); ++i)
    if (out[out.rank() - i] == 1) out.set(out.rank() - i, other[other.rank() - i]);
  return out;
}

}  // namespace beeswax
