// SPDX-License-Identifier: Apache-2.0
// Linear: y = x W^T + b with a dense or a quantized weight.
#pragma once

#include <initializer_list>
#include <vector>

#include "beeswax/qtensor.h"
#include "beeswax/tensor.h"

namespace beeswax::nn {

/// A weight as a file holds it: dense (f32, f16 or bf16) or in blocks.
class BW_API Weight {
 public:
  Weight() = default;
  explicit Weight(Tensor dense) : dense_(std::move(dense)) {}
  explicit Weight(QTensor blocks) : blocks_(std::move(blocks)) {}

  bool defined() const { return dense_.defined() || blocks_.defined(); }
  bool quantized() const { return blocks_.defined(); }
  const Shape& shape() const { return quantized() ? blocks_.shape() : dense_.shape(); }
  /// The values in f32.
  Tensor to_f32() const { return quantized() ? blocks_.dequantize() : dense_.to_dtype(DType::F32); }
  /// Rows for ids of any rank, in f32: ids.shape + [columns].
  Tensor embedding(const Tensor& ids) const;
  /// x [.., k] times the transpose of this [n, k]: [.., n], in x's dtype, f32.
  Tensor product(const Tensor& x) const;
  /// The blocks of a quantized weight.
  const QTensor& blocks() const { return blocks_; }

 private:
  Tensor dense_;
  QTensor blocks_;
};

class BW_API Linear {
 public:
  Linear() = default;
  /// weight [out, in]; bias [out] or undefined.
  explicit Linear(Weight weight, Tensor bias = {}) : weight_(std::move(weight)), bias_(std::move(bias)) {}
  bool defined() const { return weight_.defined(); }
  int64_t out_features() const { return weight_.shape()[0]; }
  int64_t in_features() const { return weight_.shape()[1]; }
  /// x [.., in] -> [.., out]
  Tensor forward(const Tensor& x) const;
  /// What forward() of each gives; quantized weights share what they make of x.
  static std::vector<Tensor> forward_all(std::initializer_list<const Linear*> layers, const Tensor& x);
  /// The activation of gate.forward(x), times factor.forward(x).
  static Tensor forward_gated(Activation activation, const Linear& gate, const Linear& factor,
                              const Tensor& x);
  /// down.forward() of that.
  static Tensor feed_forward(Activation activation, const Linear& gate, const Linear& factor,
                             const Linear& down, const Tensor& x);

 private:
  bool is_plain_blocks() const { return weight_.quantized() && !bias_.defined(); }

  Weight weight_;
  Tensor bias_;
};

}  // namespace beeswax::nn
