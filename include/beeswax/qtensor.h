// SPDX-License-Identifier: Apache-2.0
// QTensor: a weight in one of the block formats of GGUF files; a cheap value like Tensor, and never changed
// in place. Its last axis is cut into blocks (docs/quant-formats.md), so its size is a multiple of the
// format's block. A product quantizes the activations too and multiplies integers; it promises an error
// bound, not bits, but a row's result depends neither on the other rows nor on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "beeswax/qtensor_type.h"
#include "beeswax/tensor.h"

namespace beeswax {

/// What the gate of a feed-forward block goes through.
enum class Activation { Silu, GeluTanh };

class BW_API QTensor {
 public:
  QTensor() = default;  ///< refers to nothing; defined() is false
  bool defined() const { return blocks_.defined(); }

  /// Quantizes a tensor of any float dtype (through f32) and rank >= 1. Where a block of the input holds a
  /// NaN or an infinity, or is too large for the format, the block becomes NaN.
  static QTensor quantize(const Tensor& x, QuantType type);
  /// Minimizes the squared error weighted by column: one finite weight >= 0 per element of the last axis.
  /// Formats Q4_0 to Q5_1 and Q2_K to Q6_K; Unsupported otherwise.
  static QTensor quantize_imatrix(const Tensor& x, QuantType type, std::span<const float> importance);
  /// From blocks as files hold them, row after row; InvalidArgument unless the size is exactly right.
  static QTensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, QuantType type,
                            const Device& device = Device::default_device());

  QuantType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t elem_count() const { return shape_.elem_count(); }
  Device device() const { return blocks_.device(); }
  /// Bytes of the blocks.
  size_t storage_bytes() const { return static_cast<size_t>(blocks_.elem_count()); }
  /// "[4096, 4096] q4_k cpu"
  std::string describe() const;
  /// The blocks as files hold them.
  std::vector<std::byte> bytes() const { return blocks_.to_bytes(); }
  QTensor to_device(const Device& device) const;

  /// The values in f32, f16, bf16 or any other dtype with arithmetic.
  Tensor dequantize(DType dtype = DType::F32) const;
  Tensor dequantize_f16() const { return dequantize(DType::F16); }
  /// Rows of a 2-D weight, in f32: ids.shape + [columns]. The largest id of a dtype gives zeros ("skip").
  Tensor embedding(const Tensor& ids) const;
  /// x * weight^T for a weight [n, k]: [..., k] -> [..., n], in x's dtype (f32, f16 or bf16), any rank >= 1.
  Tensor forward(const Tensor& x) const;
  /// What forward() of each of the weights, [n_i, k], gives, bit for bit. What they make of x is made once.
  static std::vector<Tensor> forward_all(std::span<const QTensor* const> weights, const Tensor& x);
  /// gate.forward(x).swiglu(factor.forward(x)), or geglu, bit for bit. Where a CPU has vectors (AVX2 and
  /// more), many rows of f32 and large weights of one type and shape need no memory for what the two products
  /// give.
  static Tensor forward_gated(Activation activation, const QTensor& gate, const QTensor& factor,
                              const Tensor& x);
  /// down.forward(forward_gated(activation, gate, factor, x)), bit for bit: a feed-forward block. For few
  /// rows of f32 a CPU needs no memory for what down multiplies.
  static Tensor feed_forward(Activation activation, const QTensor& gate, const QTensor& factor,
                             const QTensor& down, const Tensor& x);

 private:
  friend BW_API QTensor qtensor_from_shared_bytes(std::span<const std::byte> bytes,
                                                  std::shared_ptr<const void> owner, const Shape& shape,
                                                  QuantType type);
  QTensor(Tensor blocks, const Shape& shape, QuantType type)
      : blocks_(std::move(blocks)), shape_(shape), type_(type) {}
  void check_product(const Tensor& x) const;
  static bool is_gated_at_once(const QTensor& gate, const QTensor& factor, const Tensor& x);
  static void multiply(std::span<const QTensor* const> weights, const Tensor& x, std::span<Tensor> out);

  Tensor blocks_;  // u8, [rows, bytes of a row]
  Shape shape_;
  QuantType type_ = QuantType::Q4_0;
};

}  // namespace beeswax
