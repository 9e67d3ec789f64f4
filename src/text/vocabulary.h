// SPDX-License-Identifier: Apache-2.0
// Vocabulary: a model's pieces of text with their scores and kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beeswax/export.h"

namespace beeswax::text {

/// The numbers are those in model files.
enum class PieceKind : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

struct Piece {
  std::string text;
  float score = 0;
  PieceKind kind = PieceKind::Normal;
  // Of control and user-defined pieces:
  bool strips_left = false, strips_right = false;  ///< the spaces beside them belong to them
  bool single_word = false;                        ///< no letter, digit or mark stands beside them
  bool normalized = false;                         ///< they are looked for in normalized text
  bool added = false;                              ///< no word of a text ever becomes them
};

/// Ids of the tokens with a role; -1 where the model has none.
struct SpecialTokens {
  int32_t bos = -1, eos = -1, unknown = -1, pad = -1;
  std::vector<int32_t> stop;  ///< all that end a generation, eos among them
  bool add_bos = false, add_eos = false, add_space_prefix = true;
};

class BW_API Vocabulary {
 public:
  /// Format where a special token that texts get is not an id; others that are none, as files for
  /// vocabularies with more tokens name them, are left out. Of pieces with the same text the first one
  /// counts.
  Vocabulary(std::vector<Piece> pieces, SpecialTokens special);

  int64_t size() const { return static_cast<int64_t>(pieces_.size()); }
  /// IndexOutOfRange for an id that is none.
  const Piece& piece(int32_t id) const;
  std::optional<int32_t> find(std::string_view text) const;
  /// But for added pieces.
  std::optional<int32_t> find_for_model(std::string_view text) const;
  const SpecialTokens& special() const { return special_; }
  bool is_stop(int32_t id) const;
  /// Control and user-defined pieces: text is cut at them before it is tokenized.
  const std::vector<int32_t>& cut_pieces() const { return cut_; }

 private:
  std::vector<Piece> pieces_;
  SpecialTokens special_;
  std::unordered_map<std::string_view, int32_t> ids_;
  std::vector<int32_t> cut_;
};

}  // namespace beeswax::text
