// SPDX-License-Identifier: Apache-2.0
#include "ops/common.h"

#include <new>
#include <stdexcept>

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

// Whether it tells of what the caller gave or asked for. An error of another kind may be of an earlier
// operation, which a device tells late.
bool is_of_call(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::InvalidArgument:
    case ErrorKind::ShapeMismatch:
    case ErrorKind::DTypeMismatch:
    case ErrorKind::UnsupportedDType:
    case ErrorKind::DimOutOfRange:
    case ErrorKind::DuplicateDim:
    case ErrorKind::DeviceMismatch:
    case ErrorKind::OutOfMemory:
    case ErrorKind::TooLarge:
      return true;
    default:
      return false;
  }
}

// "[2, 3] f32 cpu, ids [4] u32 cpu"
std::string text_of(std::initializer_list<Given> arguments) {
  std::string text;
  for (const Given& given : arguments)
    if (given.defined)
      text += join_text(text.empty() ? "" : ", ", given.name, given.name.empty() ? "" : " ", given.text);
  return text;
}

[[noreturn]] void fail_memory(std::string_view operation, std::initializer_list<Given> arguments) {
  const std::string text = text_of(arguments);
  fail(ErrorKind::OutOfMemory, operation, "no memory for what the operation needs",
       text.empty() ? "" : " beside ", text);
}

}  // namespace

void rethrow_as(std::string_view operation, std::initializer_list<Given> arguments) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    fail_memory(operation, arguments);
  } catch (const std::length_error&) {
    fail_memory(operation, arguments);
  } catch (Error& error) {
    if (!is_of_call(error.kind())) throw;
    if (error.kind() == ErrorKind::InvalidArgument)
      for (const Given& given : arguments)
        if (!given.defined)
          fail(error.kind(), operation, given.name.empty() ? "" : join_text(given.name, ": "),
               "the tensor is undefined (default-constructed)");
    error.called(operation);
    const bool of_size = error.kind() == ErrorKind::OutOfMemory || error.kind() == ErrorKind::TooLarge;
    if (const std::string text = text_of(arguments); of_size && !text.empty())
      error.while_doing(join_text(operation, " of ", text));
    throw;
  }
}

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

std::string accepted_positions(int64_t size) {
  if (size == 0) return " (the axis is empty)";
  return join_text(" (accepted: positions from ", -size, " to ", size - 1, ")");
}

void check_dtype(std::string_view operation, const Tensor& x, Accept accept) try {
  if (accepts(accept, x.dtype())) return;
  std::string names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (accepts(accept, dtype)) names.append(names.empty() ? "" : ", ").append(dtype_name(dtype));
  }
  fail(ErrorKind::UnsupportedDType, operation, "not defined for ", x.describe(),
       "; accepted dtypes: ", names);
} catch (...) {
  rethrow_as(operation, {x});
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

void check_rank(std::string_view operation, const Tensor& x, int rank, std::string_view expected) try {
  if (x.rank() != rank)
    fail(ErrorKind::ShapeMismatch, operation, "expected ", expected, " (rank ", rank, "), got ",
         x.describe());
} catch (...) {
  rethrow_as(operation, {x});
}

void check_not_packed(std::string_view operation, const Tensor& x) try {
  if (dtype_is_storage(x.dtype()) && dtype_bits(x.dtype()) % 8 != 0)
    fail(ErrorKind::UnsupportedDType, operation, x.describe(),
         " is packed below a byte and only moves whole; cast with to_dtype first");
} catch (...) {
  rethrow_as(operation, {x});
}

}  // namespace beeswax::ops
