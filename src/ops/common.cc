// SPDX-License-Identifier: Apache-2.0
#include "ops/common.h"

namespace beeswax::ops {
namespace {

bool accepts(Accept accept, DType dtype) {
  switch (accept) {
    case Accept::Float:
      return dtype_is_float(dtype);
    case Accept::Int:
      return dtype_is_int(dtype);
    case Accept::Number:
      break;
  }
  return !dtype_is_storage(dtype);
}

[[noreturn]] void fail_size(std::string_view operation, const Tensor& x) {
  fail(ErrorKind::TooLarge, operation, "the result would have 2^63 elements or more along an axis of ",
       x.describe());
}

}  // namespace

size_t checked_bytes(const Shape& shape, DType dtype) {
  const auto count = static_cast<uint64_t>(shape.elem_count());
  if (count > (uint64_t{1} << 60))
    fail(ErrorKind::TooLarge, "allocate", "shape ", shape, " of ", dtype_name(dtype), " has ", count,
         " elements; at most 2^60 are addressable");
  return dtype_bytes(dtype, count);
}

int64_t add_sizes(std::string_view operation, const Tensor& x, int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail_size(operation, x);
  return sum;
}

int64_t multiply_sizes(std::string_view operation, const Tensor& x, int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail_size(operation, x);
  return product;
}

int64_t count_elements(std::string_view operation, const Tensor& x, const Shape& to) {
  try {
    return to.elem_count();
  } catch (const Error& error) {
    fail(error.kind(), operation, "the shape ", to, " for ", x.describe(), " has more than 2^63 elements");
  }
}

void check_dtype(std::string_view operation, const Tensor& x, Accept accept) {
  if (accepts(accept, x.dtype())) return;
  std::string names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (accepts(accept, dtype)) names.append(names.empty() ? "" : ", ").append(dtype_name(dtype));
  }
  fail(ErrorKind::UnsupportedDType, operation, "not defined for ", x.describe(),
       "; accepted dtypes: ", names);
}

Shape embedded_shape(const Tensor& ids, int64_t columns) {
  if (ids.rank() == kMaxRank)
    fail(ErrorKind::InvalidArgument, "embedding", "ids ", ids.describe(), " have ", kMaxRank,
         " axes already; the columns would add one");
  Shape shape = ids.shape();
  shape.push_back(columns);
  return shape;
}

void check_same_dtype(std::string_view operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail(ErrorKind::DTypeMismatch, operation, "the dtypes of ", a.describe(), " and ", b.describe(),
         " differ; cast one side with to_dtype");
}

void check_same_device(std::string_view operation, const Tensor& a, const Tensor& b) {
  if (a.device() != b.device())
    fail(ErrorKind::DeviceMismatch, operation, "the devices of ", a.describe(), " and ", b.describe(),
         " differ; move one side with to_device");
}

void check_rank(std::string_view operation, const Tensor& x, int rank, std::string_view expected) {
  if (x.rank() != rank)
    fail(ErrorKind::ShapeMismatch, operation, "expected ", expected, " (rank ", rank, "), got ",
         x.describe());
}

void check_not_packed(std::string_view operation, const Tensor& x) {
  if (dtype_is_storage(x.dtype()) && dtype_bits(x.dtype()) % 8 != 0)
    fail(ErrorKind::UnsupportedDType, operation, x.describe(),
         " is packed below a byte and only moves whole; cast with to_dtype first");
}

}  // namespace beeswax::ops
