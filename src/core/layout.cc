// SPDX-License-Identifier: Apache-2.0
#include "beeswax/layout.h"

#include <algorithm>

#include "core/broadcast.h"
#include "core/fail.h"

namespace beeswax {

Layout::Layout(const Shape& shape, int64_t offset) : shape_(shape), offset_(offset) {
  int64_t stride = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    strides_[static_cast<size_t>(axis)] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
}

Layout::Layout(const Shape& shape, std::span<const int64_t> strides, int64_t offset)
    : shape_(shape), offset_(offset) {
  if (strides.size() != static_cast<size_t>(rank()))
    fail(ErrorKind::InvalidArgument, "layout", strides.size(), " strides for shape ", shape,
         "; accepted: one for each axis");
  std::ranges::copy(strides, strides_.begin());
}

bool Layout::is_contiguous() const {
  int64_t expected = 1;
  bool dense = true;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (dim(axis) == 0) return true;
    if (dim(axis) == 1) continue;
    dense = dense && stride(axis) == expected;
    expected *= dim(axis);
  }
  return dense;
}

bool Layout::is_fortran_contiguous() const {
  int64_t expected = 1;
  bool dense = true;
  for (int axis = 0; axis < rank(); ++axis) {
    if (dim(axis) == 0) return true;
    if (dim(axis) == 1) continue;
    dense = dense && stride(axis) == expected;
    expected *= dim(axis);
  }
  return dense;
}

Layout Layout::narrow(int axis, int64_t start, int64_t length) const {
  Layout out = *this;
  out.offset_ += start * stride(axis);
  out.shape_.set(axis, length);
  return out;
}

Layout Layout::transpose(int a, int b) const {
  Layout out = *this;
  out.shape_.set(a, dim(b));
  out.shape_.set(b, dim(a));
  std::swap(out.strides_[static_cast<size_t>(a)], out.strides_[static_cast<size_t>(b)]);
  return out;
}

Layout Layout::permute(std::span<const int> axes) const {
  Layout out = *this;
  for (size_t i = 0; i < axes.size(); ++i) {
    out.shape_.set(static_cast<int>(i), dim(axes[i]));
    out.strides_[i] = stride(axes[i]);
  }
  return out;
}

Layout Layout::broadcast_as(const Shape& shape, std::string_view operation) const {
  if (!broadcasts_to(shape_, shape))
    fail(ErrorKind::ShapeMismatch, operation, "cannot broadcast ", shape_, " to ", shape,
         ": each size must be equal or 1, counted from the last axis");
  const int added = shape.rank() - rank();
  Layout out(shape, offset_);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int from = axis - added;
    const bool same = from >= 0 && dim(from) == shape[axis];
    out.strides_[static_cast<size_t>(axis)] = same ? stride(from) : 0;
  }
  return out;
}

Layout Layout::squeeze(int axis) const {
  Layout out = *this;
  out.shape_.erase(axis);
  std::copy(out.strides_.begin() + axis + 1, out.strides_.end(), out.strides_.begin() + axis);
  return out;
}

Layout Layout::unsqueeze(int axis) const {
  Layout out = *this;
  out.shape_.insert(axis, 1);
  std::copy_backward(out.strides_.begin() + axis, out.strides_.end() - 1, out.strides_.end());
  out.strides_[static_cast<size_t>(axis)] = axis < rank() ? stride(axis) * dim(axis) : 1;
  return out;
}

Layout Layout::unfold(int axis, int64_t size, int64_t step) const {
  Layout out = *this;
  out.shape_.set(axis, (dim(axis) - size) / step + 1);
  out.strides_[static_cast<size_t>(axis)] = stride(axis) * step;
  out.strides_[static_cast<size_t>(rank())] = stride(axis);
  out.shape_.push_back(size);
  return out;
}

bool Layout::reshape_view(const Shape& shape, Layout* out) const {
  if (is_contiguous()) {
    *out = Layout(shape, offset_);
    return true;
  }
  // Walk both shapes from the front, matching groups of axes with equal products. A group of old axes can be
  // regrouped when each one's stride is the next one's stride times its size.
  Layout result(shape, offset_);
  int old_axis = 0;
  int new_axis = 0;
  while (new_axis < shape.rank() || old_axis < rank()) {
    int old_end = old_axis;
    int new_end = new_axis;
    int64_t old_count = old_end < rank() ? dim(old_end++) : 1;
    int64_t new_count = new_end < shape.rank() ? shape[new_end++] : 1;
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= dim(old_end++);
      } else {
        new_count *= shape[new_end++];
      }
    }
    int64_t inner = -1;  // stride of the innermost old axis of the group that is longer than 1
    int64_t expected = 0;
    for (int axis = old_end - 1; axis >= old_axis; --axis) {
      if (dim(axis) == 1) continue;
      if (inner < 0) {
        inner = stride(axis);
      } else if (stride(axis) != expected) {
        return false;
      }
      expected = stride(axis) * dim(axis);
    }
    int64_t step = inner < 0 ? 1 : inner;
    for (int axis = new_end - 1; axis >= new_axis; --axis) {
      result.strides_[static_cast<size_t>(axis)] = step;
      step *= shape[axis];
    }
    old_axis = old_end;
    new_axis = new_end;
  }
  *out = result;
  return true;
}

int64_t Layout::extent() const {
  int64_t last = offset_;
  for (int axis = 0; axis < rank(); ++axis) {
    if (dim(axis) == 0) return 0;
    last += (dim(axis) - 1) * stride(axis);
  }
  return last + 1;
}

StridedIndex Layout::strided_index() const { return StridedIndex(*this); }

StridedBlocks Layout::strided_blocks() const {
  if (shape_.elem_count() == 0) return {0, StridedIndex(Layout(Shape{0}))};
  int64_t length = 1;
  int outer = rank();  // axes that are not part of a run; those of size 1 may have any stride
  while (outer > 0 && (dim(outer - 1) == 1 || stride(outer - 1) == length)) length *= dim(--outer);
  const auto count = static_cast<size_t>(outer);
  return {length, StridedIndex(Layout(Shape(shape_.dims().first(count)), strides().first(count), offset_))};
}

StridedIndex::Iterator::Iterator(const Layout* layout)
    : layout_(layout), place_(layout->offset()), left_(layout->shape().elem_count()) {}

StridedIndex::Iterator& StridedIndex::Iterator::operator++() {
  --left_;
  for (int axis = layout_->rank() - 1; axis >= 0; --axis) {
    int64_t& at = position_[static_cast<size_t>(axis)];
    place_ += layout_->stride(axis);
    if (++at < layout_->dim(axis)) break;
    place_ -= layout_->stride(axis) * at;
    at = 0;
  }
  return *this;
}

}  // namespace beeswax
