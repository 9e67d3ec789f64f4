// SPDX-License-Identifier: Apache-2.0
#include "nn/attention.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace beeswax::nn {
namespace {

// [1, 1, tokens, positions]: 0 where the query sees the position, -inf elsewhere.
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

Tensor soft_cap(const Tensor& x, double cap) { return cap > 0 ? (x / cap).tanh() * cap : x; }

Tensor attention(const Tensor& queries, const Tensor& all_keys, const Tensor& all_values,
                 const AttentionOptions& options) {
  const int64_t tokens = queries.dim(0), heads = queries.dim(1), size = queries.dim(2);
  const int64_t kv_heads = all_keys.dim(0), group = heads / kv_heads;
  // What lies before the first query's window is seen by none.
  const int64_t unseen =
      options.window > 0 ? std::max<int64_t>(all_keys.dim(1) - tokens + 1 - options.window, 0) : 0;
  const int64_t positions = all_keys.dim(1) - unseen;
  const Tensor keys = all_keys.narrow(1, unseen, positions);
  const Tensor values = all_values.narrow(1, unseen, positions);
  // [kv_heads, group, tokens, size] times [kv_heads, 1, size, positions]
  const Tensor q = queries.transpose(0, 1).reshape({kv_heads, group, tokens, size});
  Tensor scores = soft_cap(q.matmul(keys.unsqueeze(1).t()).affine(options.scale, 0), options.cap);
  if (tokens > 1) scores = scores + causal_mask(tokens, positions, options.window);
  const Tensor mixed = scores.softmax(-1).matmul(values.unsqueeze(1));
  return mixed.reshape({heads, tokens, size}).transpose(0, 1).reshape({tokens, heads * size});
}

}  // namespace beeswax::nn
