// SPDX-License-Identifier: Apache-2.0
// Which tokens end a generation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace beeswax::models {

/// Adds an id that is not there yet; -1 is none.
inline void add_stop_token(int32_t id, std::vector<int32_t>& stop) {
  if (id >= 0 && std::ranges::find(stop, id) == stop.end()) stop.push_back(id);
}

/// What ends a turn, a message or a text in the field's vocabularies: Llama 3's, ChatML's and Qwen's, Phi
/// 3's, Gemma's, GPT-2's, those of models that complete code, and DeepSeek's.
constexpr std::array<std::string_view, 10> kEndTexts = {"<|eot_id|>",
                                                        "<|eom_id|>",
                                                        "<|end_of_text|>",
                                                        "<|im_end|>",
                                                        "<|end|>",
                                                        "<end_of_turn>",
                                                        "<|endoftext|>",
                                                        "<EOT>",
                                                        "_<EOT>",
                                                        "<\xef\xbd\x9c"
                                                        "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"};

/// Fills special.stop: eos, and tokens of these texts, which some files call user-defined and not control.
inline void add_stop_tokens(const std::vector<text::Piece>& pieces, text::SpecialTokens& special) {
  add_stop_token(special.eos, special.stop);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool whole =
        pieces[i].kind == text::PieceKind::Control || pieces[i].kind == text::PieceKind::UserDefined;
    if (whole && std::ranges::find(kEndTexts, pieces[i].text) != kEndTexts.end())
      add_stop_token(static_cast<int32_t>(i), special.stop);
  }
}

}  // namespace beeswax::models
