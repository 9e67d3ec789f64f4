// SPDX-License-Identifier: Apache-2.0
#include "io/json_value.h"

#include <cmath>
#include <cstdio>

#include "core/os/file.h"
#include "io/json_events.h"

namespace beeswax::io {
namespace {

constexpr int kDeepest = 16;
constexpr size_t kShownElements = 4;

}  // namespace

/// Puts each event's value where it belongs.
class JsonTree final : public JsonHandler {
 public:
  explicit JsonTree(std::string_view file) : JsonHandler(file) {}
  void begin_object() override { open(JsonValue(JsonValue::Object())); }
  void end_object() override { open_.pop_back(); }
  void begin_array() override { open(JsonValue(JsonValue::List())); }
  void end_array() override { open_.pop_back(); }
  void key(std::string& name) override { name_ = std::move(name); }
  void text(std::string& value) override { put(JsonValue(std::move(value))); }
  void whole(uint64_t value) override { put(JsonValue(value)); }
  void number(double value, std::string_view /*what*/) override { put(JsonValue(value)); }
  void other(std::string_view what) override {
    if (what == "null")
      put(JsonValue());
    else
      put(JsonValue(what == "true"));
  }
  std::string place() const override { return "'" + shown_name(name_) + "'"; }
  JsonValue take() { return std::move(root_); }

 private:
  JsonValue* put(JsonValue value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (auto* list = std::get_if<JsonValue::List>(&open_.back()->data_))
      return &list->emplace_back(std::move(value));
    auto& members = std::get<JsonValue::Object>(open_.back()->data_);
    return &members.emplace_back(std::move(name_), std::move(value)).second;
  }
  // Nothing is added beside a value while it is open, so it does not move.
  void open(JsonValue value) { open_.push_back(put(std::move(value))); }

  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::string name_;
};

JsonValue JsonValue::parse(std::string_view text, std::string_view file) {
  JsonTree tree(file);
  read_json(text, kDeepest, tree);
  return tree.take();
}

JsonValue JsonValue::read(const std::string& path, uint64_t most_bytes) {
  const os::MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > most_bytes)
    fail(ErrorKind::Format, "read", path, " is ", bytes.size(), " bytes long; at most ", most_bytes,
         " are expected");
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::optional<bool> JsonValue::as_bool() const {
  const bool* value = std::get_if<bool>(&data_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<int64_t> JsonValue::as_whole() const {
  const uint64_t* whole = std::get_if<uint64_t>(&data_);
  if (whole != nullptr && *whole <= INT64_MAX) return static_cast<int64_t>(*whole);
  const double* value = std::get_if<double>(&data_);
  if (value == nullptr || std::fabs(*value) >= 0x1p53 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<double> JsonValue::as_number() const {
  if (const uint64_t* whole = std::get_if<uint64_t>(&data_)) return static_cast<double>(*whole);
  const double* value = std::get_if<double>(&data_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

const JsonValue* JsonValue::find(std::string_view name) const {
  if (const Object* members = as_object())
    for (const auto& [key, value] : *members)
      if (key == name) return &value;
  return nullptr;
}

std::string JsonValue::to_string() const {
  if (is_null()) return "null";
  if (const auto value = as_bool()) return *value ? "true" : "false";
  if (const uint64_t* whole = std::get_if<uint64_t>(&data_)) return std::to_string(*whole);
  if (const double* value = std::get_if<double>(&data_)) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", *value);
    return text;
  }
  if (const std::string* text = as_text()) return "\"" + shown_name(*text) + "\"";
  const List* list = as_list();
  std::string out(1, list != nullptr ? '[' : '{');
  const size_t count = list != nullptr ? list->size() : as_object()->size();
  for (size_t i = 0; i < std::min(count, kShownElements); ++i) {
    if (i > 0) out += ", ";
    if (list == nullptr) out += "\"" + shown_name((*as_object())[i].first) + "\": ";
    out += (list != nullptr ? (*list)[i] : (*as_object())[i].second).to_string();
  }
  if (count > kShownElements) out += ", ...";
  return out + (list != nullptr ? ']' : '}');
}

}  // namespace beeswax::io
