// SPDX-License-Identifier: Apache-2.0
// JsonValue: a small JSON file as a tree, read with the bounds of json_events.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::io {

class BW_API JsonValue {
 public:
  struct Null {};
  using List = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;  ///< in the order of the text
  using Data = std::variant<Null, bool, uint64_t, double, std::string, List, Object>;
  JsonValue() = default;
  explicit JsonValue(Data data) : data_(std::move(data)) {}

  /// Format, naming `file`, for text that json_events.h refuses or that nests deeper than 16 levels.
  static JsonValue parse(std::string_view text, std::string_view file);
  /// The file at `path`. Io where it cannot be read, Format as above or where it is larger than `most_bytes`.
  static JsonValue read(const std::string& path, uint64_t most_bytes);

  bool is_null() const { return std::holds_alternative<Null>(data_); }
  /// Each returns nothing where the value is of another kind.
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_whole() const;  ///< a number without a fraction that fits
  std::optional<double> as_number() const;
  const std::string* as_text() const { return std::get_if<std::string>(&data_); }
  const List* as_list() const { return std::get_if<List>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  /// A member of an object; null where there is none.
  const JsonValue* find(std::string_view name) const;
  /// JSON text for people: long text, lists and objects are cut.
  std::string to_string() const;

 private:
  friend class JsonTree;
  Data data_;
};

}  // namespace beeswax::io
