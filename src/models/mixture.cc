// SPDX-License-Identifier: Apache-2.0
#include "models/mixture.h"

#include <algorithm>
#include <charconv>

#include "core/fail.h"

namespace beeswax::models {
namespace {

// The number of a type in files, by its name there.
consteval uint32_t number_of(std::string_view type) {
#define BW_GGML_TYPE(id, name, ...) \
  if (type == #name) return id;
#include "tables/ggml_types.def"
  throw "no such type";
}

enum Type : uint32_t {
  F32 = number_of("f32"),
  F16 = number_of("f16"),
  Q4_0 = number_of("q4_0"),
  Q4_1 = number_of("q4_1"),
  Q5_0 = number_of("q5_0"),
  Q5_1 = number_of("q5_1"),
  Q8_0 = number_of("q8_0"),
  Q2_K = number_of("q2_k"),
  Q3_K = number_of("q3_k"),
  Q4_K = number_of("q4_k"),
  Q5_K = number_of("q5_k"),
  Q6_K = number_of("q6_k"),
  BF16 = number_of("bf16"),
};

constexpr Mixture kMixtures[] = {
    {"f32", 0, F32},      {"f16", 1, F16},      {"bf16", 32, BF16},   {"q4_0", 2, Q4_0},
    {"q4_1", 3, Q4_1},    {"q5_0", 8, Q5_0},    {"q5_1", 9, Q5_1},    {"q8_0", 7, Q8_0},
    {"q2_k", 10, Q2_K},   {"q3_k_s", 11, Q3_K}, {"q3_k_m", 12, Q3_K}, {"q3_k_l", 13, Q3_K},
    {"q4_k_s", 14, Q4_K}, {"q4_k_m", 15, Q4_K}, {"q5_k_s", 16, Q5_K}, {"q5_k_m", 17, Q5_K},
    {"q6_k", 18, Q6_K},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"q3_k", "q3_k_m"}, {"q4_k", "q4_k_m"}, {"q5_k", "q5_k_m"}};

enum class Part { AttentionKey, AttentionValue, AttentionJoined, AttentionOutput, FeedDown };

enum class When {
  Always,
  SharedFour,      // four query heads or more share a value head
  FirstTwo,        // layers
  FirstFour,       // layers
  FirstEighth,     // of the layers
  FirstSixteenth,  // of the layers
  EndsAndThird,    // the first and the last eighth of the layers, and every third between
  Importance,      // the first eighth of the layers, where there is an importance matrix
};

struct Rule {
  std::string_view mixture;
  Part part;
  When when;
  Type type;
};

// The first that fits counts.
constexpr Rule kRules[] = {
    {"q2_k", Part::AttentionValue, When::SharedFour, Q4_K},
    {"q2_k", Part::AttentionValue, When::Always, Q3_K},
    {"q2_k", Part::AttentionOutput, When::Always, Q3_K},
    {"q2_k", Part::FeedDown, When::Always, Q3_K},
    {"q3_k_m", Part::AttentionValue, When::FirstTwo, Q5_K},
    {"q3_k_m", Part::AttentionValue, When::Always, Q4_K},
    {"q3_k_m", Part::AttentionJoined, When::Always, Q4_K},
    {"q3_k_m", Part::AttentionOutput, When::Always, Q4_K},
    {"q3_k_m", Part::FeedDown, When::FirstSixteenth, Q5_K},
    {"q3_k_m", Part::FeedDown, When::Always, Q4_K},
    {"q3_k_l", Part::AttentionValue, When::Always, Q5_K},
    {"q3_k_l", Part::AttentionJoined, When::Always, Q4_K},
    {"q3_k_l", Part::AttentionOutput, When::Always, Q5_K},
    {"q3_k_l", Part::FeedDown, When::Always, Q5_K},
    {"q4_k_s", Part::AttentionValue, When::FirstFour, Q5_K},
    {"q4_k_s", Part::FeedDown, When::FirstEighth, Q5_K},
    {"q4_k_m", Part::AttentionValue, When::EndsAndThird, Q6_K},
    {"q4_k_m", Part::AttentionJoined, When::Always, Q5_K},
    {"q4_k_m", Part::FeedDown, When::EndsAndThird, Q6_K},
    {"q5_k_m", Part::AttentionValue, When::EndsAndThird, Q6_K},
    {"q5_k_m", Part::AttentionJoined, When::Always, Q6_K},
    {"q5_k_m", Part::FeedDown, When::EndsAndThird, Q6_K},
    {"q4_0", Part::FeedDown, When::Importance, Q4_1},
    {"q5_0", Part::FeedDown, When::Importance, Q5_1},
};

// With eight experts attention is a small part of the file, and these are worth it in any mixture.
constexpr std::string_view kFiveBitOutputs[] = {"q2_k", "q3_k_s", "q3_k_m", "q4_k_s", "q4_k_m"};

bool holds(When when, int64_t layer, const MixtureModel& model) {
  const int64_t eighth = model.layers / 8;
  switch (when) {
    case When::Always:
      return true;
    case When::SharedFour:
      return model.sharing >= 4;
    case When::FirstTwo:
      return layer < 2;
    case When::FirstFour:
      return layer < 4;
    case When::FirstEighth:
      return layer < eighth;
    case When::FirstSixteenth:
      return layer < model.layers / 16;
    case When::EndsAndThird:
      return layer < eighth || layer >= 7 * model.layers / 8 || (layer - eighth) % 3 == 2;
    case When::Importance:
      return model.importance && layer < eighth;
  }
  return false;
}

// "blk.7.attn_v.weight" is the part attn_v of layer 7; experts of old files have a number behind that.
struct Place {
  int64_t layer = -1;
  std::string_view part;
};

Place place_of(std::string_view name) {
  Place out;
  if (!name.starts_with("blk.")) return out;
  name.remove_prefix(4);
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out.layer);
  constexpr int64_t kMostLayers = 1 << 20;
  if (error != std::errc() || end == name.data() + name.size() || *end != '.' || out.layer < 0 ||
      out.layer >= kMostLayers)
    return {};
  name.remove_prefix(static_cast<size_t>(end - name.data()) + 1);
  out.part = name.substr(0, name.find('.'));
  return out;
}

std::optional<Part> part_named(std::string_view name) {
  if (name == "attn_k") return Part::AttentionKey;
  if (name == "attn_v") return Part::AttentionValue;
  if (name == "attn_qkv") return Part::AttentionJoined;
  if (name == "attn_output") return Part::AttentionOutput;
  if (name == "ffn_down" || name == "ffn_down_exps" || name == "ffn_down_shexp") return Part::FeedDown;
  return std::nullopt;
}

uint32_t type_in_layer(const Mixture& mixture, const MixtureModel& model, Part part, int64_t layer) {
  if (model.experts == 8) {
    if (part == Part::AttentionValue || part == Part::AttentionKey) return Q8_0;
    if (part == Part::AttentionOutput)
      return std::ranges::find(kFiveBitOutputs, mixture.name) != std::end(kFiveBitOutputs) ? +Q5_K
                                                                                           : mixture.base;
  }
  uint32_t type = mixture.base;
  for (const Rule& rule : kRules)
    if (rule.mixture == mixture.name && rule.part == part && holds(rule.when, layer, model)) {
      type = rule.type;
      break;
    }
  // The models of 70 billion parameters: eight query heads share a value head, so these matrices are small.
  if (part == Part::AttentionValue && model.layers == 80 && model.sharing > 1 &&
      (type == Q3_K || type == Q4_K))
    type = Q5_K;
  return type;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

int64_t number_or(const io::GgufFile& file, const std::string& key, int64_t otherwise) {
  const io::GgufValue* value = file.find(key);
  return value == nullptr ? otherwise : value->as_int().value_or(otherwise);
}

}  // namespace

std::span<const Mixture> mixtures() { return kMixtures; }

const Mixture& parse_mixture(std::string_view name) {
  std::string wanted = lower(name);
  for (const auto& [alias, meant] : kAliases)
    if (wanted == alias) wanted = meant;
  std::string known;
  for (const Mixture& mixture : kMixtures) {
    if (mixture.name == wanted) return mixture;
    known.append(known.empty() ? "" : ", ").append(mixture.name);
  }
  fail(ErrorKind::InvalidArgument, "quantize", "'", name, "' is no type of model files (known: ", known, ")");
}

MixtureModel mixture_model(const io::GgufFile& file) {
  MixtureModel out;
  const std::string prefix = file.get_string("general.architecture", "") + ".";
  for (const io::GgufTensor& tensor : file.tensors())
    out.layers = std::max(out.layers, place_of(tensor.name).layer + 1);
  const int64_t heads = number_or(file, prefix + "attention.head_count", 1);
  const int64_t kv_heads = number_or(file, prefix + "attention.head_count_kv", heads);
  out.sharing = kv_heads > 0 ? std::max<int64_t>(1, heads / kv_heads) : 1;
  out.experts = number_or(file, prefix + "expert_count", 0);
  out.tied = file.find_tensor("output.weight") == nullptr;
  return out;
}

bool is_quantizable(std::string_view name, const Shape& shape) {
  return shape.rank() >= 2 && name.ends_with(".weight") && !name.ends_with("_norm.weight") &&
         !name.ends_with("ffn_gate_inp.weight");
}

const io::GgmlType& rows_fit(const io::GgmlType& type, int64_t columns) {
  const auto fits = [&](uint32_t id) { return columns % io::ggml_type(id)->block_elements == 0; };
  uint32_t id = type.id;
  if (!fits(id)) {
    if (id == Q2_K || id == Q3_K)
      id = Q4_0;
    else if (id == Q4_K)
      id = Q5_0;
    else if (id == Q5_K)
      id = Q5_1;
    else if (id == Q6_K)
      id = Q8_0;
  }
  return *io::ggml_type(fits(id) ? id : F16);
}

const io::GgmlType& choose_type(const Mixture& mixture, const MixtureModel& model, std::string_view name,
                                bool pure) {
  uint32_t id = mixture.base;
  const bool blocks = io::ggml_type(id)->block_elements > 1;
  if (!pure && blocks) {
    const Place place = place_of(name);
    const std::optional<Part> part = part_named(place.part);
    if (name == "output.weight" || (model.tied && name == "token_embd.weight"))
      id = id == Q8_0 ? Q8_0 : Q6_K;
    else if (part)
      id = type_in_layer(mixture, model, *part, place.layer);
  }
  return *io::ggml_type(id);
}

}  // namespace beeswax::models
