// SPDX-License-Identifier: Apache-2.0
#include "io/json_events.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/shown.h"

namespace beeswax::io {
namespace {

constexpr size_t kShownName = 100;

/// Passes nlohmann's events on, with the bounds.
class Events {
 public:
  Events(int deepest, JsonHandler& to) : deepest_(deepest), to_(to) {}

  bool null() { return other("null"); }
  bool boolean(bool value) { return other(value ? "true" : "false"); }
  bool number_integer(int64_t value) {
    if (value < 0) return number(static_cast<double>(value), "a number below 0");
    return number_unsigned(static_cast<uint64_t>(value));
  }
  bool number_unsigned(uint64_t value) {
    to_.whole(value);
    return true;
  }
  bool number_float(double value, const std::string& /*text*/) {
    return number(value, "not a whole number of 64 bits");
  }
  bool string(std::string& value) {
    to_.text(value);
    return true;
  }
  bool binary(std::vector<uint8_t>& /*value*/) { return other("binary data"); }
  bool start_object(size_t /*count*/) {
    enter();
    names_.emplace_back();
    to_.begin_object();
    return true;
  }
  bool key(std::string& name) {
    if (!names_.back().insert(name).second) to_.refuse("names '", shown_name(name), "' twice in one object");
    to_.key(name);
    return true;
  }
  bool end_object() {
    --depth_;
    names_.pop_back();
    to_.end_object();
    return true;
  }
  bool start_array(size_t /*count*/) {
    enter();
    to_.begin_array();
    return true;
  }
  bool end_array() {
    --depth_;
    to_.end_array();
    return true;
  }
  bool parse_error(size_t position, const std::string& token, const nlohmann::json::exception& /*error*/) {
    to_.refuse("is not JSON at byte ", position, " of its text, near '", shown_name(token), "'");
  }

 private:
  bool number(double value, std::string_view what) {
    to_.number(value, what);
    return true;
  }
  bool other(std::string_view what) {
    to_.other(what);
    return true;
  }
  void enter() {
    if (++depth_ > deepest_) to_.refuse("nests its JSON deeper than ", deepest_, " levels");
  }

  int deepest_, depth_ = 0;
  JsonHandler& to_;
  std::vector<std::set<std::string>> names_;  // of the objects that are open
};

}  // namespace

void JsonHandler::refuse_kind(std::string_view what) const {
  refuse("holds ", what, " where that cannot stand: ", place());
}

void read_json(std::string_view text, int deepest, JsonHandler& handler) {
  Events events(deepest, handler);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
}

std::string json_text(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::InvalidArgument, "write", "'", shown_name(text), "' is not UTF-8");
  }
}

std::string shown_name(std::string_view name) {
  const std::string out = shown(name.substr(0, kShownName));
  return name.size() > kShownName ? out + "..." : out;
}

}  // namespace beeswax::io
