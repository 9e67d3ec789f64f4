// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.h"

#include <algorithm>

#include "core/fail.h"

namespace beeswax::text {

Vocabulary::Vocabulary(std::vector<Piece> pieces, SpecialTokens special)
    : pieces_(std::move(pieces)), special_(std::move(special)) {
  const auto known = [&](int32_t id) { return id >= 0 && id < size(); };
  const auto check = [&](std::string_view role, int32_t& id, bool added) {
    if (known(id) || id == -1) return;
    if (added)
      fail(ErrorKind::Format, "vocabulary", "the ", role, " token is ", id, ", but there are ", size(),
           " tokens");
    id = -1;
  };
  check("bos", special_.bos, special_.add_bos);
  check("eos", special_.eos, special_.add_eos);
  check("unknown", special_.unknown, true);
  check("padding", special_.pad, false);
  std::erase_if(special_.stop, [&](int32_t id) { return !known(id); });
  ids_.reserve(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    ids_.emplace(pieces_[i].text, static_cast<int32_t>(i));
    const PieceKind kind = pieces_[i].kind;
    const bool cuts = kind == PieceKind::Control || kind == PieceKind::UserDefined;
    if (cuts && !pieces_[i].text.empty()) cut_.push_back(static_cast<int32_t>(i));
  }
}

const Piece& Vocabulary::piece(int32_t id) const {
  if (id < 0 || id >= size())
    fail(ErrorKind::IndexOutOfRange, "vocabulary", "there is no token ", id, "; ids go from 0 to ",
         size() - 1);
  return pieces_[static_cast<size_t>(id)];
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  const auto it = ids_.find(text);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<int32_t> Vocabulary::find_for_model(std::string_view text) const {
  const auto id = find(text);
  return id && pieces_[static_cast<size_t>(*id)].added ? std::nullopt : id;
}

bool Vocabulary::is_stop(int32_t id) const {
  return std::find(special_.stop.begin(), special_.stop.end(), id) != special_.stop.end();
}

}  // namespace beeswax::text
