// SPDX-License-Identifier: Apache-2.0
#include "nn/linear.h"

namespace beeswax::nn {

Tensor Weight::embedding(const Tensor& ids) const {
  return quantized() ? blocks_.embedding(ids) : dense_.embedding(ids).to_dtype(DType::F32);
}

Tensor Weight::product(const Tensor& x) const {
  if (quantized()) return blocks_.forward(x);
  // Leading axes become rows of one product, so that the weight is read once.
  const int64_t k = x.dim(-1);
  Shape shape = x.shape();
  shape.set(shape.rank() - 1, dense_.dim(0));
  return x.reshape({-1, k}).matmul_mixed(dense_.t()).reshape(shape);
}

Tensor Linear::forward(const Tensor& x) const {
  const Tensor y = weight_.product(x);
  return bias_.defined() ? y + bias_ : y;
}

std::vector<Tensor> Linear::forward_all(std::initializer_list<const Linear*> layers, const Tensor& x) {
  std::vector<const QTensor*> weights;
  std::vector<Tensor> out;
  for (const Linear* layer : layers)
    if (layer->weight_.quantized()) weights.push_back(&layer->weight_.blocks());
  if (weights.size() < layers.size()) {
    for (const Linear* layer : layers) out.push_back(layer->forward(x));
    return out;
  }
  out = QTensor::forward_all(weights, x);
  size_t i = 0;
  for (const Linear* layer : layers) {
    if (layer->bias_.defined()) out[i] = out[i] + layer->bias_;
    ++i;
  }
  return out;
}

Tensor Linear::forward_gated(Activation activation, const Linear& gate, const Linear& factor,
                             const Tensor& x) {
  if (gate.is_plain_blocks() && factor.is_plain_blocks())
    return QTensor::forward_gated(activation, gate.weight_.blocks(), factor.weight_.blocks(), x);
  const std::vector<Tensor> sides = forward_all({&gate, &factor}, x);
  return activation == Activation::Silu ? sides[0].swiglu(sides[1]) : sides[0].geglu(sides[1]);
}

Tensor Linear::feed_forward(Activation activation, const Linear& gate, const Linear& factor,
                            const Linear& down, const Tensor& x) {
  if (gate.is_plain_blocks() && factor.is_plain_blocks() && down.is_plain_blocks())
    return QTensor::feed_forward(activation, gate.weight_.blocks(), factor.weight_.blocks(),
                                 down.weight_.blocks(), x);
  return down.forward(forward_gated(activation, gate, factor, x));
}

}  // namespace beeswax::nn
