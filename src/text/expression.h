// SPDX-License-Identifier: Apache-2.0
// Expression: a regular expression that cuts text. Those of tables/pretokenizers.def are matched by our own
// Pattern, exact to Unicode; all others by PCRE2.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"
#include "text/pcre.h"

namespace beeswax::text {

class BW_API Expression {
 public:
  /// Throws as Pcre.
  explicit Expression(std::string_view expression);

  bool known() const { return std::holds_alternative<Pattern>(matcher_); }
  /// As Pcre's. (The expressions of the table match no empty text.)
  std::vector<Span> matches(std::string_view text) const;

 private:
  std::variant<Pattern, Pcre> matcher_;
};

/// GPT-2's expression.
BW_API std::string_view gpt2_pattern();

}  // namespace beeswax::text
