// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE (GPT-2, Llama 3, Qwen, ...): text is cut into words, the bytes of a word are written as
// printable characters, and pairs are joined in the order of the list of merges.
// Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/bpe_model.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace beeswax::text {

class BW_API BpeTokenizer final : public Tokenizer {
 public:
  /// `merges`: "left right", the first is joined first; one with a side that is no piece can never be used
  /// and is left out. `whole_words`: a word that is a piece is not built from merges (Llama 3).
  /// Format for a merge that is not two texts.
  BpeTokenizer(Vocabulary vocabulary, const std::vector<std::string_view>& merges, PreTokenizer words,
               bool whole_words);
  std::string token_bytes(int32_t id) const override;

 protected:
  void encode_part(std::string_view text, const PartPlace& place, std::vector<int32_t>& ids) const override;

 private:
  PreTokenizer words_;
  BpeModel model_;
};

/// GPT-2's table: bytes that are printable stand for themselves, the others for characters from U+0100 on.
BW_API std::string bytes_to_printable(std::string_view bytes);
/// Back; characters outside the table stay as they are.
BW_API std::string printable_to_bytes(std::string_view text);

}  // namespace beeswax::text
