// SPDX-License-Identifier: Apache-2.0
#include "text/staged.h"

#include <array>
#include <charconv>
#include <utility>

#include "text/bpe.h"
#include "text/utf8.h"

namespace beeswax::text {

TokenStep bytes_step() {
  return [](const std::string& token, bool literal) { return literal ? token : printable_to_bytes(token); };
}

TokenStep replace_token_step(std::string what, std::string with) {
  return [step = replace_step(find_text(std::move(what)), std::move(with))](const std::string& token, bool) {
    bool beheaded = false;
    return step(token, beheaded);
  };
}

TokenStep spaced_step() {
  return [](const std::string& token, bool) { return " " + token; };
}

TokenStep byte_fallback_step() {
  return [](std::string token, bool) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return token;
    unsigned value = 0;
    const char* end = token.data() + 5;
    const auto read = std::from_chars(token.data() + 3, end, value, 16);
    if (read.ec != std::errc() || read.ptr != end) return token;
    return std::string(1, static_cast<char>(value));
  };
}

TokenStep wordpiece_step(std::string prefix, bool tidy) {
  return [prefix = std::move(prefix), tidy](std::string token, bool) {
    token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
    if (!tidy) return token;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTidied = {{{" .", "."},
                                                                                        {" ?", "?"},
                                                                                        {" !", "!"},
                                                                                        {" ,", ","},
                                                                                        {" ' ", "'"},
                                                                                        {" n't", "n't"},
                                                                                        {" 'm", "'m"},
                                                                                        {" do not", " don't"},
                                                                                        {" 's", "'s"},
                                                                                        {" 've", "'ve"},
                                                                                        {" 're", "'re"}}};
    for (const auto& [from, to] : kTidied)
      for (size_t at = token.find(from); at != std::string::npos; at = token.find(from, at + to.size()))
        token.replace(at, from.size(), to);
    return token;
  };
}

StagedTokenizer::StagedTokenizer(Vocabulary pieces, Stages stages)
    : Tokenizer(std::move(pieces)),
      stages_(std::move(stages)),
      normalized_(
          vocabulary(), [](const Piece& piece) { return piece.normalized; },
          [this](std::string_view text) {
            bool beheaded = false;
            return normalize(text, beheaded);
          }) {}

std::string StagedTokenizer::normalize(std::string_view text, bool& beheaded) const {
  std::string out(text);
  for (const TextStep& step : stages_.normalizers) out = step(out, beheaded);
  return out;
}

void StagedTokenizer::encode_part(std::string_view text, const PartPlace& place,
                                  std::vector<int32_t>& ids) const {
  bool beheaded = false;
  const std::string normalized = normalize(valid_utf8(text), beheaded);
  for (const AddedTokens::Part& part : normalized_.split(vocabulary(), normalized, place.parse_special)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
      continue;
    }
    const bool begins = place.begins && !beheaded && part.text.data() == normalized.data();
    std::vector<Word> words = {{std::string(part.text), begins}};
    for (const WordStep& step : stages_.words) step(words);
    for (const Word& word : words)
      if (!word.text.empty()) stages_.model->encode(vocabulary(), word.text, ids);
  }
}

std::string StagedTokenizer::token_bytes(int32_t id) const {
  const Piece& piece = vocabulary().piece(id);
  if (piece.kind == PieceKind::Control) return {};
  std::string out = piece.text;
  for (const TokenStep& step : stages_.decoders)
    out = step(std::move(out), piece.kind == PieceKind::UserDefined);
  return out;
}

}  // namespace beeswax::text
