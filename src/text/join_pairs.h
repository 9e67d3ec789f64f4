// SPDX-License-Identifier: Apache-2.0
// How SentencePiece and byte-pair encoding make pieces: characters are joined two by two, the best pair
// first.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace beeswax::text {

/// A run of the text that is one piece so far; a list in text order.
struct Symbol {
  std::string_view text;  // empty once it is part of another
  int32_t before, after;  // -1 at the ends
};

/// The characters of valid UTF-8.
inline std::vector<Symbol> symbols_of(std::string_view text) {
  std::vector<Symbol> symbols;
  while (!text.empty()) {
    const uint32_t length = utf8_decode(text).length;
    const auto at = static_cast<int32_t>(symbols.size());
    symbols.push_back({text.substr(0, length), at - 1, at + 1});
    text.remove_prefix(length);
  }
  if (!symbols.empty()) symbols.back().after = -1;
  return symbols;
}

/// Joins neighbours until no two of them make a piece: those of the highest rate first, of equals the
/// leftmost. rate(left, right) of their texts is an optional number; null where they make none.
template <class Rate>
void join_pairs(std::vector<Symbol>& symbols, Rate rate) {
  using Number = typename decltype(rate(std::string_view(), std::string_view()))::value_type;
  // Stale once either has changed its length.
  struct Pair {
    int32_t left, right;
    Number rate;
    size_t size;
    bool operator<(const Pair& other) const {
      return rate != other.rate ? rate < other.rate : left > other.left;
    }
  };
  const auto at = [&](int32_t i) -> Symbol& { return symbols[static_cast<size_t>(i)]; };
  std::priority_queue<Pair> queue;
  const auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const std::string_view a = at(left).text, b = at(right).text;
    if (const std::optional<Number> number = rate(a, b))
      queue.push({left, right, *number, a.size() + b.size()});
  };
  for (int32_t i = 1; i < static_cast<int32_t>(symbols.size()); ++i) offer(i - 1, i);
  while (!queue.empty()) {
    const Pair pair = queue.top();
    queue.pop();
    Symbol& left = at(pair.left);
    Symbol& right = at(pair.right);
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != pair.size)
      continue;
    left.text = {left.text.data(), pair.size};
    left.after = right.after;
    right.text = {};
    if (left.after >= 0) at(left.after).before = pair.left;
    offer(left.before, pair.left);
    offer(pair.left, left.after);
  }
}

}  // namespace beeswax::text
