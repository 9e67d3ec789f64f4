// SPDX-License-Identifier: Apache-2.0
// BpeModel: the characters of a word are joined pair by pair in the order of a list of merges.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/word_model.h"

namespace beeswax::text {

struct BpeMerge {
  std::string_view left, right;
  std::string joined() const { return std::string(left).append(right); }
};

struct BpeOptions {
  bool whole_words = false;    ///< a word that is a piece is not built from merges
  bool byte_fallback = false;  ///< a character that is no piece becomes the pieces <0x..> of its bytes
  bool fuse_unknown = false;   ///< neighbours that are no pieces become one unknown token
};

/// A character that is no piece becomes the vocabulary's unknown token; without one it is left out, or an
/// error (Unsupported) where `missing_unknown` names one that the vocabulary lacks.
class BW_API BpeModel final : public WordModel {
 public:
  /// The first merge is joined first. Format for a merge of which a side, or both joined, is no
  /// piece.
  BpeModel(const Vocabulary& vocabulary, const std::vector<BpeMerge>& merges, BpeOptions options,
           std::string missing_unknown = {});
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  struct Merge {
    int32_t rank, joined;
  };
  BpeOptions options_;
  std::string missing_unknown_;
  std::unordered_map<uint64_t, Merge> merges_;  // by both ids
  std::array<int32_t, 256> bytes_;              // -1 where the vocabulary lacks the byte
};

/// What BPE and whole words say of a text that is no piece.
[[noreturn]] void fail_unknown(std::string_view text, std::string_view missing_unknown);

/// The ids of the pieces <0x00> to <0xFF>, -1 for those that are missing.
BW_API std::array<int32_t, 256> byte_pieces(const Vocabulary& vocabulary);

}  // namespace beeswax::text
