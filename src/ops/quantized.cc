// SPDX-License-Identifier: Apache-2.0
// Quantized weights: what may be asked of them, and the tensors that come out.
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "beeswax/shared_bytes.h"
#include "ops/common.h"

namespace beeswax {
namespace {

/// The blocks of a shape as bytes, [rows, bytes of a row]; refuses shapes that the format cannot have.
Shape block_shape(std::string_view operation, const Shape& shape, QuantType type) {
  const QuantTraits& traits = quant_traits(type);
  if (shape.rank() == 0)
    fail(ErrorKind::ShapeMismatch, operation, traits.name,
         " needs at least one axis to cut into blocks, got a scalar");
  const int64_t last = shape[shape.rank() - 1];
  if (last % traits.block_elements != 0)
    fail(ErrorKind::ShapeMismatch, operation, traits.name, " cuts the last axis into blocks of ",
         traits.block_elements, "; shape ", shape, " ends in ", last, ", which is not a multiple of that");
  const int64_t rows = Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 1))).elem_count();
  return {rows, last / traits.block_elements * traits.block_bytes};
}

/// The same where the bytes are exactly those of the blocks.
Shape shape_of_bytes(std::span<const std::byte> bytes, const Shape& shape, QuantType type) {
  const Shape blocks = block_shape("qtensor_from_bytes", shape, type);
  const int64_t expected = blocks.elem_count();
  if (static_cast<int64_t>(bytes.size()) != expected)
    fail(ErrorKind::InvalidArgument, "qtensor_from_bytes", "shape ", shape, " of ", quant_name(type),
         " takes ", expected, " bytes, got ", bytes.size());
  return blocks;
}

void check_importance(const Tensor& x, QuantType type, std::span<const float> importance) {
  constexpr std::string_view kName = "quantize_imatrix";
  if (!quant_traits(type).imatrix)
    fail(ErrorKind::Unsupported, kName, quant_name(type), " has no importance-matrix quantization (",
#define BW_QUANT_Yes(name) #name " "
#define BW_QUANT_No(name) ""
#define BW_QUANT(Name, name, id, elements, bytes, partner, imatrix) BW_QUANT_##imatrix(name)
#include "tables/quants.def"
         "have it)");
  const int64_t columns = x.rank() == 0 ? 1 : x.dim(-1);
  if (static_cast<int64_t>(importance.size()) != columns)
    fail(ErrorKind::ShapeMismatch, kName, "needs one weight per element of the last axis: ", columns, " for ",
         x.describe(), ", got ", importance.size());
  for (size_t i = 0; i < importance.size(); ++i)
    if (!std::isfinite(importance[i]) || importance[i] < 0)
      fail(ErrorKind::InvalidArgument, kName, "weight ", i, " is ", importance[i],
           "; weights are finite and not negative");
}

/// A new u8 tensor holding the blocks of x.
Tensor quantized_blocks(std::string_view operation, const Tensor& x, QuantType type,
                        std::span<const float> importance) try {
  ops::check_dtype(operation, x, ops::Accept::Float);
  Tensor blocks = ops::empty_on(x, block_shape(operation, x.shape(), type), DType::U8);
  if (blocks.elem_count() > 0) {
    const Tensor floats = x.to_dtype(DType::F32).contiguous();
    ops::backend_of(x).quantize(type, ops::operand(floats), importance, blocks.storage());
  }
  return blocks;
} catch (...) {
  ops::rethrow_as(operation, {x});
}

UnaryOp unary_of(Activation activation) {
  return activation == Activation::Silu ? UnaryOp::Silu : UnaryOp::Gelu;
}

Tensor gated(Activation activation, const Tensor& gate, const Tensor& factor) {
  return activation == Activation::Silu ? gate.swiglu(factor) : gate.geglu(factor);
}

void check_defined(std::string_view operation, const QTensor& x) {
  if (!x.defined())
    fail(ErrorKind::InvalidArgument, operation, "the weight is undefined (default-constructed)");
}

}  // namespace

QTensor QTensor::quantize(const Tensor& x, QuantType type) {
  return {quantized_blocks("quantize", x, type, {}), x.shape(), type};
}

QTensor QTensor::quantize_imatrix(const Tensor& x, QuantType type, std::span<const float> importance) {
  check_importance(x, type, importance);
  return {quantized_blocks("quantize_imatrix", x, type, importance), x.shape(), type};
}

QTensor QTensor::from_bytes(std::span<const std::byte> bytes, const Shape& shape, QuantType type,
                            const Device& device) try {
  const Shape blocks = shape_of_bytes(bytes, shape, type);
  return {Tensor::from_bytes(bytes, blocks, DType::U8, device), shape, type};
} catch (...) {
  ops::rethrow_as("qtensor_from_bytes", {});
}

QTensor qtensor_from_shared_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                  const Shape& shape, QuantType type) try {
  const Shape blocks = shape_of_bytes(bytes, shape, type);
  return {tensor_from_shared_bytes(bytes, std::move(owner), blocks, DType::U8), shape, type};
} catch (...) {
  ops::rethrow_as("qtensor_from_shared_bytes", {});
}

QTensor QTensor::to_device(const Device& device) const try {
  check_defined("to_device", *this);
  return {blocks_.to_device(device), shape_, type_};
} catch (...) {
  ops::rethrow_as("to_device", {*this});
}

std::string QTensor::describe() const { return join_text(shape_, " ", quant_name(type_), " ", device()); }

Tensor QTensor::dequantize(DType dtype) const try {
  check_defined("dequantize", *this);
  if (dtype_is_storage(dtype))
    fail(ErrorKind::UnsupportedDType, "dequantize", describe(), " to ", dtype_name(dtype),
         "; accepted: dtypes with arithmetic, such as f32, f16 and bf16");
  const bool direct = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  Tensor out = ops::empty_on(blocks_, shape_, direct ? dtype : DType::F32);
  if (out.elem_count() > 0) ops::backend_of(blocks_).dequantize(type_, blocks_.storage(), ops::target(out));
  return direct ? out : out.to_dtype(dtype);
} catch (...) {
  ops::rethrow_as("dequantize", {*this});
}

Tensor QTensor::embedding(const Tensor& ids) const try {
  check_defined("embedding", *this);
  if (rank() != 2)
    fail(ErrorKind::ShapeMismatch, "embedding", "needs a weight [rows, columns], got ", describe());
  ops::check_dtype("embedding", ids, ops::Accept::Int);
  Shape shape = ops::embedded_shape(ids, shape_[1]);
  // A row of zero bytes, which "skip" selects, is zeros in every format, in some of them -0.
  Tensor rows;
  try {
    rows = blocks_.index_select(ids.flatten_all(), 0);
  } catch (Error& error) {
    throw error.while_doing(join_text("embedding of ids ", ids.describe(), " in ", describe()));
  }
  Tensor out = ops::empty_on(blocks_, shape, DType::F32);
  if (out.elem_count() > 0) ops::backend_of(blocks_).dequantize(type_, rows.storage(), ops::target(out));
  return out;
} catch (...) {
  ops::rethrow_as("embedding", {*this, {"ids", ids}});
}

Tensor QTensor::forward(const Tensor& x) const {
  const QTensor* const weight = this;
  Tensor out;
  multiply({&weight, 1}, x, {&out, 1});
  return out;
}

std::vector<Tensor> QTensor::forward_all(std::span<const QTensor* const> weights, const Tensor& x) {
  std::vector<Tensor> out(weights.size());
  multiply(weights, x, out);
  return out;
}

void QTensor::multiply(std::span<const QTensor* const> weights, const Tensor& x, std::span<Tensor> out) try {
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == nullptr)
      fail(ErrorKind::InvalidArgument, "quantized_matmul", "weight ", i, " of ", weights.size(),
           " is a null pointer");
    weights[i]->check_product(x);
    Shape shape = x.shape();
    shape.set(shape.rank() - 1, weights[i]->shape_[0]);
    out[i] = weights[i]->shape_[1] == 0 ? Tensor::zeros(shape, x.dtype(), x.device())
                                        : ops::empty_on(x, shape, x.dtype());
  }
  if (x.elem_count() == 0) return;
  const Tensor dense = x.contiguous();
  for (const int64_t block : {32, 256}) {
    std::array<QuantizedProduct, Backend::kMostProducts> products;
    size_t count = 0;
    const auto flush = [&] {
      if (count > 0) ops::backend_of(x).quantized_matmul(ops::operand(dense), {products.data(), count});
      count = 0;
    };
    for (size_t i = 0; i < weights.size(); ++i) {
      const QTensor& weight = *weights[i];
      if (quant_traits(weight.type_).block_elements != block || out[i].elem_count() == 0) continue;
      products[count++] = {weight.type_, &weight.blocks_.storage(), ops::target(out[i])};
      if (count == products.size()) flush();
    }
    flush();
  }
} catch (...) {
  ops::rethrow_as("quantized_matmul", {{"x", x}});
}

bool QTensor::is_gated_at_once(const QTensor& gate, const QTensor& factor, const Tensor& x) {
  gate.check_product(x);
  factor.check_product(x);
  const int64_t n = gate.shape_[0], k = gate.shape_[1];
  return gate.type_ == factor.type_ && gate.shape_ == factor.shape_ && x.elem_count() > 0 && n > 0 &&
         ops::backend_of(x).gates(gate.type_, x.dtype(), x.elem_count() / k, n, k);
}

Tensor QTensor::forward_gated(Activation activation, const QTensor& gate, const QTensor& factor,
                              const Tensor& x) try {
  if (is_gated_at_once(gate, factor, x)) {
    Shape shape = x.shape();
    shape.set(shape.rank() - 1, gate.shape_[0]);
    const Tensor dense = x.contiguous();
    Tensor out = ops::empty_on(x, shape, x.dtype());
    ops::backend_of(x).quantized_gated(unary_of(activation), ops::operand(dense), gate.type_,
                                       gate.blocks_.storage(), factor.blocks_.storage(), ops::target(out));
    return out;
  }
  const std::array<const QTensor*, 2> weights = {&gate, &factor};
  const std::vector<Tensor> sides = forward_all(weights, x);
  return gated(activation, sides[0], sides[1]);
} catch (...) {
  ops::rethrow_as("forward_gated", {{"gate", gate}, {"factor", factor}, {"x", x}});
}

Tensor QTensor::feed_forward(Activation activation, const QTensor& gate, const QTensor& factor,
                             const QTensor& down, const Tensor& x) try {
  if (is_gated_at_once(gate, factor, x)) return down.forward(forward_gated(activation, gate, factor, x));
  const std::array<const QTensor*, 2> weights = {&gate, &factor};
  const std::vector<Tensor> sides = forward_all(weights, x);
  const Tensor &a = sides[0], &b = sides[1];
  const int64_t rows = a.elem_count() == 0 ? 0 : a.elem_count() / a.dim(-1);
  if (rows == 0 || a.shape() != b.shape() || down.rank() != 2 || down.shape_[0] == 0 ||
      !ops::backend_of(x).multiplies_gates(x.dtype(), rows))
    return down.forward(gated(activation, a, b));
  down.check_product(a);
  Shape shape = a.shape();
  shape.set(shape.rank() - 1, down.shape_[0]);
  Tensor out = ops::empty_on(x, shape, x.dtype());
  ops::backend_of(x).quantized_matmul_of_gate(unary_of(activation), ops::operand(a), ops::operand(b),
                                              {down.type_, &down.blocks_.storage(), ops::target(out)});
  return out;
} catch (...) {
  ops::rethrow_as("feed_forward", {{"gate", gate}, {"factor", factor}, {"down", down}, {"x", x}});
}

void QTensor::check_product(const Tensor& x) const {
  check_defined("quantized_matmul", *this);
  if (x.dtype() != DType::F32 && x.dtype() != DType::F16 && x.dtype() != DType::BF16)
    fail(ErrorKind::UnsupportedDType, "quantized_matmul", "x is ", x.describe(),
         "; accepted: f32, f16, bf16");
  if (x.device() != device())
    fail(ErrorKind::DeviceMismatch, "quantized_matmul", "the devices of ", x.describe(), " and the weight ",
         describe(), " differ; move one side with to_device");
  if (rank() != 2)
    fail(ErrorKind::ShapeMismatch, "quantized_matmul", "the weight is [n, k], got ", describe());
  if (x.rank() == 0 || x.dim(-1) != shape_[1])
    fail(ErrorKind::ShapeMismatch, "quantized_matmul", "x ", x.describe(), " times the transpose of ",
         describe(), ": x's last axis must be ", shape_[1]);
}

}  // namespace beeswax
