// SPDX-License-Identifier: Apache-2.0
#include "nn/self_attention.h"

namespace beeswax::nn {

Tensor SelfAttention::forward(const Tensor& h, KvCache& past) const {
  const int64_t tokens = h.dim(0), position = past.length();
  const auto rotated = [&](const Linear& projection, int64_t count, const Tensor& norm) {
    const Tensor x = projection.forward(h).reshape({tokens, count, size});
    return rope.apply(norm.defined() ? x.rms_norm(norm, epsilon) : x, position);
  };
  const Tensor q = rotated(query, heads, query_norm);
  const Tensor k = rotated(key, kv_heads, key_norm);
  const Tensor v = value.forward(h).reshape({tokens, kv_heads, size});
  past.append(k.transpose(0, 1), v.transpose(0, 1));
  return output.forward(attention(q, past.keys(), past.values(), options));
}

}  // namespace beeswax::nn
