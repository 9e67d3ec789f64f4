// SPDX-License-Identifier: Apache-2.0
#include "text/spm.h"

#include <algorithm>

#include "core/fail.h"
#include "text/bpe_model.h"
#include "text/join_pairs.h"
#include "text/utf8.h"

namespace beeswax::text {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";      // U+2581
constexpr std::string_view kUnknown = " \xe2\x81\x87 ";  // how SentencePiece shows an unknown piece

bool is_cut_with_spaces(const Piece& piece) {
  return piece.kind == PieceKind::UserDefined && piece.text.find(kSpace) != std::string::npos;
}

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

SpmTokenizer::SpmTokenizer(Vocabulary pieces)
    : Tokenizer(std::move(pieces)),
      byte_ids_(byte_pieces(vocabulary())),
      has_bytes_(std::ranges::all_of(byte_ids_, [](int32_t id) { return id >= 0; })),
      with_spaces_(vocabulary(), is_cut_with_spaces,
                   [](std::string_view text) { return std::string(text); }) {
  if (!has_bytes_ && vocabulary().special().unknown < 0)
    fail(ErrorKind::Format, "tokenizer",
         "the vocabulary has neither all 256 byte tokens nor an unknown token for what is no piece");
}

void SpmTokenizer::encode_part(std::string_view text, const PartPlace&, std::vector<int32_t>& ids) const {
  const std::string escaped = escape(text, vocabulary().special().add_space_prefix);
  for (const AddedTokens::Part& part : with_spaces_.split(vocabulary(), escaped, false)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    } else {
      encode_escaped(part.text, ids);
    }
  }
}

void SpmTokenizer::encode_escaped(std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<Symbol> symbols = symbols_of(text);
  join_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Joined<float>> {
    // They are neighbours in the text.
    const auto id = vocabulary().find({left.text.data(), left.text.size() + right.text.size()});
    if (!id || !joins(vocabulary().piece(*id).kind)) return std::nullopt;
    return Joined<float>{vocabulary().piece(*id).score, *id};
  });
  bool was_unknown = false;
  for (const Symbol& symbol : symbols) {
    if (symbol.text.empty()) continue;
    const auto id = vocabulary().find(symbol.text);
    const bool unknown = !id && !has_bytes_;
    if (id) {
      ids.push_back(*id);
    } else if (has_bytes_) {
      for (const char c : symbol.text) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    } else if (!was_unknown) {  // all that is unknown in one place is one token
      ids.push_back(vocabulary().special().unknown);
    }
    was_unknown = unknown;
  }
}

std::string SpmTokenizer::token_bytes(int32_t id) const {
  const Piece& piece = vocabulary().piece(id);
  switch (piece.kind) {
    case PieceKind::Control:
      return {};
    case PieceKind::Unknown:
      return std::string(kUnknown);
    case PieceKind::Byte:
      for (size_t byte = 0; byte < byte_ids_.size(); ++byte)
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
