// SPDX-License-Identifier: Apache-2.0
// Pattern: the regular expressions that pre-tokenizers are given as, over Unicode characters, by
// backtracking, the first alternative that matches wins. Understood: literals, . \s \S \d \D \w \W \p{L}
// \P{Lu} \r \n \t \u escapes, [classes] with ranges and negation, (groups), (?:..), (?i:..), alternation, ? *
// + {m} {m,} {m,n}, these greedy, lazy (?) or possessive (+), lookahead (?=..) (?!..), ^ and $. Anything else
// is refused when it is compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::text {

class BW_API Pattern {
 public:
  /// Unsupported with the place and the thing that is not understood, InvalidArgument for a broken
  /// expression.
  explicit Pattern(std::string_view expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// The end of the match that begins exactly at `at`, if there is one. `text` holds characters.
  std::optional<size_t> match(const std::vector<uint32_t>& text, size_t at) const;

  struct Node;

 private:
  std::vector<Node> nodes_;
  int32_t root_ = 0;
  friend class PatternParser;
  friend class PatternMatcher;
};

}  // namespace beeswax::text
