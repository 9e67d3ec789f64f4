// SPDX-License-Identifier: Apache-2.0
#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

// The character that ends `text`; 0 where there is none.
uint32_t last_character(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(4, text.size()); ++back) {
    const Utf8Char c = utf8_decode(text.substr(text.size() - back));
    if (c.valid && c.length == back) return c.code;
  }
  return 0;
}

size_t spaces_at_end(std::string_view text) {
  size_t count = 0;
  while (count < text.size()) {
    const std::string_view rest = text.substr(0, text.size() - count);
    const uint32_t code = last_character(rest);
    if (code == 0 || !is_space(code)) break;
    std::string bytes;
    append_utf8(code, bytes);
    count += bytes.size();
  }
  return count;
}

size_t spaces_at_start(std::string_view text) {
  size_t count = 0;
  while (count < text.size()) {
    const Utf8Char c = utf8_decode(text.substr(count));
    if (!c.valid || !is_space(c.code)) break;
    count += c.length;
  }
  return count;
}

}  // namespace

AddedTokens::AddedTokens(const Vocabulary& vocabulary, const std::function<bool(const Piece&)>& takes,
                         const std::function<std::string(std::string_view)>& text_of) {
  for (const int32_t id : vocabulary.cut_pieces()) {
    const Piece& piece = vocabulary.piece(id);
    if (!takes(piece)) continue;
    const std::string text = text_of(piece.text);
    if (!text.empty()) insert(text, id);
  }
}

void AddedTokens::insert(std::string_view text, int32_t id) {
  if (roots_.empty()) roots_.assign(256, -1);
  const auto add = [&](char byte) {
    nodes_.push_back({});
    nodes_.back().byte = byte;
    return static_cast<int32_t>(nodes_.size() - 1);
  };
  int32_t& root = roots_[static_cast<unsigned char>(text[0])];
  if (root < 0) root = add(text[0]);
  int32_t node = root;
  for (const char byte : text.substr(1)) {
    int32_t child = child_of(node, byte);
    if (child < 0) {
      child = add(byte);
      nodes_.back().sibling = nodes_[static_cast<size_t>(node)].child;
      nodes_[static_cast<size_t>(node)].child = child;
    }
    node = child;
  }
  if (int32_t& owner = nodes_[static_cast<size_t>(node)].id; owner < 0) owner = id;
}

int32_t AddedTokens::child_of(int32_t node, char byte) const {
  int32_t child = nodes_[static_cast<size_t>(node)].child;
  while (child >= 0 && nodes_[static_cast<size_t>(child)].byte != byte)
    child = nodes_[static_cast<size_t>(child)].sibling;
  return child;
}

AddedTokens::Match AddedTokens::longest(const Vocabulary& vocabulary, std::string_view text,
                                        bool control_too) const {
  Match best;
  int32_t node = roots_[static_cast<unsigned char>(text[0])];
  for (size_t size = 1; node >= 0; ++size) {
    const int32_t id = nodes_[static_cast<size_t>(node)].id;
    if (id >= 0 && (control_too || vocabulary.piece(id).kind != PieceKind::Control)) best = {id, size};
    node = size < text.size() ? child_of(node, text[size]) : -1;
  }
  return best;
}

std::vector<AddedTokens::Part> AddedTokens::split(const Vocabulary& vocabulary, std::string_view text,
                                                  bool control_too) const {
  std::vector<Part> parts;
  size_t done = 0;
  const auto text_until = [&](size_t end) {
    if (done < end) parts.push_back({text.substr(done, end - done), -1});
  };
  for (size_t at = 0; !roots_.empty() && at < text.size();) {
    const Match match = longest(vocabulary, text.substr(at), control_too);
    if (match.id < 0) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + match.size;
    at = end;
    const Piece& piece = vocabulary.piece(match.id);
    if (piece.single_word) {
      const bool word_before = begin > 0 && is_word(last_character(text.substr(0, begin)));
      const bool word_behind = end < text.size() && is_word(utf8_decode(text.substr(end)).code);
      if (word_before || word_behind) continue;
    }
    // Spaces that the token before has taken are gone.
    if (piece.strips_left) begin = std::max(begin - spaces_at_end(text.substr(0, begin)), done);
    if (piece.strips_right) end += spaces_at_start(text.substr(end));
    text_until(begin);
    parts.push_back({{}, match.id});
    done = end;
  }
  text_until(text.size());
  return parts;
}

}  // namespace beeswax::text
