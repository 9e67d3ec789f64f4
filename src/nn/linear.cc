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

}  // namespace beeswax::nn
