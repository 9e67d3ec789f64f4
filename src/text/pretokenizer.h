// SPDX-License-Identifier: Apache-2.0
// PreTokenizer: cuts text into the words that byte-level BPE looks at one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/expression.h"

namespace beeswax::text {

class BW_API PreTokenizer {
 public:
  /// Each pattern cuts the pieces that the ones before it left: what it matches is a piece, and what lies
  /// between too.
  explicit PreTokenizer(const std::vector<std::string_view>& patterns);
  /// By the name in a GGUF file ("llama-bpe", "qwen2", "gpt-2", ...). Unsupported, naming the known ones.
  static PreTokenizer named(std::string_view name);

  /// The pieces in order; together they are the text. Bytes that are not UTF-8 count as U+FFFD.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  std::vector<Expression> expressions_;
};

}  // namespace beeswax::text
