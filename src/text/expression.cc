// SPDX-License-Identifier: Apache-2.0
#include "text/expression.h"

#include <algorithm>

#include "text/known_patterns.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

bool is_known(std::string_view expression) {
  static const std::vector<std::string_view> known = [] {
    std::vector<std::string_view> all;
#define BW_PRETOKENIZER(name, ...) all.insert(all.end(), {__VA_ARGS__});
#include "tables/pretokenizers.def"
    return all;
  }();
  return std::ranges::find(known, expression) != known.end();
}

std::variant<Pattern, Pcre> matcher_of(std::string_view expression) {
  if (is_known(expression)) return Pattern(expression);
  return Pcre(expression);
}

// Text as characters, with the byte at which each begins (and one more for the end).
struct Characters {
  std::vector<uint32_t> codes;
  std::vector<size_t> starts;

  explicit Characters(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_decode(text.substr(at));
      codes.push_back(c.code);
      starts.push_back(at);
      at += c.length;
    }
    starts.push_back(text.size());
  }
};

std::vector<Span> pattern_matches(const Pattern& pattern, std::string_view text) {
  const Characters characters(text);
  std::vector<Span> out;
  for (size_t at = 0; at < characters.codes.size();) {
    const auto end = pattern.match(characters.codes, at);
    if (!end || *end == at) {
      ++at;
      continue;
    }
    out.push_back({characters.starts[at], characters.starts[*end]});
    at = *end;
  }
  return out;
}

}  // namespace

Expression::Expression(std::string_view expression) : matcher_(matcher_of(expression)) {}

std::vector<Span> Expression::matches(std::string_view text) const {
  if (const auto* pattern = std::get_if<Pattern>(&matcher_)) return pattern_matches(*pattern, text);
  return std::get<Pcre>(matcher_).matches(text);
}

std::string_view gpt2_pattern() { return BW_GPT2_PATTERN; }

}  // namespace beeswax::text
