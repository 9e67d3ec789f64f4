// SPDX-License-Identifier: Apache-2.0
#include "text/spm.h"

#include <queue>

#include "core/fail.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";      // U+2581
constexpr std::string_view kUnknown = " \xe2\x81\x87 ";  // how SentencePiece shows an unknown piece

// A run of the text that is one piece so far; a list in text order.
struct Symbol {
  std::string_view text;
  int32_t before, after;  // -1 at the ends
};

// Two neighbours that would make a piece. Stale once either has changed its length.
struct Pair {
  int32_t left, right;
  float score;
  size_t size;
  bool operator<(const Pair& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

// Only ordinary pieces are made by joining; unused ones count while joining and are taken apart by nobody.
bool joins(PieceKind kind) { return kind == PieceKind::Normal || kind == PieceKind::Unused; }

std::string escape(std::string_view text, bool prefix) {
  std::string out(prefix ? kSpace : std::string_view());
  while (!text.empty()) {
    const Utf8Char c = utf8_decode(text);
    out += c.code == ' ' ? kSpace : c.valid ? text.substr(0, c.length) : kReplacement;
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace

SpmTokenizer::SpmTokenizer(Vocabulary vocabulary) : Tokenizer(std::move(vocabulary)) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const char name[] = {'<', '0', 'x', kHex[byte / 16], kHex[byte % 16], '>'};
    byte_ids_[byte] = this->vocabulary().find({name, sizeof(name)}).value_or(-1);
    has_bytes_ = has_bytes_ && byte_ids_[byte] >= 0;
  }
  if (!has_bytes_ && this->vocabulary().special().unknown < 0)
    fail(ErrorKind::InvalidArgument, "tokenizer",
         "the vocabulary has neither all 256 byte tokens nor an unknown token for what is no piece");
}

void SpmTokenizer::encode_part(std::string_view text, bool first, std::vector<int32_t>& ids) const {
  const std::string escaped = escape(text, first && vocabulary().special().add_space_prefix);
  std::vector<Symbol> symbols;
  for (std::string_view rest = escaped; !rest.empty();) {
    const uint32_t length = utf8_decode(rest).length;
    const auto at = static_cast<int32_t>(symbols.size());
    symbols.push_back({rest.substr(0, length), at - 1, at + 1});
    rest.remove_prefix(length);
  }
  if (symbols.empty()) return;
  symbols.back().after = -1;
  const auto at = [&](int32_t i) -> Symbol& { return symbols[static_cast<size_t>(i)]; };

  std::priority_queue<Pair> queue;
  const auto offer = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const std::string_view joined(at(left).text.data(), at(left).text.size() + at(right).text.size());
    const auto id = vocabulary().find(joined);
    if (!id || !joins(vocabulary().piece(*id).kind)) return;
    queue.push({left, right, vocabulary().piece(*id).score, joined.size()});
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
  for (int32_t i = 0; i >= 0; i = at(i).after) add_piece(at(i).text, ids);
}

void SpmTokenizer::add_piece(std::string_view text, std::vector<int32_t>& ids) const {
  if (const auto id = vocabulary().find(text)) return ids.push_back(*id);
  if (!has_bytes_) return ids.push_back(vocabulary().special().unknown);
  for (const char c : text) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
}

std::string SpmTokenizer::token_bytes(int32_t id) const {
  const Piece& piece = vocabulary().piece(id);
  switch (piece.kind) {
    case PieceKind::Control:
      return {};
    case PieceKind::Unknown:
      return std::string(kUnknown);
    case PieceKind::Byte:
      for (int byte = 0; byte < 256; ++byte)
        if (byte_ids_[byte] == id) return std::string(1, static_cast<char>(byte));
      return {};
    default:
      break;
  }
  std::string out;
  for (std::string_view rest = piece.text; !rest.empty();) {
    const bool space = rest.starts_with(kSpace);
    out += space ? ' ' : rest[0];
    rest.remove_prefix(space ? kSpace.size() : 1);
  }
  return out;
}

}  // namespace beeswax::text
