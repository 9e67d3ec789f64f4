// SPDX-License-Identifier: Apache-2.0
#include "models/hf_tokens.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/fail.h"
#include "models/hf_config.h"

namespace beeswax::models {
namespace {

// The files of a folder that speak of tokens, the one with the last word first.
class Sources {
 public:
  explicit Sources(const std::string& folder) {
    std::error_code ignored;  // what cannot be looked at is not there
    constexpr const char* kGeneration = "generation_config.json";
    if (std::filesystem::exists(std::filesystem::path(folder) / kGeneration, ignored))
      add(folder, kGeneration);
    add(folder, "config.json");
  }

  // The ids that the first source which knows `key` has for it.
  std::vector<int32_t> ids(std::string_view key) const {
    for (const auto& [file, json] : sources_) {
      const io::JsonValue* value = json.find(key);
      const io::JsonValue* text = json.find("text_config");
      if ((value == nullptr || value->is_null()) && text != nullptr) value = text->find(key);
      if (value == nullptr || value->is_null()) continue;
      std::vector<int32_t> out;
      if (value->as_list() == nullptr) add_id(file, key, *value, &out);
      if (value->as_list() != nullptr)
        for (const io::JsonValue& one : *value->as_list()) add_id(file, key, one, &out);
      return out;
    }
    return {};
  }
  int32_t id(std::string_view key) const {
    const std::vector<int32_t> found = ids(key);
    return found.empty() ? -1 : found[0];
  }

 private:
  void add(const std::string& folder, const char* name) {
    sources_.emplace_back((std::filesystem::path(folder) / name).string(), read_folder_json(folder, name));
  }

  // -1 stands for none.
  static void add_id(const std::string& file, std::string_view key, const io::JsonValue& value,
                     std::vector<int32_t>* out) {
    const auto id = value.as_whole();
    if (!id || *id < -1 || *id > INT32_MAX)
      fail(ErrorKind::Format, "load", file, ": '", key, "' is ", value.to_string(),
           ", not the id of a token or a list of them");
    if (*id >= 0) out->push_back(static_cast<int32_t>(*id));
  }

  std::vector<std::pair<std::string, io::JsonValue>> sources_;
};

}  // namespace

TokenRoles read_token_roles(const std::string& folder) {
  const Sources sources(folder);
  TokenRoles roles;
  roles.bos = sources.id("bos_token_id");
  roles.pad = sources.id("pad_token_id");
  roles.stop = sources.ids("eos_token_id");
  if (!roles.stop.empty()) roles.eos = roles.stop[0];
  return roles;
}

}  // namespace beeswax::models
