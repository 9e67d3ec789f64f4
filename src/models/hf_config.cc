// SPDX-License-Identifier: Apache-2.0
#include "models/hf_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/fail.h"
#include "io/json_events.h"

namespace beeswax::models {
namespace {

// Holds the config of a text model in 'text_config'.
constexpr std::string_view kOuterModel = "gemma3";

enum class Use { Size, SizeOrNone, Number, NumberOrNone, Fixed, Read, Ignored };

struct Key {
  std::string_view models, name;
  Use use;
  std::string_view what;
};

constexpr Key kKeys[] = {
#define BW_HF_KEY(models, key, use, what) {models, #key, Use::use, what},
#include "tables/hf_config.def"
};

const Key* find_key(std::string_view model, std::string_view name) {
  for (const Key& key : kKeys)
    if (key.name == name && is_model_of(key.models, model)) return &key;
  return nullptr;
}

std::string_view architecture_of(std::string_view model) {
#define BW_HF_MODEL(model_type, architecture) \
  if (model == #model_type) return #architecture;
#include "tables/hf_config.def"
  return {};
}

// Nothing is asked for.
bool is_nothing(const io::JsonValue& value) {
  const auto flag = value.as_bool();
  return value.is_null() || (flag && !*flag) || (value.as_list() != nullptr && value.as_list()->empty()) ||
         (value.as_object() != nullptr && value.as_object()->empty());
}

std::string quoted(std::string_view key) { return join_text("'", key, "'"); }

// `where` names the value, in quotes.
[[noreturn]] void refuse(const HfConfig& config, std::string_view where, const io::JsonValue& value,
                         std::string_view wanted) {
  fail(ErrorKind::Format, "load", config.file(), ": ", where, " is ", value.to_string(), ", not ", wanted);
}

void check_keys(const io::JsonValue& json, std::string_view model, std::string_view file) {
  for (const auto& [name, value] : *json.as_object()) {
    const Key* key = find_key(model, name);
    if (key == nullptr && !name.starts_with("_") && !is_nothing(value))
      fail(ErrorKind::Unsupported, "load", file, " says '", io::shown_name(name), "': ", value.to_string(),
           ", which this version does not know for a ", model,
           " model; the results could be other than meant");
    if (key != nullptr && key->use == Use::Fixed && value.to_string() != key->what &&
        !(is_nothing(value) && (key->what == "null" || key->what == "false")))
      fail(ErrorKind::Unsupported, "load", file, " says '", name, "': ", value.to_string(),
           "; this version computes ", model, " models with ", key->what, " only");
  }
}

class Translator {
 public:
  Translator(const HfConfig& config, HfMetadata* out) : config_(config), out_(out) {}

  void set_size(std::string_view key, int64_t value) {
    set(key, {io::GgufType::U64, static_cast<uint64_t>(value)});
  }
  void set_number(std::string_view key, double value) { set(key, {io::GgufType::F64, value}); }

  void copy(const Key& key) {
    const io::JsonValue* value = config_.find(key.name);
    switch (key.use) {
      case Use::Size:
        if (value != nullptr) set_size(key.what, config_.size(key.name));
        break;
      case Use::SizeOrNone:
        set_size(key.what, config_.size(key.name, 0));
        break;
      case Use::Number:
        set_number(key.what, config_.number(key.name));
        break;
      case Use::NumberOrNone:
        set_number(key.what, config_.number(key.name, 0.0));
        break;
      default:
        break;
    }
  }

  // Which layers have a window: flags where the architecture reads them, else all must be alike.
  void layer_types() {
    const io::JsonValue* value = config_.find("layer_types");
    if (value == nullptr) return;
    const io::JsonValue::List* list = value->as_list();
    const bool gemma = config_.model().starts_with("gemma");
    const int64_t layers = config_.size("num_hidden_layers");
    if (list == nullptr || static_cast<int64_t>(list->size()) != layers)
      refuse(config_, quoted("layer_types"), *value, join_text("a list of ", layers, " kinds"));
    const std::string_view needed = config_.model() == "mistral" && config_.find("sliding_window") != nullptr
                                        ? "sliding_attention"
                                        : "full_attention";
    std::vector<int32_t> flags;
    for (const io::JsonValue& one : *list) {
      const std::string* kind = one.as_text();
      const bool sliding = kind != nullptr && *kind == "sliding_attention";
      if (!sliding && (kind == nullptr || *kind != "full_attention"))
        fail(ErrorKind::Unsupported, "load", config_.file(), ": 'layer_types' has ", one.to_string(),
             "; this version has \"full_attention\" and \"sliding_attention\"");
      if (!gemma && *kind != needed)
        fail(ErrorKind::Unsupported, "load", config_.file(), ": 'layer_types' has ", one.to_string(), "; a ",
             config_.model(), " model like this has only \"", needed, "\" here");
      flags.push_back(sliding);
    }
    if (gemma)
      out_->values.set_i32s(join_text(config_.architecture(), ".attention.sliding_window_pattern"), flags);
  }

 private:
  void set(std::string_view key, const io::GgufValue& value) {
    out_->values.set(join_text(config_.architecture(), ".", key), value);
  }

  const HfConfig& config_;
  HfMetadata* out_;
};

}  // namespace

bool is_model_of(std::string_view models, std::string_view model) {
  if (models == "*") return true;
  while (!models.empty()) {
    const size_t end = std::min(models.find(' '), models.size());
    if (models.substr(0, end) == model) return true;
    models.remove_prefix(std::min(end + 1, models.size()));
  }
  return false;
}

HfConfig::HfConfig(const io::JsonValue& json, std::string_view file) : json_(json), file_(file) {
  const io::JsonValue* type = json.find("model_type");
  if (type == nullptr || type->as_text() == nullptr)
    fail(ErrorKind::Format, "load", file, " has no text 'model_type'");
  model_ = *type->as_text();
  architecture_ = architecture_of(model_);
  if (architecture_.empty())
    fail(ErrorKind::Unsupported, "load", file, ": 'model_type' is ", type->to_string(),
         "; known are:"
#define BW_HF_MODEL(model_type, architecture) " " #model_type
#include "tables/hf_config.def"
         " ",
         kOuterModel);
#define BW_HF_DEFAULT(models, key, value) \
  if (is_model_of(models, model_)) defaults_.emplace(#key, io::JsonValue::parse(value, #key));
#include "tables/hf_config.def"
  check_keys(json, model_, file_);
}

io::JsonValue read_folder_json(const std::string& folder, std::string_view name) {
  constexpr uint64_t kMostBytes = 1 << 20;
  return io::JsonValue::read((std::filesystem::path(folder) / name).string(), kMostBytes);
}

const io::JsonValue& text_config(const io::JsonValue& json, std::string_view file) {
  const io::JsonValue* type = json.find("model_type");
  const io::JsonValue* text = json.find("text_config");
  if (type == nullptr || type->as_text() == nullptr || *type->as_text() != kOuterModel || text == nullptr)
    return json;
  check_keys(json, kOuterModel, file);
  return *text;
}

const io::JsonValue* HfConfig::find(std::string_view key) const {
  const io::JsonValue* value = json_.find(key);
  if (value == nullptr) {
    const auto it = defaults_.find(key);
    return it == defaults_.end() ? nullptr : &it->second;
  }
  return value->is_null() ? nullptr : value;
}

namespace {

// The value that `read` finds; Format where it is missing without a fallback.
template <class T, class F>
T get(const HfConfig& config, std::string_view key, const std::optional<T>& fallback, const F& read) {
  const io::JsonValue* value = config.find(key);
  if (value == nullptr && !fallback) fail(ErrorKind::Format, "load", config.file(), " has no '", key, "'");
  return value == nullptr ? *fallback : read(*value);
}

}  // namespace

int64_t HfConfig::size_in(const io::JsonValue& value, std::string_view where) const {
  const auto whole = value.as_whole();
  if (!whole || *whole < 0 || *whole > INT32_MAX) refuse(*this, where, value, "a whole number below 2^31");
  return *whole;
}

double HfConfig::number_in(const io::JsonValue& value, std::string_view where) const {
  const auto number = value.as_number();
  if (!number) refuse(*this, where, value, "a number");
  return *number;
}

int64_t HfConfig::size(std::string_view key, std::optional<int64_t> fallback) const {
  return get(*this, key, fallback, [&](const io::JsonValue& value) { return size_in(value, quoted(key)); });
}

double HfConfig::number(std::string_view key, std::optional<double> fallback) const {
  return get(*this, key, fallback, [&](const io::JsonValue& value) { return number_in(value, quoted(key)); });
}

bool HfConfig::flag(std::string_view key, bool fallback) const {
  return get(*this, key, std::optional(fallback), [&](const io::JsonValue& value) {
    const auto found = value.as_bool();
    if (!found) refuse(*this, quoted(key), value, "true or false");
    return *found;
  });
}

int64_t HfConfig::head_size() const {
  const int64_t heads = size("num_attention_heads");
  if (heads == 0) fail(ErrorKind::Format, "load", file_, ": 'num_attention_heads' is 0");
  return size("head_dim", size("hidden_size") / heads);
}

HfMetadata translate_config(const HfConfig& config, std::string_view title) {
  HfMetadata out;
  out.values.set_string("general.architecture", config.architecture());
  out.values.set_string("general.name", title);
  Translator to(config, &out);
  for (const Key& key : kKeys)
    if (is_model_of(key.models, config.model())) to.copy(key);
  to.set_size("attention.key_length", config.head_size());
  to.set_size("attention.value_length", config.head_size());
  to.layer_types();
  const std::string architecture(config.architecture());
  // Folders hold rows as transformers rotates them, the halves of a head together.
  if (config.architecture() == "llama") out.values.set_string(architecture + ".rope.pairs", "halves");
  if (config.model() == "qwen3_moe")
    out.values.set_bool(architecture + ".expert_weights_norm", config.flag("norm_topk_prob", false));
  if (config.model().starts_with("gemma"))
    to.set_number("attention.scale", 1 / std::sqrt(config.number("query_pre_attn_scalar")));
  if (config.model() == "gemma3_text" && config.find("layer_types") == nullptr)
    to.set_size("attention.sliding_window_pattern", config.size("sliding_window_pattern", 6));
  translate_rope(config, &out);
  return out;
}

}  // namespace beeswax::models
