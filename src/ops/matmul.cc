// SPDX-License-Identifier: Apache-2.0
// Matrix products: shapes are checked and batch axes broadcast here, the backend only multiplies.
#include "core/broadcast.h"
#include "ops/common.h"

namespace beeswax {
namespace {

// The leading axes of a shape, without the last two.
Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
}

Shape with_matrix(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// `a` is [.., m, k], `b` is [.., k, n]; both of one device, of dtypes that the backend multiplies. In a's.
Tensor multiply(std::string_view operation, const Tensor& a, const Tensor& b) {
  const Shape batch = broadcast_shapes(batch_of(a.shape()), batch_of(b.shape()), operation);
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const Shape to = with_matrix(batch, m, n);
  if (k == 0) return Tensor::zeros(to, a.dtype(), a.device());
  const Tensor out = ops::empty_on(a, to, a.dtype());
  if (out.elem_count() == 0) return out;
  const Layout left = a.layout().broadcast_as(with_matrix(batch, m, k), operation);
  const Layout right = b.layout().broadcast_as(with_matrix(batch, k, n), operation);
  ops::backend_of(a).matmul(ops::operand(a, left), ops::operand(b, right), ops::target(out));
  return out;
}

void check_operands(std::string_view operation, const Tensor& a, const Tensor& b) {
  ops::check_dtype(operation, a, ops::Accept::Number);
  ops::check_same_dtype(operation, a, b);
  ops::check_same_device(operation, a, b);
}

bool mixes(DType dtype) { return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16; }

[[noreturn]] void fail_shapes(std::string_view operation, const Tensor& a, const Tensor& b,
                              std::string_view accepted) {
  fail(ErrorKind::ShapeMismatch, operation, "cannot multiply ", a.describe(), " by ", b.describe(),
       "; accepted: ", accepted);
}

Tensor multiply_matrices(std::string_view operation, const Tensor& a, const Tensor& b) {
  constexpr std::string_view kAccepted =
      "[.., m, k] by [.., k, n] with leading axes that broadcast (equal or 1)";
  if (a.rank() < 2 || b.rank() < 2) fail_shapes(operation, a, b, kAccepted);
  if (a.dim(-1) != b.dim(-2)) fail_shapes(operation, a, b, kAccepted);
  if (!broadcasts(batch_of(a.shape()), batch_of(b.shape()))) fail_shapes(operation, a, b, kAccepted);
  return multiply(operation, a, b);
}

}  // namespace

Tensor Tensor::matmul(const Tensor& other) const try {
  check_operands("matmul", *this, other);
  return multiply_matrices("matmul", *this, other);
} catch (...) {
  ops::rethrow_as("matmul", {*this, {"other", other}});
}

Tensor Tensor::matmul_mixed(const Tensor& other) const try {
  if (!mixes(dtype()) || !mixes(other.dtype())) {
    check_operands("matmul_mixed", *this, other);
  } else {
    ops::check_same_device("matmul_mixed", *this, other);
  }
  return multiply_matrices("matmul_mixed", *this, other);
} catch (...) {
  ops::rethrow_as("matmul_mixed", {*this, {"other", other}});
}

Tensor Tensor::mv(const Tensor& vector) const try {
  check_operands("mv", *this, vector);
  if (rank() != 2 || vector.rank() != 1 || dim(1) != vector.dim(0))
    fail_shapes("mv", *this, vector, "[m, k] by [k]");
  return multiply("mv", *this, vector.unsqueeze(1)).squeeze(1);
} catch (...) {
  ops::rethrow_as("mv", {*this, {"vector", vector}});
}

Tensor Tensor::dot(const Tensor& other) const try {
  check_operands("dot", *this, other);
  if (rank() != 1 || other.rank() != 1 || dim(0) != other.dim(0))
    fail_shapes("dot", *this, other, "[k] by [k]");
  return multiply("dot", unsqueeze(0), other.unsqueeze(1)).squeeze(1).squeeze(0);
} catch (...) {
  ops::rethrow_as("dot", {*this, {"other", other}});
}

}  // namespace beeswax
