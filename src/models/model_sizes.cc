// SPDX-License-Identifier: Apache-2.0
#include "models/model_sizes.h"

#include <string>

#include "core/fail.h"

namespace beeswax::models {
namespace {

// name, title, architecture, layers, width, heads, kv heads, head size, feed, vocabulary, context, base, tied
constexpr ModelSizes kSizes[] = {
    {"llama-1b", "Llama 3.2 1B", "llama", 16, 2048, 32, 8, 64, 8192, 128256, 131072, 5e5, true},
    {"llama-3b", "Llama 3.2 3B", "llama", 28, 3072, 24, 8, 128, 8192, 128256, 131072, 5e5, true},
    {"llama-8b", "Llama 3.1 8B", "llama", 32, 4096, 32, 8, 128, 14336, 128256, 131072, 5e5, false},
    {"llama-70b", "Llama 3.1 70B", "llama", 80, 8192, 64, 8, 128, 28672, 128256, 131072, 5e5, false},
    {"mistral-7b", "Mistral 7B v0.3", "llama", 32, 4096, 32, 8, 128, 14336, 32768, 32768, 1e6, false},
    {"mixtral-8x7b", "Mixtral 8x7B", "llama", 32, 4096, 32, 8, 128, 14336, 32000, 32768, 1e6, false, 8, 2},
    {"qwen2.5-0.5b", "Qwen2.5 0.5B", "qwen2", 24, 896, 14, 2, 64, 4864, 151936, 32768, 1e6, true},
    {"qwen2.5-7b", "Qwen2.5 7B", "qwen2", 28, 3584, 28, 4, 128, 18944, 152064, 32768, 1e6, false},
    {"qwen3-0.6b", "Qwen3 0.6B", "qwen3", 28, 1024, 16, 8, 128, 3072, 151936, 40960, 1e6, true},
    {"qwen3-8b", "Qwen3 8B", "qwen3", 36, 4096, 32, 8, 128, 12288, 151936, 40960, 1e6, false},
    {"qwen3-30b-a3b", "Qwen3 30B-A3B", "qwen3moe", 48, 2048, 32, 4, 128, 768, 151936, 40960, 1e6, false, 128,
     8},
};

constexpr uint32_t kF32 = 0;
constexpr float kEpsilon = 1e-5f;  // times do not depend on it

void describe_metadata(const ModelSizes& sizes, const Mixture& mixture, io::GgufWriter* out) {
  const auto number = [&](const char* key, int64_t value) {
    out->set_u32(std::string(sizes.architecture) + "." + key, static_cast<uint32_t>(value));
  };
  out->set_string("general.architecture", sizes.architecture);
  out->set_string("general.name", join_text(sizes.title, " with random weights"));
  out->set_u32("general.file_type", mixture.file_type);
  number("block_count", sizes.layers);
  number("context_length", sizes.context);
  number("embedding_length", sizes.width);
  number("feed_forward_length", sizes.feed);
  number("attention.head_count", sizes.heads);
  number("attention.head_count_kv", sizes.kv_heads);
  number("attention.key_length", sizes.head_size);
  number("attention.value_length", sizes.head_size);
  number("rope.dimension_count", sizes.head_size);
  out->set_f32(std::string(sizes.architecture) + ".attention.layer_norm_rms_epsilon", kEpsilon);
  out->set_f32(std::string(sizes.architecture) + ".rope.freq_base", static_cast<float>(sizes.rope_base));
  if (sizes.experts == 0) return;
  number("expert_count", sizes.experts);
  number("expert_used_count", sizes.experts_used);
  number("expert_feed_forward_length", sizes.feed);
}

}  // namespace

std::span<const ModelSizes> known_sizes() { return kSizes; }

const ModelSizes& find_sizes(std::string_view name) {
  std::string known;
  for (const ModelSizes& sizes : kSizes) {
    if (sizes.name == name) return sizes;
    known.append(known.empty() ? "" : ", ").append(sizes.name);
  }
  fail(ErrorKind::InvalidArgument, "bench", "no model sizes are known as '", name, "' (known: ", known, ")");
}

io::GgufWriter describe_model(const ModelSizes& sizes, const Mixture& mixture) {
  io::GgufWriter out;
  describe_metadata(sizes, mixture, &out);
  MixtureModel model;
  model.layers = sizes.layers;
  model.sharing = sizes.heads / sizes.kv_heads;
  model.experts = sizes.experts;
  model.tied = sizes.tied;
  const auto add = [&](const std::string& name, const Shape& shape) {
    out.add_tensor(name,
                   is_quantizable(name, shape)
                       ? rows_fit(choose_type(mixture, model, name), shape[shape.rank() - 1]).id
                       : kF32,
                   shape);
  };
  const int64_t width = sizes.width, feed = sizes.feed, experts = sizes.experts;
  const int64_t all = sizes.heads * sizes.head_size, kv = sizes.kv_heads * sizes.head_size;
  add("token_embd.weight", {sizes.vocabulary, width});
  add("output_norm.weight", {width});
  if (!sizes.tied) add("output.weight", {sizes.vocabulary, width});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    add(layer + "attn_norm.weight", {width});
    add(layer + "attn_q.weight", {all, width});
    add(layer + "attn_k.weight", {kv, width});
    add(layer + "attn_v.weight", {kv, width});
    add(layer + "attn_output.weight", {width, all});
    if (sizes.architecture == "qwen2") {
      add(layer + "attn_q.bias", {all});
      add(layer + "attn_k.bias", {kv});
      add(layer + "attn_v.bias", {kv});
    }
    if (sizes.architecture.starts_with("qwen3")) {
      add(layer + "attn_q_norm.weight", {sizes.head_size});
      add(layer + "attn_k_norm.weight", {sizes.head_size});
    }
    add(layer + "ffn_norm.weight", {width});
    if (experts > 0) {
      add(layer + "ffn_gate_inp.weight", {experts, width});
      add(layer + "ffn_gate_exps.weight", {experts, feed, width});
      add(layer + "ffn_up_exps.weight", {experts, feed, width});
      add(layer + "ffn_down_exps.weight", {experts, width, feed});
    } else {
      add(layer + "ffn_gate.weight", {feed, width});
      add(layer + "ffn_up.weight", {feed, width});
      add(layer + "ffn_down.weight", {width, feed});
    }
  }
  return out;
}

}  // namespace beeswax::models
