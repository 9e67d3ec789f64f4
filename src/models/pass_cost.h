// SPDX-License-Identifier: Apache-2.0
// What one pass of tokens through a model cannot avoid: its weights are read, and multiplied with each token.
// Attention over the past, norms and activations come on top and are left out, as is usual.
#pragma once

#include <cstdint>

#include "io/gguf.h"

namespace beeswax::models {

struct PassCost {
  double bytes = 0;           ///< of weights, as the file holds them, read once
  double quantized_macs = 0;  ///< multiply-adds with weights in blocks
  double dense_macs = 0;      ///< the same with plain ones
};

/// Of `tokens` tokens at once. The output matrix, and of the last layer all but keys and values, serve only
/// the last of them; the token embedding is looked up, not multiplied, unless it is the output matrix too. Of
/// experts only as many are read as tokens can choose.
BW_API PassCost pass_cost(const io::GgufFile& file, int64_t tokens);

}  // namespace beeswax::models
