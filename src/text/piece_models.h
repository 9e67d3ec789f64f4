// SPDX-License-Identifier: Apache-2.0
// Models without merges: WordPiece (BERT), Unigram (T5, XLM-R), and whole words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_model.h"
#include "text/pcre.h"
#include "text/word_model.h"

namespace beeswax::text {

/// The longest piece that begins a word, the longest that goes on from there, and so on; a word that does not
/// come out even is one unknown token. Schuster and Nakajima, "Japanese and Korean Voice Search", 2012.
class BW_API WordPieceModel final : public WordModel {
 public:
  /// What pieces that begin a word, and those that go on, have in front. Format where the vocabulary
  /// has no unknown token. Words of more than `most_characters` are unknown.
  WordPieceModel(const Vocabulary& vocabulary, std::string begins, std::string goes_on,
                 size_t most_characters);
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  std::string begins_, goes_on_;
  size_t most_characters_;
  size_t longest_ = 0;  // bytes of the longest piece
};

/// The way through a word whose pieces' scores add up to the most. Kudo, "Subword Regularization", 2018.
/// Characters that are no piece cost 10 more than the least likely piece, and neighbours of them are one.
class BW_API UnigramModel final : public WordModel {
 public:
  /// `scores`: of each id. Format where there are none.
  UnigramModel(const Vocabulary& vocabulary, std::vector<double> scores, bool byte_fallback);
  /// Unsupported for a character that is no piece where the vocabulary has no unknown token.
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  struct Entry {
    std::string_view text;
    int32_t id;
  };
  std::vector<Entry> pieces_;  // by text
  std::vector<double> scores_;
  double unknown_score_;
  bool byte_fallback_;
  std::array<int32_t, 256> bytes_;
};

/// A word is a piece, or unknown; without an unknown token as BpeModel.
class BW_API WordLevelModel final : public WordModel {
 public:
  explicit WordLevelModel(std::string missing_unknown = {}) : missing_unknown_(std::move(missing_unknown)) {}
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  std::string missing_unknown_;
};

}  // namespace beeswax::text
