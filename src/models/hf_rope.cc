// SPDX-License-Identifier: Apache-2.0
// Rotary positions of Hugging Face folders: 'rope_theta' and 'rope_scaling', or 'rope_parameters', which
// holds both since version 5 of transformers.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/fail.h"
#include "models/hf_config.h"

namespace beeswax::models {
namespace {

constexpr std::string_view kKnown[] = {"rope_type",
                                       "type",
                                       "rope_theta",
                                       "factor",
                                       "original_max_position_embeddings",
                                       "attention_factor",
                                       "beta_fast",
                                       "beta_slow",
                                       "short_factor",
                                       "long_factor",
                                       "low_freq_factor",
                                       "high_freq_factor",
                                       "mscale",
                                       "mscale_all_dim",
                                       "partial_rotary_factor",
                                       "truncate"};

// Nothing larger is computed on a config's word, before a tensor has shown the size.
constexpr int64_t kMostRotated = 1 << 16;

/// One object of parameters.
class Rope {
 public:
  Rope(const HfConfig& config, std::string name, const io::JsonValue* json)
      : config_(config), name_(std::move(name)), json_(json) {
    if (json == nullptr) return;
    if (json->as_object() == nullptr)
      fail(ErrorKind::Format, "load", config.file(), ": '", name_, "' is ", json->to_string(),
           ", not an object");
    for (const auto& [key, value] : *json->as_object())
      if (std::ranges::find(kKnown, key) == std::end(kKnown) && !value.is_null())
        fail(ErrorKind::Unsupported, "load", config.file(), " says '", key, "': ", value.to_string(), " in '",
             name_, "', which this version does not know");
  }

  const io::JsonValue* find(std::string_view key) const {
    const io::JsonValue* value = json_ == nullptr ? nullptr : json_->find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const {
    const io::JsonValue* value = find(key);
    if (value != nullptr) return config_.number_in(*value, name_of(key));
    if (!fallback) fail(ErrorKind::Format, "load", config_.file(), " has no ", name_of(key));
    return *fallback;
  }
  std::string kind() const {
    const io::JsonValue* value = find("rope_type");
    if (value == nullptr) value = find("type");
    if (value == nullptr) return "default";
    if (value->as_text() == nullptr)
      fail(ErrorKind::Format, "load", config_.file(), ": ", name_of("rope_type"), " is ", value->to_string(),
           ", not text");
    const std::string& kind = *value->as_text();
    return config_.model() == "phi3" && (kind == "su" || kind == "yarn") ? "longrope" : kind;
  }
  double theta(std::string_view outside) const { return number("rope_theta", config_.number(outside)); }
  std::vector<float> factors(std::string_view key) const {
    const io::JsonValue* value = find(key);
    if (value == nullptr || value->as_list() == nullptr)
      fail(ErrorKind::Format, "load", config_.file(), " has no list ", name_of(key));
    std::vector<float> out;
    for (const io::JsonValue& one : *value->as_list())
      out.push_back(static_cast<float>(config_.number_in(one, name_of(key))));
    return out;
  }
  // The positions of the first training; the config's own value comes first, as in transformers.
  int64_t trained() const {
    const int64_t all = config_.size("max_position_embeddings");
    const io::JsonValue* value = find("original_max_position_embeddings");
    return config_.size(
        "original_max_position_embeddings",
        value == nullptr ? all : config_.size_in(*value, name_of("original_max_position_embeddings")));
  }
  std::string name_of(std::string_view key) const { return join_text("'", key, "' in '", name_, "'"); }

 private:
  const HfConfig& config_;
  std::string name_;
  const io::JsonValue* json_;
};

class RopeTranslator {
 public:
  RopeTranslator(const HfConfig& config, HfMetadata* out) : config_(config), out_(out) {}

  void translate(const Rope& rope) {
    const double theta = rope.theta("rope_theta");
    const double part = rope.number("partial_rotary_factor", config_.number("partial_rotary_factor", 1.0));
    if (!(part > 0 && part <= 1) || (part != 1 && config_.model() != "phi3"))
      fail(ErrorKind::Unsupported, "load", config_.file(), ": 'partial_rotary_factor' is ",
           io::JsonValue(part).to_string(), ", which ", config_.model(), " models do not have here");
    const auto rotated = static_cast<int64_t>(static_cast<double>(config_.head_size()) * part);
    set("rope.freq_base", theta);
    set("rope.dimension_count", rotated);
    const std::string kind = rope.kind();
    if (kind == "linear") {
      set_kind("linear");
      set("rope.scaling.factor", positive(rope, "factor"));
    } else if (kind == "llama3") {
      llama3(rope, theta, rotated);
    } else if (kind == "yarn") {
      yarn(rope);
    } else if (kind == "longrope") {
      longrope(rope);
    } else if (kind != "default") {
      fail(ErrorKind::Unsupported, "load", config_.file(), " scales positions by '", kind,
           "'; this version has: default, linear, llama3, yarn, longrope");
    }
  }

  void set(std::string_view key, double value) {
    out_->values.set(join_text(config_.architecture(), ".", key), {io::GgufType::F64, value});
  }

 private:
  void set(std::string_view key, int64_t value) {
    out_->values.set(join_text(config_.architecture(), ".", key),
                     {io::GgufType::U64, static_cast<uint64_t>(value)});
  }
  void set_kind(std::string_view kind) {
    out_->values.set_string(join_text(config_.architecture(), ".rope.scaling.type"), kind);
  }
  double positive(const Rope& rope, std::string_view key,
                  std::optional<double> fallback = std::nullopt) const {
    const double value = rope.number(key, fallback);
    if (!(value > 0))
      fail(ErrorKind::Format, "load", config_.file(), ": ", rope.name_of(key), " is ", value,
           "; it must be positive");
    return value;
  }
  // How much longer the context is than the first training's.
  double stretch(const Rope& rope) const {
    const double trained = static_cast<double>(std::max<int64_t>(rope.trained(), 1));
    return positive(rope, "factor", static_cast<double>(config_.size("max_position_embeddings")) / trained);
  }

  // Llama 3.1: waves longer than the first training are slowed down by the factor, those that fit many times
  // are kept, and those between are blended.
  void llama3(const Rope& rope, double theta, int64_t rotated) {
    const double factor = positive(rope, "factor"), low = positive(rope, "low_freq_factor"),
                 high = positive(rope, "high_freq_factor");
    if (high <= low)
      fail(ErrorKind::Format, "load", config_.file(), ": ", rope.name_of("high_freq_factor"), " is ", high,
           "; it must be above the low one, ", low);
    if (rotated > kMostRotated)
      fail(ErrorKind::Format, "load", config_.file(), ": heads of ", rotated, " elements; at most ",
           kMostRotated, " are expected");
    const auto trained = static_cast<double>(rope.trained());
    std::vector<float> factors;
    for (int64_t i = 0; i < rotated / 2; ++i) {
      const double exponent = 2 * static_cast<double>(i) / static_cast<double>(rotated);
      const double turns = trained / (2 * std::numbers::pi * std::pow(theta, exponent));
      const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
      factors.push_back(static_cast<float>(1 / ((1 - kept) / factor + kept)));
    }
    out_->factors.emplace_back("rope_freqs.weight", std::move(factors));
  }

  void yarn(const Rope& rope) {
    const io::JsonValue* truncate = rope.find("truncate");
    if (truncate != nullptr && truncate->as_bool() != std::optional(true))
      fail(ErrorKind::Unsupported, "load", config_.file(), " says ", rope.name_of("truncate"), ": ",
           truncate->to_string(), "; this version computes YaRN with true only");
    const double factor = stretch(rope);
    const auto magnitude = [&](double scale) {
      return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1;
    };
    const double above = rope.number("mscale", 0.0), below = rope.number("mscale_all_dim", 0.0);
    set_kind("yarn");
    set("rope.scaling.factor", factor);
    set("rope.scaling.original_context_length", rope.trained());
    set("rope.scaling.yarn_beta_fast", positive(rope, "beta_fast", 32.0));
    set("rope.scaling.yarn_beta_slow", positive(rope, "beta_slow", 1.0));
    set("rope.scaling.yarn_attn_factor",
        positive(rope, "attention_factor",
                 above != 0 && below != 0 ? magnitude(above) / magnitude(below) : magnitude(1)));
  }

  void longrope(const Rope& rope) {
    const double factor = stretch(rope);
    const auto trained = static_cast<double>(rope.trained());
    set_kind("longrope");
    set("rope.scaling.original_context_length", rope.trained());
    set("rope.scaling.attn_factor",
        positive(rope, "attention_factor",
                 factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(trained))));
    out_->factors.emplace_back("rope_factors_short.weight", rope.factors("short_factor"));
    out_->factors.emplace_back("rope_factors_long.weight", rope.factors("long_factor"));
  }

  const HfConfig& config_;
  HfMetadata* out_;
};

}  // namespace

void translate_rope(const HfConfig& config, HfMetadata* out) {
  // An empty object says nothing, as in transformers.
  const auto given = [&](std::string_view key) {
    const io::JsonValue* value = config.find(key);
    return value != nullptr && value->as_object() != nullptr && value->as_object()->empty() ? nullptr : value;
  };
  const char* name = given("rope_scaling") != nullptr ? "rope_scaling" : "rope_parameters";
  const io::JsonValue* json = given(name);
  RopeTranslator to(config, out);
  if (config.model() != "gemma3_text") return to.translate(Rope(config, name, json));
  // Gemma 3 has parameters for each kind of layer; those with a window are never stretched.
  const auto is_nested = [](const io::JsonValue* value) {
    return value != nullptr &&
           (value->find("full_attention") != nullptr || value->find("sliding_attention") != nullptr);
  };
  const io::JsonValue* parameters = given("rope_parameters");
  if (parameters != nullptr && !is_nested(parameters))
    fail(ErrorKind::Unsupported, "load", config.file(), ": 'rope_parameters' is ", parameters->to_string(),
         "; this version reads 'full_attention' and 'sliding_attention' in it for a ", config.model(),
         " model");
  if (parameters != nullptr && json != parameters)
    fail(ErrorKind::Unsupported, "load", config.file(), " says 'rope_scaling': ", json->to_string(),
         " beside 'rope_parameters'; this version reads one of them for a ", config.model(), " model");
  if (!is_nested(json)) {
    to.translate(Rope(config, name, json));
    return to.set("rope.freq_base_swa", config.number("rope_local_base_freq"));
  }
  for (const auto& [key, value] : *json->as_object())
    if (key != "full_attention" && key != "sliding_attention")
      fail(ErrorKind::Unsupported, "load", config.file(), " says '", key, "': ", value.to_string(), " in '",
           name, "', which this version does not know");
  to.translate(Rope(config, "full_attention", json->find("full_attention")));
  const Rope local(config, "sliding_attention", json->find("sliding_attention"));
  if (local.kind() != "default")
    fail(ErrorKind::Unsupported, "load", config.file(), " scales positions of layers with a window by '",
         local.kind(), "'; this version has: default");
  to.set("rope.freq_base_swa", local.theta("rope_local_base_freq"));
}

}  // namespace beeswax::models
