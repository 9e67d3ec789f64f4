// SPDX-License-Identifier: Apache-2.0
#include "models/decoder.h"

#include <string>

#include "core/fail.h"

namespace beeswax::models {
namespace {

/// The tensors of one layer.
class LayerReader {
 public:
  LayerReader(const Weights& weights, const DecoderOptions& options, int64_t index)
      : weights_(weights), options_(options), prefix_("blk." + std::to_string(index) + ".") {}

  Tensor norm(const std::string& name, int64_t size) const {
    return weights_.vector(prefix_ + name + ".weight", size);
  }

  nn::SelfAttention attention(const DecoderOptions::Layer& layer) const {
    const ModelInfo& info = options_.info;
    const int64_t all = info.heads * info.head_size, kv = info.kv_heads * info.head_size;
    nn::SelfAttention out;
    out.heads = info.heads;
    out.kv_heads = info.kv_heads;
    out.size = info.head_size;
    // Some architectures, and some converters, put the three projections into one matrix.
    if (weights_.has(prefix_ + "attn_qkv.weight")) {
      const int64_t sum = all + 2 * kv;
      out.query = slice("attn_qkv", sum, info.width, 0, all);
      out.key = slice("attn_qkv", sum, info.width, all, kv);
      out.value = slice("attn_qkv", sum, info.width, all + kv, kv);
    } else {
      out.query = linear("attn_q", all, info.width);
      out.key = linear("attn_k", kv, info.width);
      out.value = linear("attn_v", kv, info.width);
    }
    out.output = linear("attn_output", info.width, all);
    if (options_.head_norms) {
      out.query_norm = norm("attn_q_norm", info.head_size);
      out.key_norm = norm("attn_k_norm", info.head_size);
    }
    out.epsilon = options_.epsilon;
    out.rope = layer.rope;
    out.options = {options_.attention_scale, layer.window, options_.score_cap};
    return out;
  }

  nn::FeedForward feed_forward() const {
    const int64_t width = options_.info.width, feed = options_.feed;
    const nn::Linear down = linear("ffn_down", width, feed);
    if (weights_.has(prefix_ + "ffn_gate.weight"))
      return {linear("ffn_gate", feed, width), linear("ffn_up", feed, width), down, options_.activation};
    return {slice("ffn_up", 2 * feed, width, 0, feed), slice("ffn_up", 2 * feed, width, feed, feed), down,
            options_.activation};
  }

  nn::Experts experts() const {
    const int64_t width = options_.info.width, feed = options_.feed;
    nn::Experts out;
    out.router = linear("ffn_gate_inp", options_.experts, width);
    out.used = options_.experts_used;
    out.normalize = options_.normalize_experts;
    const std::vector<nn::Weight> gates = expert_weights("ffn_gate", feed, width);
    const std::vector<nn::Weight> ups = expert_weights("ffn_up", feed, width);
    const std::vector<nn::Weight> downs = expert_weights("ffn_down", width, feed);
    for (size_t i = 0; i < gates.size(); ++i)
      out.experts.push_back(
          {nn::Linear(gates[i]), nn::Linear(ups[i]), nn::Linear(downs[i]), options_.activation});
    return out;
  }

 private:
  nn::Linear linear(const std::string& name, int64_t out, int64_t in) const {
    return nn::Linear(weights_.matrix(prefix_ + name + ".weight", {out, in}),
                      weights_.optional_vector(prefix_ + name + ".bias", out));
  }

  // `count` of the `out` rows, from `first` on.
  nn::Linear slice(const std::string& name, int64_t out, int64_t in, int64_t first, int64_t count) const {
    const Tensor bias = weights_.optional_vector(prefix_ + name + ".bias", out);
    return nn::Linear(weights_.rows(prefix_ + name + ".weight", {out, in}, first, count),
                      bias.defined() ? bias.narrow(0, first, count) : bias);
  }

  // One stack, or in files of the first converters one tensor for each expert.
  std::vector<nn::Weight> expert_weights(const std::string& name, int64_t out, int64_t in) const {
    const std::string stacked = prefix_ + name + "_exps.weight";
    if (weights_.has(stacked) || !weights_.has(prefix_ + name + ".0.weight"))
      return weights_.stack(stacked, {options_.experts, out, in});
    std::vector<nn::Weight> all;
    for (int64_t i = 0; i < options_.experts; ++i)
      all.push_back(weights_.matrix(prefix_ + name + "." + std::to_string(i) + ".weight", {out, in}));
    return all;
  }

  const Weights& weights_;
  const DecoderOptions& options_;
  std::string prefix_;
};

}  // namespace

Decoder::Decoder(const Weights& weights, const DecoderOptions& options)
    : embedding_scale_(options.embedding_scale), logit_cap_(options.logit_cap), epsilon_(options.epsilon) {
  info_ = options.info;
  device_ = weights.device();
  const Shape shape = {info_.vocabulary, info_.width};
  embedding_ = weights.matrix("token_embd.weight", shape);
  output_norm_ = weights.vector("output_norm.weight", info_.width);
  const nn::Weight head = weights.optional_matrix("output.weight", shape);
  head_ = nn::Linear(head.defined() ? head : embedding_,
                     weights.optional_vector("output.bias", info_.vocabulary));
  for (int64_t i = 0; i < info_.layers; ++i) layers_.push_back(read_layer(weights, options, i));
  weights.check_all_used();
}

Decoder::Layer Decoder::read_layer(const Weights& weights, const DecoderOptions& options, int64_t index) {
  const LayerReader reader(weights, options, index);
  Layer layer;
  layer.attention_norm = reader.norm("attn_norm", options.info.width);
  layer.feed_norm = reader.norm("ffn_norm", options.info.width);
  if (options.added_norms) {
    layer.attention_added_norm = reader.norm("post_attention_norm", options.info.width);
    layer.feed_added_norm = reader.norm("post_ffw_norm", options.info.width);
  }
  layer.attention = reader.attention(options.layers.at(static_cast<size_t>(index)));
  if (options.experts > 0)
    layer.feed = reader.experts();
  else
    layer.feed = reader.feed_forward();
  return layer;
}

Tensor Decoder::forward(std::span<const int32_t> ids, Cache& past) const {
  const auto tokens = static_cast<int64_t>(ids.size());
  for (const int32_t id : ids)
    if (id < 0 || id >= info_.vocabulary)
      fail(ErrorKind::IndexOutOfRange, "forward", "there is no token ", id, "; ids go from 0 to ",
           info_.vocabulary - 1);
  const auto added = [&](const Tensor& x, const Tensor& norm) {
    return norm.defined() ? x.rms_norm(norm, epsilon_) : x;
  };
  Tensor x = embedding_.embedding(Tensor::from_span(ids, {tokens}, device_));
  if (embedding_scale_ != 1) x = x * embedding_scale_;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    // Of the last layer only the last token is asked for.
    const int64_t wanted = i + 1 == layers_.size() ? 1 : tokens;
    const Tensor seen =
        layer.attention.forward(x.rms_norm(layer.attention_norm, epsilon_), past.layers[i], wanted);
    x = x.narrow(0, tokens - wanted, wanted) + added(seen, layer.attention_added_norm);
    const Tensor h = x.rms_norm(layer.feed_norm, epsilon_);
    const Tensor fed = std::visit([&](const auto& feed) { return feed.forward(h); }, layer.feed);
    x = x + added(fed, layer.feed_added_norm);
  }
  const Tensor logits = head_.forward(x.get(0).rms_norm(output_norm_, epsilon_));
  return nn::soft_cap(logits, logit_cap_);
}

}  // namespace beeswax::models
