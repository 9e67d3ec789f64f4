// SPDX-License-Identifier: Apache-2.0
// FeedForward: the gated block of one layer, down(act(gate(x)) up(x)), and Experts, several of them among
// which a router chooses for each token. Shazeer, "GLU Variants Improve Transformer", 2020; Jiang et al.,
// "Mixtral of Experts", 2024.
#pragma once

#include <vector>

#include "nn/linear.h"

namespace beeswax::nn {

struct BW_API FeedForward {
  Linear gate, up, down;
  Activation activation = Activation::Silu;

  /// x [.., width]; same shape.
  Tensor forward(const Tensor& x) const;
};

struct BW_API Experts {
  Linear router;  ///< [experts, width]
  std::vector<FeedForward> experts;
  int64_t used = 1;       ///< experts that a token goes to
  bool normalize = true;  ///< the weights of those sum to 1

  /// x [tokens, width] -> the same shape: the sum of the `used` likeliest experts' results, each times its
  /// probability, in the order of the probabilities. A token's result does not depend on the other tokens
  /// beyond what the products promise.
  Tensor forward(const Tensor& x) const;
};

}  // namespace beeswax::nn
