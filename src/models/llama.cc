// SPDX-License-Identifier: Apache-2.0
// Llama: Touvron et al., 2023, and what came of it (Llama 2 and 3, Mistral, TinyLlama, SmolLM, ...).
#include <cmath>

#include "core/fail.h"
#include "models/model.h"
#include "models/weights.h"
#include "nn/attention.h"
#include "nn/rope.h"

namespace beeswax::models {
namespace {

struct Layer {
  Tensor attention_norm, feed_norm;
  nn::Linear query, key, value, output;
  nn::Linear gate, up, down;
};

class Llama final : public Model {
 public:
  Llama(const io::GgufFile& file, int64_t context) {
    read_sizes(file);
    const Weights weights(file);
    embedding_ = weights.matrix("token_embd.weight", {info_.vocabulary, info_.width});
    output_norm_ = weights.vector("output_norm.weight", info_.width);
    const nn::Weight head = weights.optional_matrix("output.weight", {info_.vocabulary, info_.width});
    head_ = nn::Linear(head.defined() ? head : embedding_);
    for (int64_t i = 0; i < info_.layers; ++i) layers_.push_back(read_layer(weights, i));
    std::vector<double> factors;
    if (const Tensor t = weights.optional_vector("rope_freqs.weight", rotated_ / 2); t.defined())
      factors = t.to_doubles();
    rope_ = nn::Rope(rotated_, context, rope_base_, nn::RopePairs::Neighbours, factors);
  }

  Tensor forward(std::span<const int32_t> ids, Cache& past) const override {
    const auto tokens = static_cast<int64_t>(ids.size());
    for (const int32_t id : ids)
      if (id < 0 || id >= info_.vocabulary)
        fail(ErrorKind::IndexOutOfRange, "forward", "there is no token ", id, "; ids go from 0 to ",
             info_.vocabulary - 1);
    Tensor x = embedding_.embedding(Tensor::from_span(ids, {tokens}));
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      x = x + attend(layer, x.rms_norm(layer.attention_norm, epsilon_), past.layers[i]);
      const Tensor h = x.rms_norm(layer.feed_norm, epsilon_);
      x = x + layer.down.forward(layer.gate.forward(h).silu() * layer.up.forward(h));
    }
    return head_.forward(x.get(tokens - 1).rms_norm(output_norm_, epsilon_));
  }

 private:
  void read_sizes(const io::GgufFile& file) {
    info_.architecture = file.get_string("general.architecture");
    const auto size = [&](std::string_view key, std::optional<int64_t> fallback = std::nullopt) {
      const std::string name = info_.architecture + "." + std::string(key);
      const int64_t value = file.get_int(name, fallback);
      if (value <= 0)
        fail(ErrorKind::Format, "load", file.name(), ": '", name, "' is ", value, "; it must be positive");
      return value;
    };
    info_.layers = size("block_count");
    info_.width = size("embedding_length");
    info_.heads = size("attention.head_count");
    info_.kv_heads = size("attention.head_count_kv", info_.heads);
    info_.head_size = size("attention.key_length", info_.width / info_.heads);
    info_.context = size("context_length");
    feed_ = size("feed_forward_length");
    rotated_ = size("rope.dimension_count", info_.head_size);
    window_ = file.get_int(info_.architecture + ".attention.sliding_window", 0);
    rope_base_ = file.get_float(info_.architecture + ".rope.freq_base", 10000.0);
    epsilon_ = file.get_float(info_.architecture + ".attention.layer_norm_rms_epsilon", 1e-5);
    if (info_.heads % info_.kv_heads != 0 || rotated_ > info_.head_size)
      fail(ErrorKind::Format, "load", file.name(), ": ", info_.heads, " heads over ", info_.kv_heads,
           " key/value heads of ", info_.head_size, " elements, ", rotated_, " of them rotated, do not fit");
    const io::GgufTensor* embedding = file.find_tensor("token_embd.weight");
    if (embedding == nullptr || embedding->shape.rank() != 2)
      fail(ErrorKind::Format, "load", file.name(), " has no matrix 'token_embd.weight'");
    info_.vocabulary = embedding->shape[0];
  }

  Layer read_layer(const Weights& weights, int64_t index) const {
    const std::string prefix = "blk." + std::to_string(index) + ".";
    const auto linear = [&](const char* name, int64_t out, int64_t in) {
      return nn::Linear(weights.matrix(prefix + name + ".weight", {out, in}),
                        weights.optional_vector(prefix + name + ".bias", out));
    };
    const int64_t all = info_.heads * info_.head_size, kv = info_.kv_heads * info_.head_size;
    Layer layer;
    layer.attention_norm = weights.vector(prefix + "attn_norm.weight", info_.width);
    layer.feed_norm = weights.vector(prefix + "ffn_norm.weight", info_.width);
    layer.query = linear("attn_q", all, info_.width);
    layer.key = linear("attn_k", kv, info_.width);
    layer.value = linear("attn_v", kv, info_.width);
    layer.output = linear("attn_output", info_.width, all);
    layer.gate = linear("ffn_gate", feed_, info_.width);
    layer.up = linear("ffn_up", feed_, info_.width);
    layer.down = linear("ffn_down", info_.width, feed_);
    return layer;
  }

  // h [tokens, width]
  Tensor attend(const Layer& layer, const Tensor& h, nn::KvCache& past) const {
    const int64_t tokens = h.dim(0), size = info_.head_size, position = past.length();
    const Tensor q = rope_.apply(layer.query.forward(h).reshape({tokens, info_.heads, size}), position);
    const Tensor k = rope_.apply(layer.key.forward(h).reshape({tokens, info_.kv_heads, size}), position);
    const Tensor v = layer.value.forward(h).reshape({tokens, info_.kv_heads, size});
    past.append(k.transpose(0, 1), v.transpose(0, 1));
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    return layer.output.forward(nn::attention(q, past.keys(), past.values(), {scale, window_}));
  }

  nn::Weight embedding_;
  Tensor output_norm_;
  nn::Linear head_;
  std::vector<Layer> layers_;
  nn::Rope rope_;
  int64_t feed_ = 0, rotated_ = 0, window_ = 0;
  double rope_base_ = 10000, epsilon_ = 1e-5;
};

}  // namespace

std::unique_ptr<Model> make_llama(const io::GgufFile& file, int64_t context) {
  return std::make_unique<Llama>(file, context);
}

}  // namespace beeswax::models
