// SPDX-License-Identifier: Apache-2.0
#include "text/pretokenizer.h"

#include "core/fail.h"
#include "text/known_patterns.h"

namespace beeswax::text {

PreTokenizer::PreTokenizer(const std::vector<std::string_view>& patterns) {
  for (const std::string_view pattern : patterns) expressions_.emplace_back(pattern);
}

PreTokenizer PreTokenizer::named(std::string_view name) {
#define BW_PRETOKENIZER(row, ...) \
  if (name == row) return PreTokenizer({__VA_ARGS__});
#include "tables/pretokenizers.def"
  fail(ErrorKind::Unsupported, "tokenizer", "the pre-tokenizer '", name, "' is not known; known are:",
#define BW_PRETOKENIZER(row, ...) " " row
#include "tables/pretokenizers.def"
  );
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces = {text};
  for (const Expression& expression : expressions_) {
    std::vector<std::string_view> finer;
    for (const std::string_view piece : pieces) {
      size_t done = 0;
      const auto until = [&](size_t end) {
        if (done < end) finer.push_back(piece.substr(done, end - done));
        done = end;
      };
      for (const Span& match : expression.matches(piece)) {
        until(match.from);
        until(match.to);
      }
      until(piece.size());
    }
    pieces = std::move(finer);
  }
  return pieces;
}

}  // namespace beeswax::text
