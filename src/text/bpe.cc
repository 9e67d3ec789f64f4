// SPDX-License-Identifier: Apache-2.0
#include "text/bpe.h"

#include <array>

#include "core/fail.h"
#include "text/join_pairs.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

bool is_printable_byte(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct ByteTable {
  std::array<std::string, 256> text;              // of a byte
  std::unordered_map<uint32_t, uint8_t> byte_of;  // of a character

  ByteTable() {
    uint32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const uint32_t code = is_printable_byte(byte) ? static_cast<uint32_t>(byte) : next++;
      byte_of[code] = static_cast<uint8_t>(byte);
      std::string& out = text[static_cast<size_t>(byte)];
      if (code < 0x80) {
        out = static_cast<char>(code);
      } else {
        out = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
      }
    }
  }
};

const ByteTable& byte_table() {
  static const ByteTable table;
  return table;
}

}  // namespace

std::string bytes_to_printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += byte_table().text[static_cast<unsigned char>(c)];
  return out;
}

std::string printable_to_bytes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = utf8_decode(text);
    const auto it = c.valid ? byte_table().byte_of.find(c.code) : byte_table().byte_of.end();
    if (it != byte_table().byte_of.end()) {
      out += static_cast<char>(it->second);
    } else {
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, const std::vector<std::string_view>& merges,
                           PreTokenizer words, bool whole_words)
    : Tokenizer(std::move(vocabulary)), words_(std::move(words)), whole_words_(whole_words) {
  ranks_.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    // The left side may begin with a space's stand-in, never with a space.
    const size_t space = merges[i].find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merges[i].size())
      fail(ErrorKind::InvalidArgument, "tokenizer", "merge ", i, " is '", merges[i], "', not two pieces");
    ranks_.emplace(merges[i], static_cast<int32_t>(i));
  }
}

void BpeTokenizer::encode_part(std::string_view text, bool, std::vector<int32_t>& ids) const {
  std::string valid;  // every tokenizer of the field reads invalid bytes as U+FFFD
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = utf8_decode(rest);
    valid += c.valid ? rest.substr(0, c.length) : kReplacement;
    rest.remove_prefix(c.length);
  }
  for (const std::string_view word : words_.split(valid)) encode_word(word, ids);
}

void BpeTokenizer::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  const std::string printable = bytes_to_printable(word);
  if (whole_words_)
    if (const auto id = vocabulary().find(printable)) return ids.push_back(*id);
  std::vector<Symbol> symbols = symbols_of(printable);
  std::string key;
  join_pairs(symbols, [&](std::string_view left, std::string_view right) -> std::optional<int32_t> {
    key.assign(left).append(" ").append(right);
    const auto it = ranks_.find(key);
    return it == ranks_.end() ? std::nullopt : std::optional(-it->second);  // the first merges come first
  });
  for (const Symbol& symbol : symbols) {
    if (symbol.text.empty()) continue;
    const auto id = vocabulary().find(symbol.text);
    if (id) {
      ids.push_back(*id);
    } else if (vocabulary().special().unknown >= 0) {
      ids.push_back(vocabulary().special().unknown);
    }
  }
}

std::string BpeTokenizer::token_bytes(int32_t id) const {
  const Piece& piece = vocabulary().piece(id);
  if (piece.kind == PieceKind::Control) return {};
  if (piece.kind == PieceKind::UserDefined) return piece.text;
  return printable_to_bytes(piece.text);
}

}  // namespace beeswax::text
