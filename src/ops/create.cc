// SPDX-License-Identifier: Apache-2.0
// Creation: constants, ranges, masks, grids, data from the host. Random numbers are in random.cc.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "beeswax/shared_bytes.h"
#include "ops/common.h"

namespace beeswax {
Tensor Tensor::empty(const Shape& shape, DType dtype, const Device& device) try {
  const size_t bytes = ops::checked_bytes(shape, dtype);
  try {
    return {backend_for(device).allocate(bytes), Layout(shape), dtype};
  } catch (Error& error) {
    throw error.while_doing(join_text("making ", shape, " ", dtype_name(dtype), " ", device));
  }
} catch (...) {
  ops::rethrow_as("empty", {});
}

namespace {

Tensor filled(std::string_view operation, const Shape& shape, const Scalar& value, DType dtype,
              const Device& device) try {
  const Scalar converted = value.to(dtype, operation);
  Tensor out = Tensor::empty(shape, dtype, device);
  ops::check_dtype(operation, out, ops::Accept::Number);
  if (out.elem_count() > 0) ops::backend_of(out).fill(ops::target(out), converted);
  return out;
} catch (...) {
  ops::rethrow_as(operation, {});
}

}  // namespace

Tensor Tensor::full(const Shape& shape, const Scalar& value, DType dtype, const Device& device) {
  return filled("full", shape, value, dtype, device);
}
Tensor Tensor::zeros(const Shape& shape, DType dtype, const Device& device) {
  return filled("zeros", shape, 0, dtype, device);
}
Tensor Tensor::ones(const Shape& shape, DType dtype, const Device& device) {
  return filled("ones", shape, 1, dtype, device);
}
Tensor Tensor::zeros_like() const try { return zeros(shape(), dtype(), device()); } catch (...) {
  ops::rethrow_as("zeros_like", {*this});
}
Tensor Tensor::ones_like() const try { return ones(shape(), dtype(), device()); } catch (...) {
  ops::rethrow_as("ones_like", {*this});
}
Tensor Tensor::full_like(const Scalar& value) const try {
  return full(shape(), value, dtype(), device());
} catch (...) {
  ops::rethrow_as("full_like", {*this});
}
Tensor Tensor::empty_like() const try { return empty(shape(), dtype(), device()); } catch (...) {
  ops::rethrow_as("empty_like", {*this});
}
Tensor Tensor::scalar(const Scalar& value, DType dtype, const Device& device) {
  return filled("scalar", Shape(), value, dtype, device);
}

namespace {

void check_byte_count(std::span<const std::byte> bytes, const Shape& shape, DType dtype) {
  const size_t expected = ops::checked_bytes(shape, dtype);
  if (bytes.size() != expected)
    fail(ErrorKind::InvalidArgument, "from_bytes", "shape ", shape, " of ", dtype_name(dtype), " takes ",
         expected, " bytes, got ", bytes.size());
}

}  // namespace

Tensor Tensor::from_host(std::string_view operation, std::span<const std::byte> bytes, const Shape& shape,
                         DType dtype, const Device& device) try {
  check_byte_count(bytes, shape, dtype);
  Tensor out = empty(shape, dtype, device);
  backend_for(device).upload(out.storage(), 0, bytes);
  return out;
} catch (...) {
  ops::rethrow_as(operation, {});
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, const Shape& shape, DType dtype,
                          const Device& device) {
  return from_host("from_bytes", bytes, shape, dtype, device);
}

Tensor tensor_from_shared_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const Shape& shape, DType dtype) try {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % dtype_bytes(dtype, 1) == 0;
  if (owner == nullptr || !aligned || bytes.empty())
    return Tensor::from_bytes(bytes, shape, dtype, Device::cpu());
  check_byte_count(bytes, shape, dtype);
  return {Storage::borrow(bytes, std::move(owner)), Layout(shape), dtype};
} catch (...) {
  ops::rethrow_as("tensor_from_shared_bytes", {});
}

namespace {

// Elements of a range of whole numbers, `last` the last one that may be: in 64 bits without a sign, for the
// distance may not fit 63. All of them, from the first to the last i64, are counted as one less.
uint64_t whole_steps(int64_t first, int64_t last, int64_t by) {
  const auto from = static_cast<uint64_t>(first), to = static_cast<uint64_t>(last);
  if (by > 0 ? last < first : last > first) return 0;
  const uint64_t steps = by > 0 ? (to - from) / static_cast<uint64_t>(by)
                                : (from - to) / (uint64_t{0} - static_cast<uint64_t>(by));
  return steps == UINT64_MAX ? steps : steps + 1;
}

// The i64 next to the end of a range, on the side that it comes from; the range is empty where `none`.
int64_t last_before(const Scalar& end, bool rising, bool& none) {
  if (end.is_int()) {
    none = end.as_int() == (rising ? INT64_MIN : INT64_MAX);
    return none ? end.as_int() : end.as_int() - (rising ? 1 : -1);
  }
  const double last = rising ? std::ceil(end.as_double()) : std::floor(end.as_double());
  none = rising ? last <= -0x1p63 : last >= 0x1p63;
  if (rising ? last >= 0x1p63 : last < -0x1p63) return rising ? INT64_MAX : INT64_MIN;
  return none ? 0 : static_cast<int64_t>(last) - (rising ? 1 : -1);
}

// (end - start) / step, whatever the distance.
double steps_between(double start, double end, double step) {
  if (std::isfinite(end - start)) return (end - start) / step;
  return (end / 2 - start / 2) / (step / 2);
}

Tensor range(std::string_view operation, const Scalar& start, const Scalar& end, const Scalar& step,
             DType dtype, const Device& device) try {
  ops::check_dtype(operation, Tensor::empty({0}, dtype, device), ops::Accept::Number);
  const bool whole = dtype_is_int(dtype);
  for (const Scalar& number : {start, end, step})
    if (!std::isfinite(number.as_double()))
      fail(ErrorKind::InvalidArgument, operation, "from ", start, " to ", end, " in steps of ", step,
           "; accepted: finite numbers");
  if (step.as_double() == 0)
    fail(ErrorKind::InvalidArgument, operation, "from ", start, " to ", end,
         " in steps of 0; accepted: any other step");
  // The end is not one of the values, so it need not be a value of the dtype: 0 to 256 are all of u8.
  const Scalar first = whole ? start.to(dtype, operation) : start.as_double();
  if (whole && std::trunc(step.as_double()) != step.as_double())
    fail(ErrorKind::InvalidArgument, operation, "steps of ", step, " do not lead to values of ",
         dtype_name(dtype), "; accepted: whole numbers");
  const Scalar by = whole ? step.to(DType::I64, operation) : step.as_double();
  uint64_t count = 0;
  if (whole) {
    bool none = false;
    const int64_t last = last_before(end, by.as_int() > 0, none);
    count = none ? 0 : whole_steps(first.as_int(), last, by.as_int());
  } else {
    const double steps = std::ceil(steps_between(start.as_double(), end.as_double(), step.as_double()));
    count = steps > 0 ? static_cast<uint64_t>(std::min(steps, 0x1p63)) : 0;
    if (count <= (uint64_t{1} << 60) && count > 0 &&
        !std::isfinite(static_cast<double>(count - 1) * step.as_double()))
      fail(ErrorKind::InvalidArgument, operation, "from ", start, " to ", end, " in steps of ", step,
           ": the last value is farther from the first than f64 has numbers; accepted: a distance up to ",
           DBL_MAX);
  }
  if (count > (uint64_t{1} << 60))
    fail(ErrorKind::TooLarge, operation, "from ", start, " to ", end, " in steps of ", step,
         " has more than 2^60 elements");
  if (whole && count > 0)
    (void)Scalar(static_cast<int64_t>(static_cast<uint64_t>(first.as_int()) +
                                      (count - 1) * static_cast<uint64_t>(by.as_int())))
        .to(dtype, operation);
  const Tensor out = Tensor::empty({static_cast<int64_t>(count)}, dtype, device);
  if (count > 0) ops::backend_of(out).range(ops::target(out), first, by);
  return out;
} catch (...) {
  ops::rethrow_as(operation, {});
}

}  // namespace

Tensor Tensor::arange(const Scalar& start, const Scalar& end, DType dtype, const Device& device) {
  return range("arange", start, end, 1, dtype, device);
}

Tensor Tensor::arange_step(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype,
                           const Device& device) {
  return range("arange_step", start, end, step, dtype, device);
}

Tensor Tensor::eye(int64_t n, DType dtype, const Device& device) try {
  const Tensor out = zeros({n, n}, dtype, device);
  const int64_t step[] = {n + 1};
  const Tensor diagonal = out.with_layout(Layout({n}, step, 0));
  if (n > 0) backend_for(device).fill(ops::target(diagonal), Scalar(1).to(dtype, "eye"));
  return out;
} catch (...) {
  ops::rethrow_as("eye", {});
}

namespace {

// Row i of a triangular mask is a window of n elements into ones and zeros side by side: it starts at n-1-i.
Tensor triangle(std::string_view operation, bool ones_first, int64_t n, DType dtype,
                const Device& device) try {
  if (n <= 0) return Tensor::zeros({n, n}, dtype, device);
  ops::checked_bytes({n, n}, dtype);
  const Tensor ones = Tensor::ones({n}, dtype, device);
  const Tensor zeros = Tensor::zeros({n - 1}, dtype, device);
  return Tensor::cat({ones_first ? ones : zeros, ones_first ? zeros : ones}, 0).unfold(0, n, 1).flip(0);
} catch (...) {
  ops::rethrow_as(operation, {});
}

}  // namespace

Tensor Tensor::tril2(int64_t n, DType dtype, const Device& device) {
  return triangle("tril2", true, n, dtype, device);
}
Tensor Tensor::triu2(int64_t n, DType dtype, const Device& device) {
  return triangle("triu2", false, n, dtype, device);
}

std::vector<Tensor> Tensor::meshgrid(std::initializer_list<Tensor> args, bool xy_indexing) {
  return meshgrid(std::span(args.begin(), args.size()), xy_indexing);
}

std::vector<Tensor> Tensor::meshgrid(std::span<const Tensor> args, bool xy_indexing) try {
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
} catch (...) {
  ops::rethrow_as("meshgrid", {});
}

}  // namespace beeswax
