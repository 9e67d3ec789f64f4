// SPDX-License-Identifier: Apache-2.0
// SelfAttention: the attention of one layer with its projections, rotary positions and, in some models, RMS
// norms of each query and key head.
#pragma once

#include "nn/attention.h"
#include "nn/kv_cache.h"
#include "nn/linear.h"
#include "nn/rope.h"

namespace beeswax::nn {

struct BW_API SelfAttention {
  int64_t heads = 0, kv_heads = 0, size = 0;
  Linear query, key, value, output;
  Tensor query_norm, key_norm;  ///< [size], or undefined
  double epsilon = 1e-5;        ///< of the norms
  Rope rope = {};
  AttentionOptions options = {};

  /// h [tokens, width], which follows the past and is appended to it. [wanted, width], of the last `wanted`
  /// tokens, one or more.
  Tensor forward(const Tensor& h, KvCache& past, int64_t wanted) const;
};

}  // namespace beeswax::nn
