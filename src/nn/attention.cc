// SPDX-License-Identifier: Apache-2.0
#include "nn/attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ops/common.h"

namespace beeswax::nn {
namespace {

// Queries that see the keys up to the last one's: few compute little that is masked, many make few launches.
constexpr int64_t kQueryBlock = 128;

// [tokens, positions]: 0 where the query sees the position, -inf elsewhere. Made where it is used.
Tensor causal_mask(int64_t tokens, int64_t positions, int64_t window, const Device& device) {
  const Tensor position = Tensor::arange(0, positions, DType::I32, device).reshape({1, positions});
  const Tensor self = Tensor::arange(positions - tokens, positions, DType::I32, device).reshape({tokens, 1});
  Tensor hidden = position.gt(self);
  if (window > 0 && window < positions) hidden = hidden.maximum(position.le(self - window));
  const Tensor nothing = Tensor::zeros({1, 1}, DType::F32, device).broadcast_as({tokens, positions});
  const Tensor minus_infinity =
      Tensor::full({1, 1}, -std::numeric_limits<float>::infinity(), DType::F32, device)
          .broadcast_as({tokens, positions});
  return hidden.where_cond(minus_infinity, nothing);
}

}  // namespace

Tensor soft_cap(const Tensor& x, double cap) { return cap > 0 ? (x / cap).tanh() * cap : x; }

namespace {

// Scores [heads, tokens, positions], nobody else's, with what the queries do not see at -inf. `diagonal` is
// the mask of as many queries or more with their own positions.
Tensor masked(Tensor scores, int64_t window, const Tensor& diagonal) {
  const int64_t tokens = scores.dim(1), positions = scores.dim(2), before = positions - tokens;
  if (window > 0 && window < positions)
    return scores + causal_mask(tokens, positions, window, scores.device());
  // What lies before the first query is seen by all.
  scores.slice_set(scores.narrow(2, before, tokens) + diagonal.narrow(0, 0, tokens).narrow(1, 0, tokens), 2,
                   before);
  return scores;
}

// Queries [tokens, heads, size], already scaled, whose last one is at the end of keys and values. Of their
// shape.
Tensor attend(const Tensor& queries, const Tensor& all_keys, const Tensor& all_values,
              const AttentionOptions& options, const Tensor& diagonal) {
  const int64_t tokens = queries.dim(0), heads = queries.dim(1), size = queries.dim(2);
  const int64_t kv_heads = all_keys.dim(0), group = heads / kv_heads;
  // What lies before the first query's window is seen by none.
  const int64_t unseen =
      options.window > 0 ? std::max<int64_t>(all_keys.dim(1) - tokens + 1 - options.window, 0) : 0;
  const int64_t positions = all_keys.dim(1) - unseen;
  const Tensor keys = all_keys.narrow(1, unseen, positions);
  const Tensor values = all_values.narrow(1, unseen, positions);
  // A group's heads are rows of one product with the keys that they share.
  const Tensor q = queries.transpose(0, 1).reshape({kv_heads, group * tokens, size});
  Tensor scores = soft_cap(q.matmul_mixed(keys.t()), options.cap);
  if (tokens > 1)
    scores = masked(scores.reshape({heads, tokens, positions}), options.window, diagonal)
                 .reshape({kv_heads, group * tokens, positions});
  const Tensor mixed = scores.softmax(-1).matmul_mixed(values);
  return mixed.reshape({heads, tokens, size}).transpose(0, 1);
}

// Whether the backend has it as one operation, for operands that suit it; others meet checks on their way.
bool in_one(const Tensor& queries, const Tensor& keys, const Tensor& values) {
  const auto suits = [&](const Tensor& x) {
    return x.rank() == 3 && x.device() == queries.device() && x.elem_count() > 0 &&
           (x.dtype() == DType::F32 || x.dtype() == DType::F16 || x.dtype() == DType::BF16);
  };
  return suits(queries) && queries.dtype() == DType::F32 && suits(keys) && suits(values) &&
         keys.shape() == values.shape() && keys.dim(2) == queries.dim(2) &&
         queries.dim(1) % keys.dim(0) == 0 && queries.dim(0) <= keys.dim(1) &&
         ops::backend_of(queries).attends(queries.dim(2));
}

Tensor result_of(const Tensor& queries) {
  return ops::empty_on(queries, {queries.dim(0), queries.dim(1) * queries.dim(2)}, DType::F32);
}

// One token in one operation; undefined where there is none.
Tensor attention_of_next(KvCache& past, const Rope& rope, const Tensor& query, const Tensor& key,
                         const Tensor& value, const AttentionOptions& options) {
  const auto [keys, values] = past.extended(1);
  const auto suits = [&](const Tensor& x) {
    return x.rank() == 3 && x.dim(0) == 1 && x.dim(1) == keys.dim(0) && x.dim(2) == keys.dim(2) &&
           x.dtype() == DType::F32 && x.device() == keys.device();
  };
  if (!in_one(query, keys, values) || query.dim(0) != 1 || !suits(key) || !suits(value) ||
      rope.cos().device() != keys.device() || past.length() >= rope.cos().dim(0) ||
      2 * rope.cos().dim(2) > keys.dim(2))
    return {};
  const Tensor q = query.contiguous(), k = key.contiguous(), v = value.contiguous(), out = result_of(q);
  ops::write_in_place(keys, [&] {
    ops::write_in_place(values, [&] {
      ops::backend_of(q).attention_of_next({ops::operand(q), ops::operand(k), ops::operand(v),
                                            ops::operand(rope.cos()), ops::operand(rope.sin()), rope.pairs()},
                                           ops::target(keys), ops::target(values), options, ops::target(out));
    });
  });
  past.advance(1);
  return out;
}

}  // namespace

Tensor attention_after(KvCache& past, const Rope& rope, const Tensor& queries, const Tensor& keys,
                       const Tensor& values, const AttentionOptions& options) {
  const int64_t tokens = keys.dim(0), position = past.length();
  if (tokens == 1)
    if (const Tensor out = attention_of_next(past, rope, queries, keys, values, options); out.defined())
      return out;
  const Tensor rotated = rope.apply(queries, position + tokens - queries.dim(0));
  past.append(rope.apply(keys, position).transpose(0, 1), values.transpose(0, 1));
  return attention(rotated, past.keys(), past.values(), options);
}

Tensor attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionOptions& options) {
  if (in_one(queries, keys, values)) {
    const Tensor q = ops::dense_rows(queries), k = ops::dense_rows(keys), v = ops::dense_rows(values);
    Tensor out = result_of(q);
    ops::backend_of(q).attention(ops::operand(q), ops::operand(k), ops::operand(v), options,
                                 ops::target(out));
    return out;
  }
  const Tensor scaled = queries.affine(options.scale, 0);
  const int64_t tokens = queries.dim(0), before = keys.dim(1) - tokens;
  const int64_t block = kQueryBlock, width = queries.dim(1) * queries.dim(2);
  const int64_t together = std::min(tokens, block);
  const Tensor diagonal = tokens > 1 ? causal_mask(together, together, 0, queries.device()) : Tensor();
  if (tokens <= block) return attend(scaled, keys, values, options, diagonal).reshape({tokens, width});
  // A block of queries needs no score beyond its last one.
  Tensor out = Tensor::empty(queries.shape(), DType::F32, queries.device());
  for (int64_t first = 0; first < tokens; first += block) {
    const int64_t count = std::min(block, tokens - first), seen = before + first + count;
    const Tensor part = attend(scaled.narrow(0, first, count), keys.narrow(1, 0, seen),
                               values.narrow(1, 0, seen), options, diagonal);
    out.slice_set(part, 0, first);
  }
  return out.reshape({tokens, width});
}

}  // namespace beeswax::nn
