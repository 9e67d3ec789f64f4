// SPDX-License-Identifier: Apache-2.0
#include "nn/feed_forward.h"

namespace beeswax::nn {

Tensor FeedForward::forward(const Tensor& x) const {
  return Linear::feed_forward(activation, gate, up, down, x);
}

Tensor Experts::forward(const Tensor& x) const {
  const int64_t tokens = x.dim(0), width = x.dim(1);
  const auto [likeliest, chosen] = router.forward(x).softmax(-1).topk(used);
  const Tensor weights = normalize ? likeliest / likeliest.sum(-1, true) : likeliest;
  // Slot t * used + r is the r-th choice of token t. Each expert runs once, over all slots that chose it.
  const std::vector<uint32_t> expert_of = chosen.to_vec<uint32_t>();
  std::vector<std::vector<uint32_t>> slots_of(experts.size());
  for (size_t slot = 0; slot < expert_of.size(); ++slot)
    slots_of[expert_of[slot]].push_back(static_cast<uint32_t>(slot));
  std::vector<Tensor> parts;
  std::vector<uint32_t> place(expert_of.size());  // of a slot among the parts' rows
  uint32_t row = 0;
  for (size_t e = 0; e < experts.size(); ++e) {
    if (slots_of[e].empty()) continue;
    std::vector<uint32_t> ids;
    for (const uint32_t slot : slots_of[e]) {
      ids.push_back(slot / static_cast<uint32_t>(used));
      place[slot] = row++;
    }
    const auto count = static_cast<int64_t>(ids.size());
    parts.push_back(experts[e].forward(x.index_select(Tensor::from_vec(ids, {count}, x.device()), 0)));
  }
  const Tensor by_slot =
      Tensor::cat(parts, 0).index_select(Tensor::from_vec(place, {tokens * used}, x.device()), 0);
  return (by_slot.reshape({tokens, used, width}) * weights.reshape({tokens, used, 1})).sum(1);
}

}  // namespace beeswax::nn
