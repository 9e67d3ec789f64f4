// SPDX-License-Identifier: Apache-2.0
#include "models/json_object.h"

#include <algorithm>

#include "io/json_events.h"

namespace beeswax::models {

JsonObject::JsonObject(const io::JsonValue& value, std::string_view file, std::string place)
    : members_(value.as_object()), file_(file), place_(std::move(place)) {
  if (members_ == nullptr) refuse(ErrorKind::Format, "is ", value, ", not an object");
  read_.resize(members_->size());
}

const io::JsonValue* JsonObject::find(std::string_view name) {
  const auto it = std::ranges::find(*members_, name, &io::JsonValue::Object::value_type::first);
  if (it == members_->end()) return nullptr;
  read_[static_cast<size_t>(it - members_->begin())] = true;
  return it->second.is_null() ? nullptr : &it->second;
}

const io::JsonValue& JsonObject::get(std::string_view name) {
  const io::JsonValue* value = find(name);
  if (value == nullptr) refuse(ErrorKind::Format, "lacks '", name, "'");
  return *value;
}

std::string JsonObject::text(std::string_view name) {
  const io::JsonValue& value = get(name);
  if (value.as_text() == nullptr) refuse(ErrorKind::Format, "has ", value, " for '", name, "', not text");
  return *value.as_text();
}

std::string JsonObject::text(std::string_view name, std::string_view fallback) {
  return find(name) == nullptr ? std::string(fallback) : text(name);
}

bool JsonObject::flag(std::string_view name) {
  const io::JsonValue& value = get(name);
  const auto flag = value.as_bool();
  if (!flag) refuse(ErrorKind::Format, "has ", value, " for '", name, "', not true or false");
  return *flag;
}

bool JsonObject::flag(std::string_view name, bool fallback) {
  return find(name) == nullptr ? fallback : flag(name);
}

int64_t JsonObject::whole(std::string_view name, int64_t least, int64_t most) {
  const io::JsonValue& value = get(name);
  const auto whole = value.as_whole();
  if (!whole || *whole < least || *whole > most)
    refuse(ErrorKind::Format, "has ", value, " for '", name, "', not a whole number from ", least, " to ",
           most);
  return *whole;
}

JsonObject JsonObject::object(std::string_view name) {
  return {get(name), file_, place_ + ", '" + std::string(name) + "'"};
}

const io::JsonValue::List& JsonObject::list(std::string_view name) {
  const io::JsonValue& value = get(name);
  if (value.as_list() == nullptr) refuse(ErrorKind::Format, "has ", value, " for '", name, "', not a list");
  return *value.as_list();
}

std::vector<JsonObject> JsonObject::objects(std::string_view name) {
  std::vector<JsonObject> out;
  for (const io::JsonValue& value : list(name))
    out.emplace_back(value, file_, place_ + ", '" + std::string(name) + "' " + std::to_string(out.size()));
  return out;
}

void JsonObject::finish() const {
  for (size_t i = 0; i < read_.size(); ++i)
    if (!read_[i])
      refuse(ErrorKind::Unsupported, "has a member '", io::shown_name((*members_)[i].first),
             "', which this version does not know");
}

}  // namespace beeswax::models
