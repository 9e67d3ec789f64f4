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
  int32_t id = -1;        // the piece, where the joining goes by ids
};

/// Puts one more at the end of the list.
inline void append_symbol(std::vector<Symbol>& symbols, std::string_view text, int32_t id = -1) {
  const auto at = static_cast<int32_t>(symbols.size());
  if (at > 0) symbols.back().after = at;
  symbols.push_back({text, at - 1, -1, id});
}

/// The characters of valid UTF-8.
inline std::vector<Symbol> symbols_of(std::string_view text) {
  std::vector<Symbol> symbols;
  while (!text.empty()) {
    const uint32_t length = utf8_decode(text).length;
    append_symbol(symbols, text.substr(0, length));
    text.remove_prefix(length);
  }
  return symbols;
}

/// What two neighbours make.
template <class Number>
struct Joined {
  Number rate;
  int32_t id = -1;
};

/// Joins neighbours until no two of them make a piece: those of the highest rate first, of equals the
/// leftmost. join(left, right) of two Symbols is an optional Joined; null where they make none.
template <class Join>
void join_pairs(std::vector<Symbol>& symbols, Join join) {
  using Piece = typename decltype(join(symbols[0], symbols[0]))::value_type;
  // Stale once either has changed its length.
  struct Pair {
    int32_t left, right;
    Piece piece;
    size_t size;
    bool operator<(const Pair& other) const {
      return piece.rate != other.piece.rate ? piece.rate < other.piece.rate : left > other.left;
    }
  };
  const auto at = [&](int32_t i) -> Symbol& { return symbols[static_cast<size_t>(i)]; };
  std::priority_queue<Pair> queue;
  const auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    if (const std::optional<Piece> piece = join(at(left), at(right)))
      queue.push({left, right, *piece, at(left).text.size() + at(right).text.size()});
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
    left.id = pair.piece.id;
    left.after = right.after;
    right.text = {};
    if (left.after >= 0) at(left.after).before = pair.left;
    offer(left.before, pair.left);
    offer(pair.left, left.after);
  }
}

}  // namespace beeswax::text
