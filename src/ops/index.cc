// SPDX-License-Identifier: Apache-2.0
// Slicing by numbers, ranges, id lists and id tensors; replacing a slice.
#include <algorithm>

#include "ops/common.h"

namespace beeswax {
namespace {

void check_count(std::string_view operation, const Tensor& x, size_t count) {
  if (count > static_cast<size_t>(x.rank()))
    fail(ErrorKind::DimOutOfRange, operation, count, " indices for ", x.describe(), ", which has ", x.rank(),
         " axes; accepted: at most one for each");
}

// One position: a view. `axis` counts in x and is where the next position goes on; messages are of `given`,
// what the caller indexes, whose axis `number` that is.
Tensor slice(std::string_view operation, const Tensor& x, const Index& index, int* axis, const Tensor& given,
             int number) {
  const int64_t size = x.shape()[*axis];
  ops::check_not_packed(operation, x);
  if (index.kind() == Index::Kind::At) {
    const int64_t at = index.at() < 0 ? index.at() + size : index.at();
    if (at < 0 || at >= size)
      fail(ErrorKind::IndexOutOfRange, operation, "position ", index.at(), " is out of range for axis ",
           number, " of ", given.describe(), ops::accepted_positions(size));
    return x.with_layout(x.layout().narrow(*axis, at, 1).squeeze(*axis));
  }
  const Range range = index.range();
  const int64_t start = range.start < 0 ? range.start + size : range.start;
  const int64_t end = range.end == INT64_MAX ? size : range.end < 0 ? range.end + size : range.end;
  if (start < 0 || start > size || end < 0 || end > size)
    fail(ErrorKind::IndexOutOfRange, operation, "range ", range.start, "..",
         range.end == INT64_MAX ? std::string() : std::to_string(range.end), " does not fit axis ", number,
         " of ", given.describe(), " (accepted: positions from ", -size, " to ", size, ")");
  return x.with_layout(x.layout().narrow((*axis)++, start, std::max<int64_t>(0, end - start)));
}

}  // namespace

Tensor Tensor::index(std::span<const Index> indices) const try {
  check_count("index", *this, indices.size());
  Tensor out = *this;
  int axis = 0, number = 0;
  for (const Index& index : indices) {
    if (index.kind() == Index::Kind::Ids) {
      // A list is host data; it follows the tensor to its device.
      const Tensor& ids = index.ids();
      try {
        out = out.index_select(ids.device().is_cpu() ? ids.to_device(out.device()) : ids, axis++);
      } catch (Error& error) {
        throw error.while_doing(join_text("index of axis ", number, " of ", describe()));
      }
    } else {
      out = slice("index", out, index, &axis, *this, number);
    }
    ++number;
  }
  return out;
} catch (...) {
  ops::rethrow_as("index", {*this});
}

Tensor Tensor::index(std::initializer_list<Index> indices) const {
  return index(std::span(indices.begin(), indices.size()));
}

Tensor Tensor::slice_assign(std::initializer_list<Index> ranges, const Tensor& source) const {
  return slice_assign(std::span(ranges.begin(), ranges.size()), source);
}

Tensor Tensor::slice_assign(std::span<const Index> ranges, const Tensor& source) const try {
  check_count("slice_assign", *this, ranges.size());
  ops::check_same_dtype("slice_assign", *this, source);
  ops::check_same_device("slice_assign", *this, source);
  Tensor out = copy();
  Tensor part = out;
  int axis = 0, number = 0;
  for (const Index& range : ranges) {
    if (range.kind() == Index::Kind::Ids)
      fail(ErrorKind::InvalidArgument, "slice_assign", "takes numbers and ranges, and got ids for ",
           describe(), "; for ids use scatter or index_add");
    part = slice("slice_assign", part, range, &axis, *this, number++);
  }
  if (!(part.shape() == source.shape()))
    fail(ErrorKind::ShapeMismatch, "slice_assign", "the ranges name a slice ", part.describe(), " of ",
         describe(), ", the source is ", source.describe(), "; accepted: a source of the slice's shape");
  if (source.elem_count() > 0) ops::backend_of(out).copy(ops::operand(source), ops::target(part));
  return out;
} catch (...) {
  ops::rethrow_as("slice_assign", {*this, {"source", source}});
}

}  // namespace beeswax
