// SPDX-License-Identifier: Apache-2.0
// SentencePiece with scores (the BPE models of Llama 1 and 2, Mistral, Gemma): characters are joined pair by
// pair, the pair whose joined piece has the highest score first, the leftmost of equals; what is no piece in
// the end becomes byte tokens, or one unknown token for all in one place. Spaces are U+2581 inside.
#pragma once

#include <array>

#include "text/tokenizer.h"

namespace beeswax::text {

/// Format for a vocabulary with neither all bytes nor an unknown token.
class BW_API SpmTokenizer final : public Tokenizer {
 public:
  explicit SpmTokenizer(Vocabulary vocabulary);
  std::string token_bytes(int32_t id) const override;
  bool strips_first_space() const override { return vocabulary().special().add_space_prefix; }

 protected:
  void encode_part(std::string_view text, const PartPlace& place, std::vector<int32_t>& ids) const override;

 private:
  void encode_escaped(std::string_view text, std::vector<int32_t>& ids) const;
  std::array<int32_t, 256> byte_ids_;  // -1 where the vocabulary lacks the byte
  bool has_bytes_ = true;              // all of them
  AddedTokens with_spaces_;            // user-defined pieces that text has once its spaces are U+2581
};

}  // namespace beeswax::text
