// SPDX-License-Identifier: Apache-2.0
// What decoders read from a file's metadata.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/fail.h"
#include "models/decoder.h"

namespace beeswax::models {
namespace {

constexpr double kRopeBase = 10000;  // of files that name none

// Factors that the file holds as a tensor; empty where it has none.
std::vector<double> factors_in_tensors(const Metadata& metadata, const Weights& weights, int64_t pairs,
                                       int64_t context) {
  const Tensor all = weights.optional_vector("rope_freqs.weight", pairs);
  const Tensor near = weights.optional_vector("rope_factors_short.weight", pairs);
  const Tensor far = weights.optional_vector("rope_factors_long.weight", pairs);
  if (all.defined()) return all.to_doubles();
  if (near.defined() != far.defined())
    fail(ErrorKind::Format, "load", metadata.file().name(),
         " has only one of the tensors 'rope_factors_short.weight' and 'rope_factors_long.weight'");
  if (!near.defined()) return {};
  const int64_t trained =
      metadata.size("rope.scaling.original_context_length", metadata.size("context_length"));
  return (context > trained ? far : near).to_doubles();
}

// A number above `bound`, or no less than it where `itself` may be.
double read_above(const Metadata& metadata, std::string_view key, std::optional<double> fallback,
                  int bound = 0, bool itself = false) {
  const double value = metadata.number(key, fallback);
  if (value < bound || (value == bound && !itself))
    fail(ErrorKind::Format, "load", metadata.file().name(), ": '", metadata.name_of(key), "' is ", value,
         "; it must be ", itself ? "at least " : "above ", bound);
  return value;
}

// How far positions are stretched. Files of the first converters have it under another key; 0 stands for
// none.
double read_stretch(const Metadata& metadata) {
  const char* key = metadata.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  const double factor = read_above(metadata, key, 1.0, 0, true);
  return factor == 0 ? 1 : factor;
}

// What scales positions beside YaRN, and is not computed together with it.
void check_yarn_alone(const Metadata& metadata, const Weights& weights) {
  constexpr const char* kFactors = "rope_freqs.weight";
  if (weights.has(kFactors))
    fail(ErrorKind::Unsupported, "load", metadata.file().name(),
         " scales positions by 'yarn' and the tensor '", kFactors, "'; this version has one or the other");
  constexpr const char* kShare = "rope.scaling.yarn_ext_factor";
  const double share = metadata.number(kShare, 1.0);  // below zero: not chosen
  if (share >= 0 && share != 1)
    fail(ErrorKind::Unsupported, "load", metadata.file().name(), ": '", metadata.name_of(kShare), "' is ",
         share, "; this version computes YaRN with 1 only");
}

nn::RopeScaling read_yarn(const Metadata& metadata, const ModelInfo& info, int64_t rotated) {
  nn::Yarn yarn;
  const double base = read_above(metadata, "rope.freq_base", kRopeBase, 1);
  yarn.factor = read_stretch(metadata);
  yarn.trained = metadata.size("rope.scaling.original_context_length", info.context);
  yarn.fast = read_above(metadata, "rope.scaling.yarn_beta_fast", yarn.fast);
  yarn.slow = read_above(metadata, "rope.scaling.yarn_beta_slow", yarn.slow);
  yarn.magnitude = read_above(metadata, "rope.scaling.yarn_attn_factor", 0.0, 0, true);
  return nn::yarn_scaling(rotated, base, yarn);
}

}  // namespace

DecoderOptions read_decoder(const Metadata& metadata) {
  const io::GgufFile& file = metadata.file();
  DecoderOptions out;
  ModelInfo& info = out.info;
  info.architecture = metadata.architecture();
  info.layers = metadata.size("block_count");
  info.width = metadata.size("embedding_length");
  info.heads = metadata.size("attention.head_count");
  info.kv_heads = metadata.size("attention.head_count_kv", info.heads);
  info.head_size = metadata.size("attention.key_length", info.width / info.heads);
  info.context = metadata.size("context_length");
  out.feed = metadata.size("feed_forward_length");
  out.epsilon = read_above(metadata, "attention.layer_norm_rms_epsilon", std::nullopt, 0, true);
  out.attention_scale = 1 / std::sqrt(static_cast<double>(info.head_size));
  if (info.heads % info.kv_heads != 0 ||
      metadata.size("attention.value_length", info.head_size) != info.head_size)
    fail(ErrorKind::Format, "load", file.name(), ": ", info.heads, " heads over ", info.kv_heads,
         " key/value heads, of ", info.head_size, " and ",
         metadata.size("attention.value_length", info.head_size), " elements, do not fit");
  if (info.layers > static_cast<int64_t>(file.tensors().size()))
    fail(ErrorKind::Format, "load", file.name(), " has ", file.tensors().size(), " tensors for ", info.layers,
         " layers");
  const io::GgufTensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->shape.rank() != 2 || embedding->shape[0] == 0)
    fail(ErrorKind::Format, "load", file.name(), " has no matrix 'token_embd.weight'");
  info.vocabulary = embedding->shape[0];
  // Tables of rotary positions are as large as heads: believe their size only where a tensor has it too.
  const io::GgufTensor* mixed = file.find_tensor("blk.0.attn_output.weight");
  const Shape expected = {info.width, info.heads * info.head_size};
  if (mixed == nullptr || mixed->shape != expected)
    fail(ErrorKind::Format, "load", file.name(), ": 'blk.0.attn_output.weight' is ",
         mixed == nullptr ? "missing" : mixed->shape.to_string(), ", not ", expected, " for ", info.heads,
         " heads of ", info.head_size);
  return out;
}

void read_experts(const Metadata& metadata, DecoderOptions* options) {
  if (!metadata.has("expert_count")) return;
  const int64_t experts = metadata.file().get_int(metadata.name_of("expert_count"));
  if (experts == 0) return;
  options->experts = metadata.size("expert_count");
  options->experts_used = metadata.size("expert_used_count");
  options->feed = metadata.size("expert_feed_forward_length", options->feed);
  options->normalize_experts = metadata.flag("expert_weights_norm", true);
  if (options->experts_used > options->experts)
    fail(ErrorKind::Format, "load", metadata.file().name(), ": each token goes to ", options->experts_used,
         " of ", options->experts, " experts");
}

int64_t read_rotated(const Metadata& metadata, const ModelInfo& info) {
  const int64_t rotated = metadata.size("rope.dimension_count", info.head_size);
  if (rotated > info.head_size || rotated % 2 != 0)
    fail(ErrorKind::Format, "load", metadata.file().name(), ": ", rotated, " elements of heads of ",
         info.head_size, " are rotated; it must be an even number of them");
  return rotated;
}

int64_t read_window(const Metadata& metadata) {
  return std::max<int64_t>(metadata.file().get_int(metadata.name_of("attention.sliding_window"), 0), 0);
}

double read_rope_base(const Metadata& metadata, std::string_view key) {
  return read_above(metadata, key, kRopeBase);
}

nn::Rope read_rope(const Metadata& metadata, const Weights& weights, const ModelInfo& info, int64_t context,
                   RopePairs pairs) {
  const int64_t rotated = read_rotated(metadata, info);
  const double base = read_rope_base(metadata, "rope.freq_base");
  const std::string kind = metadata.text("rope.scaling.type", "linear");
  nn::RopeScaling scaling;
  if (kind == "yarn") {
    check_yarn_alone(metadata, weights);
    scaling = read_yarn(metadata, info, rotated);
  } else if (kind == "linear" || kind == "longrope" || kind == "none") {
    scaling.factors = factors_in_tensors(metadata, weights, rotated / 2, context);
    if (kind == "longrope" && scaling.factors.empty())
      fail(ErrorKind::Format, "load", metadata.file().name(),
           " scales positions by LongRoPE, but has no tensor 'rope_factors_short.weight'");
    const double factor = kind == "linear" ? read_stretch(metadata) : 1;
    if (factor != 1) {
      if (scaling.factors.empty()) scaling.factors.assign(static_cast<size_t>(rotated / 2), 1);
      for (double& f : scaling.factors) f *= factor;
    }
  } else {
    fail(ErrorKind::Unsupported, "load", metadata.file().name(), " scales positions by '", kind,
         "'; this version has: none, linear, yarn, longrope");
  }
  scaling.magnitude *= read_above(metadata, "rope.scaling.attn_factor", 1.0);
  return nn::Rope(rotated, context, base, pairs, scaling, weights.device());
}

}  // namespace beeswax::models
