// SPDX-License-Identifier: Apache-2.0
// AddedTokens: texts that are tokens wherever they stand; a text is cut at them before anything else happens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace beeswax::text {

class BW_API AddedTokens {
 public:
  struct Part {
    std::string_view text;  ///< where `id` is -1
    int32_t id;
  };

  AddedTokens() = default;
  /// The control and user-defined pieces for which `takes` holds, as `text_of` writes them.
  AddedTokens(const Vocabulary& vocabulary, const std::function<bool(const Piece&)>& takes,
              const std::function<std::string(std::string_view)>& text_of);

  /// The parts in order: of tokens that begin at one place the longest, and no empty text between them.
  /// `control_too`: control tokens count; else their text is text.
  std::vector<Part> split(const Vocabulary& vocabulary, std::string_view text, bool control_too) const;

 private:
  // A tree of bytes: the children of a node are a list.
  struct Node {
    int32_t id = -1, child = -1, sibling = -1;
    char byte = 0;
  };
  struct Match {
    int32_t id = -1;
    size_t size = 0;
  };
  void insert(std::string_view text, int32_t id);
  int32_t child_of(int32_t node, char byte) const;
  Match longest(const Vocabulary& vocabulary, std::string_view text, bool control_too) const;

  std::vector<Node> nodes_;
  std::vector<int32_t> roots_;  // by the first byte; empty where there are no tokens
};

}  // namespace beeswax::text
