// SPDX-License-Identifier: Apache-2.0
#include "nn/self_attention.h"

namespace beeswax::nn {

Tensor SelfAttention::forward(const Tensor& h, KvCache& past, int64_t wanted) const {
  const int64_t tokens = h.dim(0), position = past.length(), unwanted = tokens - wanted;
  const auto rotated = [&](const Tensor& projected, int64_t count, const Tensor& norm, int64_t first) {
    const Tensor x = projected.reshape({projected.dim(0), count, size});
    return rope.apply(norm.defined() ? x.rms_norm(norm, epsilon) : x, first);
  };
  std::vector<Tensor> all;
  Tensor asking;
  if (unwanted == 0) {
    all = Linear::forward_all({&key, &value, &query}, h);
    asking = all[2];
  } else {
    all = Linear::forward_all({&key, &value}, h);
    asking = query.forward(h.narrow(0, unwanted, wanted));
  }
  const Tensor q = rotated(asking, heads, query_norm, position + unwanted);
  const Tensor k = rotated(all[0], kv_heads, key_norm, position);
  const Tensor v = all[1].reshape({tokens, kv_heads, size});
  past.append(k.transpose(0, 1), v.transpose(0, 1));
  return output.forward(attention(q, past.keys(), past.values(), options));
}

}  // namespace beeswax::nn
