// SPDX-License-Identifier: Apache-2.0
// What the config.json of a Hugging Face folder says, as the metadata of a GGUF file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf_writer.h"
#include "io/json_value.h"

namespace beeswax::models {

/// Whether `model` is one of `models`: words, or "*".
bool is_model_of(std::string_view models, std::string_view model);

/// The JSON file `name` of a folder: config.json or its like. Io where it cannot be read, Format where it is
/// not JSON or longer than any such file.
io::JsonValue read_folder_json(const std::string& folder, std::string_view name);

/// The part of a config.json that is about text: all of it, or what its 'text_config' holds where the model
/// has other towers too. Unsupported for keys beside it that this version does not know.
const io::JsonValue& text_config(const io::JsonValue& json, std::string_view file);
const io::JsonValue& text_config(io::JsonValue&& json, std::string_view file) = delete;

/// The values of one model type, with transformers' own where config.json has none. Rows of
/// tables/hf_config.def say which keys there are.
class HfConfig {
 public:
  /// Unsupported, naming `file` and the key, for a model type or a key that this version does not know, and
  /// for values that it does not compute with. `json` must outlive the object.
  HfConfig(const io::JsonValue& json, std::string_view file);

  const std::string& file() const { return file_; }
  const std::string& model() const { return model_; }
  std::string_view architecture() const { return architecture_; }
  /// Null where the key is absent, without a default, or null.
  const io::JsonValue* find(std::string_view key) const;
  /// Each is Format where the value is of another kind, and where it is missing without `fallback`.
  int64_t size(std::string_view key, std::optional<int64_t> fallback = std::nullopt) const;
  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  bool flag(std::string_view key, bool fallback) const;
  /// The same from an object in it; `where` names the value, in quotes.
  int64_t size_in(const io::JsonValue& value, std::string_view where) const;
  double number_in(const io::JsonValue& value, std::string_view where) const;
  int64_t head_size() const;

 private:
  const io::JsonValue& json_;
  std::string file_, model_;
  std::string_view architecture_;
  std::map<std::string, io::JsonValue, std::less<>> defaults_;
};

/// The GGUF side of a config.
struct HfMetadata {
  io::GgufWriter values;
  /// Tensors that follow from the config: factors of rotary positions.
  std::vector<std::pair<std::string, std::vector<float>>> factors;
};

/// Format or Unsupported for values that contradict each other or that this version does not compute with.
HfMetadata translate_config(const HfConfig& config, std::string_view title);

/// The part of translate_config about rotary positions.
void translate_rope(const HfConfig& config, HfMetadata* out);

}  // namespace beeswax::models
