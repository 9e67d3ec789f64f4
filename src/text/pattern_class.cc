// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_class.h"

#include <optional>
#include <string>

#include "core/fail.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

constexpr uint32_t kLastCode = 0x10ffff;

[[noreturn]] void broken(std::string_view text, size_t at, std::string_view what) {
  fail(ErrorKind::InvalidArgument, "pattern", what, " at byte ", at, " of ", text);
}

uint32_t take_character(std::string_view text, size_t& at) {
  if (at >= text.size()) broken(text, at, "a missing character");
  const Utf8Char c = utf8_decode(text.substr(at));
  if (!c.valid) broken(text, at, "bytes that are not UTF-8");
  at += c.length;
  return c.code;
}

// \uXXXX, \xXX, \x{X..}: `at` is behind the letter.
uint32_t take_hex(std::string_view text, size_t& at, size_t digits) {
  const bool braces = at < text.size() && text[at] == '{';
  if (braces) ++at;
  uint32_t value = 0;
  size_t count = 0;
  for (; at < text.size() && count < (braces ? 6 : digits); ++at, ++count) {
    const char c = text[at];
    const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'f', upper = c >= 'A' && c <= 'F';
    if (!digit && !lower && !upper) break;
    value = value * 16 + static_cast<uint32_t>(digit ? c - '0' : lower ? c - 'a' + 10 : c - 'A' + 10);
  }
  if (count == 0 || (!braces && count != digits) || value > kLastCode)
    broken(text, at, "a bad hexadecimal character");
  if (braces) {
    if (at >= text.size() || text[at] != '}') broken(text, at, "a bad hexadecimal character");
    ++at;
  }
  return value;
}

// The one character an escape stands for; nothing for a class such as \s. `at` is behind the backslash, and
// moves only for a character.
std::optional<uint32_t> escaped_character(std::string_view text, size_t& at) {
  if (at >= text.size()) broken(text, at, "a backslash with nothing behind it");
  const char c = text[at];
  const auto plain = [&](uint32_t code) {
    ++at;
    return code;
  };
  switch (c) {
    case 'r':
      return plain('\r');
    case 'n':
      return plain('\n');
    case 't':
      return plain('\t');
    case 'f':
      return plain('\f');
    case 'v':
      return plain('\v');
    case 'u':
      return take_hex(text, ++at, 4);
    case 'x':
      return take_hex(text, ++at, 2);
    default:
      break;
  }
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  if (letter) return std::nullopt;
  return take_character(text, at);
}

constexpr CategorySet kDigits = category_bit(Category::Nd);
CategorySet word_categories() {
  return *categories_named("L") | *categories_named("M") | kDigits | category_bit(Category::Nl) |
         category_bit(Category::Pc);
}

}  // namespace

PatternClass PatternClass::parse(std::string_view text, size_t& at, bool ignore_case) {
  PatternClass out;
  out.ignore_case_ = ignore_case;
  const char c = text[at];
  if (c == '[') {
    out.add_class(text, ++at);
  } else if (c == '\\') {
    out.add_escape(text, ++at, false);
  } else if (c == '.') {
    ++at;
    out.ranges_.push_back({'\n', '\n'});
    out.negative_ = true;
  } else if (c == '*' || c == '+' || c == '?') {
    broken(text, at, "a repetition of nothing");
  } else {
    const uint32_t code = take_character(text, at);
    out.ranges_.push_back({code, code});
  }
  return out;
}

void PatternClass::add_escape(std::string_view text, size_t& at, bool inside) {
  if (const auto code = escaped_character(text, at)) {
    ranges_.push_back({*code, *code});
    return;
  }
  const char c = text[at++];
  switch (c) {
    case 's':
      spaces_ = true;
      return;
    case 'S':
      not_spaces_ = true;
      return;
    case 'd':
      categories_ |= kDigits;
      return;
    case 'D':
      not_categories_.push_back(kDigits);
      return;
    case 'w':
      categories_ |= word_categories();
      return;
    case 'W':
      not_categories_.push_back(word_categories());
      return;
    case 'p':
    case 'P':
      return add_property(text, at, c == 'P');
    default:
      fail(ErrorKind::Unsupported, "pattern", "the escape \\", std::string(1, c), inside ? " in a class" : "",
           " at byte ", at - 2, " of ", text, " is not understood");
  }
}

void PatternClass::add_property(std::string_view text, size_t& at, bool negative) {
  std::string_view name = text.substr(at, 1);
  if (name == "{") {
    const size_t end = text.find('}', at);
    if (end == std::string_view::npos) broken(text, at, "a \\p{ without }");
    name = text.substr(at + 1, end - at - 1);
    at = end + 1;
  } else {
    at += name.size();
  }
  const bool inverted = name.starts_with('^');
  const auto set = categories_named(inverted ? name.substr(1) : name);
  if (!set)
    fail(ErrorKind::Unsupported, "pattern", "the property \\p{", name, "} in ", text, " is not understood");
  if (negative != inverted) {
    not_categories_.push_back(*set);
  } else {
    categories_ |= *set;
  }
}

void PatternClass::add_class(std::string_view text, size_t& at) {
  const size_t from = at;
  if (at < text.size() && text[at] == '^') {
    negative_ = true;
    ++at;
  }
  for (bool first = true;; first = false) {
    if (at >= text.size()) broken(text, from, "a [ without ]");
    if (text[at] == ']' && !first) break;
    std::optional<uint32_t> low;
    if (text[at] == '\\') {
      ++at;
      low = escaped_character(text, at);
      if (!low) {
        add_escape(text, at, true);
        continue;
      }
    } else if (text.substr(at).starts_with("[:") || text.substr(at).starts_with("&&")) {
      fail(ErrorKind::Unsupported, "pattern", "the class at byte ", at, " of ", text, " is not understood");
    } else {
      low = take_character(text, at);
    }
    uint32_t high = *low;
    if (at + 1 < text.size() && text[at] == '-' && text[at + 1] != ']') {
      ++at;
      if (text[at] == '\\') {
        ++at;
        const auto code = escaped_character(text, at);
        if (!code) broken(text, at, "a range that ends in a class");
        high = *code;
      } else {
        high = take_character(text, at);
      }
      if (high < *low) broken(text, at, "a range that ends before it begins");
    }
    ranges_.push_back({*low, high});
  }
  ++at;
}

bool PatternClass::holds_exactly(uint32_t code) const {
  for (const Range& range : ranges_)
    if (code >= range.first && code <= range.last) return true;
  if (spaces_ || not_spaces_) {
    if (is_space(code) ? spaces_ : not_spaces_) return true;
  }
  if (categories_ == 0 && not_categories_.empty()) return false;
  const CategorySet bit = category_bit(category_of(code));
  if ((categories_ & bit) != 0) return true;
  for (const CategorySet set : not_categories_)
    if ((set & bit) == 0) return true;
  return false;
}

bool PatternClass::holds(uint32_t code) const {
  bool found = holds_exactly(code);
  if (!found && ignore_case_) {
    // Simple case folding of what these expressions hold: a character and its other case.
    const uint32_t lower = to_lower(code);
    found = lower != code ? holds_exactly(lower) : false;
    for (const Range& range : ranges_)
      found = found || (range.first == range.last && to_lower(range.first) == lower);
  }
  return found != negative_;
}

}  // namespace beeswax::text
