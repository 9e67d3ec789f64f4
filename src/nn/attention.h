// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention over a cache: softmax(cap(q k^T scale) + mask) v, several query heads sharing
// one key/value head. Vaswani et al., "Attention Is All You Need", 2017; Ainslie et al., "GQA", 2023.
#pragma once

#include "backends/backend.h"
#include "beeswax/tensor.h"
#include "nn/kv_cache.h"
#include "nn/rope.h"

namespace beeswax::nn {

/// cap tanh(x / cap); x itself where cap is 0.
BW_API Tensor soft_cap(const Tensor& x, double cap);

/// queries [tokens, heads, size]; keys and values [kv_heads, positions, size], the queries being the last
/// `tokens` of the positions; heads is a multiple of kv_heads, and head h reads kv head h / (heads /
/// kv_heads). Queries and result [tokens, heads * size] are f32; keys and values f32, f16 or bf16.
BW_API Tensor attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                        const AttentionOptions& options);

/// The same of tokens that follow a past: queries [tokens, heads, size] of the last of them, keys and values
/// [tokens, kv_heads, size] of all, f32. `rope` rotates queries and keys to their positions, and keys and
/// values are appended to the past first.
BW_API Tensor attention_after(KvCache& past, const Rope& rope, const Tensor& queries, const Tensor& keys,
                              const Tensor& values, const AttentionOptions& options);

}  // namespace beeswax::nn
