// SPDX-License-Identifier: Apache-2.0
// Which tokens end a generation.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace beeswax::models {

inline void add_stop_token(int32_t id, text::SpecialTokens& special) {
  if (id >= 0 && std::ranges::find(special.stop, id) == special.stop.end()) special.stop.push_back(id);
}

/// Fills special.stop: eos, and control tokens whose text ends a turn in the chat formats of the field.
inline void add_stop_tokens(const std::vector<text::Piece>& pieces, text::SpecialTokens& special) {
  constexpr std::array<std::string_view, 6> kEndOfTurn = {"<|eot_id|>",    "<|im_end|>",    "<|end|>",
                                                          "<end_of_turn>", "<|endoftext|>", "<|eom_id|>"};
  add_stop_token(special.eos, special);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].kind == text::PieceKind::Control &&
        std::ranges::find(kEndOfTurn, pieces[i].text) != kEndOfTurn.end())
      add_stop_token(static_cast<int32_t>(i), special);
}

}  // namespace beeswax::models
