// SPDX-License-Identifier: Apache-2.0
#include "nn/self_attention.h"

namespace beeswax::nn {

Tensor SelfAttention::forward(const Tensor& h, KvCache& past, int64_t wanted) const {
  const int64_t unwanted = h.dim(0) - wanted;
  const auto in_heads = [&](const Tensor& projected, int64_t count, const Tensor& norm) {
    const Tensor x = projected.reshape({projected.dim(0), count, size});
    return norm.defined() ? x.rms_norm(norm, epsilon) : x;
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
  const Tensor q = in_heads(asking, heads, query_norm), k = in_heads(all[0], kv_heads, key_norm);
  const Tensor v = in_heads(all[1], kv_heads, Tensor());
  return output.forward(attention_after(past, rope, q, k, v, options));
}

}  // namespace beeswax::nn
