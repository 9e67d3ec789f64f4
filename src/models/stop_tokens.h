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

/// Fills special.stop: eos, and control tokens whose text ends a turn in the chat formats of the field.
inline void add_stop_tokens(const std::vector<text::Piece>& pieces, text::SpecialTokens& special) {
  constexpr std::array<std::string_view, 6> kEndOfTurn = {"<|eot_id|>",    "<|im_end|>",    "<|end|>",
                                                          "<end_of_turn>", "<|endoftext|>", "<|eom_id|>"};
  add_stop_token(special.eos, special.stop);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].kind == text::PieceKind::Control &&
        std::ranges::find(kEndOfTurn, pieces[i].text) != kEndOfTurn.end())
      add_stop_token(static_cast<int32_t>(i), special.stop);
}

}  // namespace beeswax::models
