// SPDX-License-Identifier: Apache-2.0
// Creation: constants, ranges, masks, grids, data from the host. Random numbers are in random.cc.
#include <cmath>

#include "ops/common.h"

namespace beeswax {
namespace {

// Bytes of a tensor, refused before anything is allocated.
size_t checked_bytes(const Shape& shape, DType dtype) {
  const auto count = static_cast<uint64_t>(shape.elem_count());
  if (count > (uint64_t{1} << 60))
    fail(ErrorKind::TooLarge, "allocate", "shape ", shape, " of ", dtype_name(dtype), " has ", count,
         " elements; at most 2^60 are addressable");
  return dtype_bytes(dtype, count);
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, const Device& device) {
  const size_t bytes = checked_bytes(shape, dtype);
  return {backend_for(device).allocate(bytes), Layout(shape), dtype};
}

Tensor Tensor::full(const Shape& shape, const Scalar& value, DType dtype, const Device& device) {
  const Scalar converted = value.to(dtype, "full");
  Tensor out = empty(shape, dtype, device);
  ops::check_dtype("full", out, ops::Accept::Number);
  if (out.elem_count() > 0) ops::backend_of(out).fill(ops::target(out), converted);
  return out;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 0, dtype, device);
}
Tensor Tensor::ones(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 1, dtype, device);
}
Tensor Tensor::zeros_like() const { return zeros(shape(), dtype(), device()); }
Tensor Tensor::ones_like() const { return ones(shape(), dtype(), device()); }
Tensor Tensor::scalar(const Scalar& value, DType dtype, const Device& device) {
  return full(Shape(), value, dtype, device);
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype,
                          const Device& device) {
  const size_t expected = checked_bytes(shape, dtype);
  if (bytes.size() != expected)
    fail(ErrorKind::InvalidArgument, "from_bytes", "shape ", shape, " of ", dtype_name(dtype), " takes ",
         expected, " bytes, got ", bytes.size());
  Tensor out = empty(shape, dtype, device);
  backend_for(device).upload(out.storage(), 0, bytes);
  return out;
}

Tensor Tensor::arange(const Scalar& start, const Scalar& end, DType dtype, const Device& device) {
  return arange_step(start, end, 1, dtype, device);
}

Tensor Tensor::arange_step(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype,
                           const Device& device) {
  const Scalar first = start.to(dtype, "arange");
  const Scalar last = end.to(dtype, "arange");
  const Scalar by = step.to(dtype_is_int(dtype) ? DType::I64 : dtype, "arange");
  if (by.as_double() == 0) fail(ErrorKind::InvalidArgument, "arange", "the step is 0");
  int64_t count = 0;
  if (dtype_is_int(dtype)) {
    const int64_t span = last.as_int() - first.as_int();
    const int64_t size = by.as_int();
    if ((span > 0) == (size > 0) && span != 0) count = (span - (size > 0 ? 1 : -1)) / size + 1;
  } else {
    const double steps = std::ceil((last.as_double() - first.as_double()) / by.as_double());
    if (!(steps < 1e18))
      fail(ErrorKind::TooLarge, "arange", "from ", start, " to ", end, " in steps of ", step,
           " has too many elements");
    count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  }
  Tensor out = empty({count}, dtype, device);
  ops::check_dtype("arange", out, ops::Accept::Number);
  if (count > 0) ops::backend_of(out).range(ops::target(out), first, by);
  return out;
}

Tensor Tensor::eye(int64_t n, DType dtype, const Device& device) {
  const Tensor out = zeros({n, n}, dtype, device);
  const int64_t step[] = {n + 1};
  const Tensor diagonal = out.with_layout(Layout({n}, step, 0));
  if (n > 0) backend_for(device).fill(ops::target(diagonal), Scalar(1).to(dtype, "eye"));
  return out;
}

namespace {

// Row i of a triangular mask is a window of n elements into ones and zeros side by side: it starts at n-1-i.
Tensor windows_backwards(const Tensor& sides, int64_t n) { return sides.unfold(0, n, 1).flip(0); }

}  // namespace

Tensor Tensor::tril2(int64_t n, DType dtype, const Device& device) {
  if (n <= 0) return zeros({n, n}, dtype, device);
  return windows_backwards(cat({ones({n}, dtype, device), zeros({n - 1}, dtype, device)}, 0), n);
}

Tensor Tensor::triu2(int64_t n, DType dtype, const Device& device) {
  if (n <= 0) return zeros({n, n}, dtype, device);
  return windows_backwards(cat({zeros({n - 1}, dtype, device), ones({n}, dtype, device)}, 0), n);
}

std::vector<Tensor> Tensor::meshgrid(std::span<const Tensor> args, bool xy_indexing) {
  if (args.size() < 2 || args.size() > static_cast<size_t>(kMaxRank))
    fail(ErrorKind::InvalidArgument, "meshgrid", "takes 2 to ", kMaxRank, " 1-D tensors, got ", args.size());
  // Axis i of the grid belongs to argument i; "xy" gives the first axis (rows) to the second argument.
  const auto axis_of = [&](size_t i) {
    return xy_indexing && i < 2 ? static_cast<int>(1 - i) : static_cast<int>(i);
  };
  Shape grid;
  for (size_t i = 0; i < args.size(); ++i) {
    ops::check_rank("meshgrid", args[i], 1, "arguments [n]");
    grid.push_back(args[static_cast<size_t>(axis_of(i))].elem_count());
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < args.size(); ++i) {
    Shape alone;
    for (int axis = 0; axis < grid.rank(); ++axis) alone.push_back(axis == axis_of(i) ? grid[axis] : 1);
    out.push_back(args[i].reshape(alone).broadcast_as(grid).copy());
  }
  return out;
}

}  // namespace beeswax
