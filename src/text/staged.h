// SPDX-License-Identifier: Apache-2.0
// StagedTokenizer: a tokenizer out of stages, as `tokenizer.json` files describe them: normalizers change the
// text, pre-tokenizers cut it into words, a model makes ids of a word; and how a token's text is read back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "text/text_steps.h"
#include "text/tokenizer.h"
#include "text/word_model.h"

namespace beeswax::text {

/// Changes the text of one token. `literal`: an added token, whose text is the text it stands for.
using TokenStep = std::function<std::string(std::string, bool literal)>;
/// Printable characters as bytes (text/bpe.h), but for literal text.
BW_API TokenStep bytes_step();
BW_API TokenStep replace_token_step(std::string what, std::string with);
/// Every token begins behind a space.
BW_API TokenStep spaced_step();
/// <0x41> is the byte 0x41; other texts stay.
BW_API TokenStep byte_fallback_step();
/// WordPiece: what begins with `prefix` goes on, the others begin behind a space. `tidy`: no space stands
/// before marks and English contractions.
BW_API TokenStep wordpiece_step(std::string prefix, bool tidy);

struct Stages {
  std::vector<TextStep> normalizers;
  std::vector<WordStep> words;
  std::unique_ptr<WordModel> model;
  std::vector<TokenStep> decoders;
  bool strips_first_space = false;  ///< of decoded text
};

class BW_API StagedTokenizer final : public Tokenizer {
 public:
  /// The model was made with this vocabulary.
  StagedTokenizer(Vocabulary vocabulary, Stages stages);
  std::string token_bytes(int32_t id) const override;
  bool strips_first_space() const override { return stages_.strips_first_space; }

 protected:
  void encode_part(std::string_view text, const PartPlace& place, std::vector<int32_t>& ids) const override;

 private:
  std::string normalize(std::string_view text, bool& beheaded) const;

  Stages stages_;
  AddedTokens normalized_;  // those that are looked for behind the normalizers
};

}  // namespace beeswax::text
