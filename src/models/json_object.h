// SPDX-License-Identifier: Apache-2.0
// JsonObject: reads the members of one object of a JSON file and keeps account of them, so that none is
// passed over in silence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/fail.h"
#include "io/json_value.h"

namespace beeswax::models {

class JsonObject {
 public:
  /// `place`: how messages name the object; the value outlives this. Format where it is no object.
  JsonObject(const io::JsonValue& value, std::string_view file, std::string place);

  /// The member; null where there is none, or it says null.
  const io::JsonValue* find(std::string_view name);
  const io::JsonValue& get(std::string_view name);
  // Format where the member is of another kind, or missing where no fallback is given.
  std::string text(std::string_view name);
  std::string text(std::string_view name, std::string_view fallback);
  bool flag(std::string_view name);
  bool flag(std::string_view name, bool fallback);
  /// In [least, most].
  int64_t whole(std::string_view name, int64_t least, int64_t most);
  JsonObject object(std::string_view name);
  const io::JsonValue::List& list(std::string_view name);
  /// The objects of a list.
  std::vector<JsonObject> objects(std::string_view name);
  /// For members that change nothing here.
  void pass_over(std::string_view name) { find(name); }
  /// Unsupported, naming the first member that nobody has asked for.
  void finish() const;

  template <class... Parts>
  [[noreturn]] void refuse(ErrorKind kind, const Parts&... parts) const {
    fail(kind, "load", file_, ": ", place_, " ", parts...);
  }

 private:
  const io::JsonValue::Object* members_;
  std::vector<bool> read_;
  std::string file_, place_;
};

}  // namespace beeswax::models
