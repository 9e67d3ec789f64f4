// SPDX-License-Identifier: Apache-2.0
// Layers together are those of each alone, with biases and without, dense and in blocks.
#include "nn/linear.h"

#include <gtest/gtest.h>

namespace beeswax::nn {
namespace {

// Large enough that the CPU makes gated products of blocks at once.
constexpr int64_t kOut = 640, kIn = 256;

Tensor numbers(const Shape& shape, double step) {
  return (Tensor::arange(0, shape.elem_count(), DType::F32) * step).sin().reshape(shape);
}

Linear layer(double step, bool blocks, bool bias) {
  const Tensor weight = numbers({kOut, kIn}, step) * 0.1;
  return Linear(blocks ? Weight(QTensor::quantize(weight, QuantType::Q4_K)) : Weight(weight),
                bias ? numbers({kOut}, 0.7) : Tensor());
}

TEST(Linear, GatesAreTheLayersOneByOne) {
  const Tensor x = numbers({7, kIn}, 0.31);
  for (int kinds = 0; kinds < 16; ++kinds) {
    const Linear gate = layer(0.017, (kinds & 1) != 0, (kinds & 2) != 0);
    const Linear factor = layer(0.023, (kinds & 4) != 0, (kinds & 8) != 0);
    const Tensor a = gate.forward(x), b = factor.forward(x);
    EXPECT_EQ(Linear::forward_gated(Activation::Silu, gate, factor, x).to_bytes(), a.swiglu(b).to_bytes())
        << kinds;
    EXPECT_EQ(Linear::forward_gated(Activation::GeluTanh, gate, factor, x).to_bytes(), a.geglu(b).to_bytes())
        << kinds;
  }
}

TEST(Linear, FeedForwardsAreTheLayersOneByOne) {
  const Tensor weight = numbers({40, kOut}, 0.029) * 0.1;
  for (const int64_t tokens : {1, 3, 7}) {
    const Tensor x = numbers({tokens, kIn}, 0.31);
    for (int kinds = 0; kinds < 16; ++kinds) {
      const Linear gate = layer(0.017, (kinds & 1) != 0, (kinds & 2) != 0);
      const Linear factor = layer(0.023, (kinds & 1) != 0, false);
      const Linear down(
          (kinds & 4) != 0 ? Weight(QTensor::quantize(weight, QuantType::Q8_0)) : Weight(weight),
          (kinds & 8) != 0 ? numbers({40}, 0.9) : Tensor());
      for (const Activation activation : {Activation::Silu, Activation::GeluTanh})
        EXPECT_EQ(Linear::feed_forward(activation, gate, factor, down, x).to_bytes(),
                  down.forward(Linear::forward_gated(activation, gate, factor, x)).to_bytes())
            << kinds << " of " << tokens;
    }
  }
}

}  // namespace
}  // namespace beeswax::nn
