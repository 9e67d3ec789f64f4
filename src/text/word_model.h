// SPDX-License-Identifier: Apache-2.0
// WordModel: how one word becomes ids of a vocabulary.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace beeswax::text {

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Puts the ids of `word`, valid UTF-8 and not empty, behind `ids`. `vocabulary` is the one that the model
  /// was made with.
  virtual void encode(const Vocabulary& vocabulary, std::string_view word,
                      std::vector<int32_t>& ids) const = 0;
};

}  // namespace beeswax::text
