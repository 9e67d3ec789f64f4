// SPDX-License-Identifier: Apache-2.0
#include "text/bpe.h"

#include <array>

#include "core/fail.h"
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

namespace {

std::vector<BpeMerge> split_merges(const Vocabulary& vocabulary,
                                   const std::vector<std::string_view>& merges) {
  std::vector<BpeMerge> out;
  for (size_t i = 0; i < merges.size(); ++i) {
    // The left side may begin with a space's stand-in, never with a space.
    const size_t space = merges[i].find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merges[i].size())
      fail(ErrorKind::Format, "tokenizer", "merge ", i, " is '", merges[i], "', not two pieces");
    const BpeMerge merge = {merges[i].substr(0, space), merges[i].substr(space + 1)};
    if (vocabulary.find(merge.left) && vocabulary.find(merge.right) && vocabulary.find(merge.joined()))
      out.push_back(merge);
  }
  return out;
}

}  // namespace

BpeTokenizer::BpeTokenizer(Vocabulary pieces, const std::vector<std::string_view>& merges, PreTokenizer words,
                           bool whole_words)
    : Tokenizer(std::move(pieces)),
      words_(std::move(words)),
      model_(vocabulary(), split_merges(vocabulary(), merges), {.whole_words = whole_words}) {}

void BpeTokenizer::encode_part(std::string_view text, const PartPlace&, std::vector<int32_t>& ids) const {
  const std::string valid = valid_utf8(text);
  for (const std::string_view word : words_.split(valid))
    model_.encode(vocabulary(), bytes_to_printable(word), ids);
}

std::string BpeTokenizer::token_bytes(int32_t id) const {
  const Piece& piece = vocabulary().piece(id);
  if (piece.kind == PieceKind::Control) return {};
  if (piece.kind == PieceKind::UserDefined) return piece.text;
  return printable_to_bytes(piece.text);
}

}  // namespace beeswax::text
