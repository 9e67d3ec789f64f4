// SPDX-License-Identifier: Apache-2.0
// read_json: JSON text as events, for files that nobody vouches for. Nothing is built from the text, nesting
// is bounded, and a name stands once in its object; so memory grows with what the handler keeps, and no
// further.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/fail.h"

namespace beeswax::io {

/// Gets the events of a text in its order. What a handler does not take is refused.
class JsonHandler {
 public:
  explicit JsonHandler(std::string_view file) : file_(file) {}
  virtual ~JsonHandler() = default;
  virtual void begin_object() { refuse_kind("an object"); }
  virtual void end_object() {}
  virtual void begin_array() { refuse_kind("a list"); }
  virtual void end_array() {}
  /// The name of the value that follows.
  virtual void key(std::string& name) = 0;
  virtual void text(std::string& /*value*/) { refuse_kind("text"); }
  virtual void whole(uint64_t /*value*/) { refuse_kind("a number"); }
  /// A number below 0, a fraction, one beyond 64 bits; `what` describes it.
  virtual void number(double /*value*/, std::string_view what) { other(what); }
  /// true, false, null, and numbers that number() does not take.
  virtual void other(std::string_view what) { refuse_kind(what); }

  const std::string& file() const { return file_; }
  /// Where the text stands, for messages: "'layer.weight', 'shape'".
  virtual std::string place() const = 0;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorKind::Format, "read", file_, " ", parts...);
  }

 protected:
  [[noreturn]] void refuse_kind(std::string_view what) const;

 private:
  std::string file_;
};

/// Reads one value that fills `text` but for spaces. Format, with the handler's file, for what is not JSON,
/// not UTF-8, nested deeper than `deepest`, or names something twice.
void read_json(std::string_view text, int deepest, JsonHandler& handler);

/// Text as JSON, quotes included. InvalidArgument where it is not UTF-8.
std::string json_text(std::string_view text);

/// A name from a file as a message shows it: cut where it is long, without control characters.
std::string shown_name(std::string_view name);

}  // namespace beeswax::io
