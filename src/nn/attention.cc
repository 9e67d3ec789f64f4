// SPDX-License-Identifier: Apache-2.0
#include "nn/attention.h"

#include <limits>
#include <vector>

namespace beeswax::nn {
namespace {

// [tokens, 1, positions]... as [1, 1, tokens, positions]: 0 where the query sees the position, -inf
// elsewhere.
Tensor causal_mask(int64_t tokens, int64_t positions, int64_t window) {
  std::vector<float> mask(static_cast<size_t>(tokens * positions));
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t self = positions - tokens + t;
    for (int64_t p = 0; p < positions; ++p)
      if (p > self || (window > 0 && p <= self - window))
        mask[static_cast<size_t>(t * positions + p)] = -std::numeric_limits<float>::infinity();
  }
  return Tensor::from_vec(mask, {1, 1, tokens, positions});
}

}  // namespace

Tensor attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionOptions& options) {
  const int64_t tokens = queries.dim(0), heads = queries.dim(1), size = queries.dim(2);
  const int64_t kv_heads = keys.dim(0), positions = keys.dim(1), group = heads / kv_heads;
  // [kv_heads, group, tokens, size] times [kv_heads, 1, size, positions]
  const Tensor q = queries.transpose(0, 1).reshape({kv_heads, group, tokens, size});
  Tensor scores = q.matmul(keys.unsqueeze(1).t()).affine(options.scale, 0);
  if (tokens > 1 || options.window > 0) scores = scores + causal_mask(tokens, positions, options.window);
  const Tensor mixed = scores.softmax(-1).matmul(values.unsqueeze(1));
  return mixed.reshape({heads, tokens, size}).transpose(0, 1).reshape({tokens, heads * size});
}

}  // namespace beeswax::nn
