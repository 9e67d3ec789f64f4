// SPDX-License-Identifier: Apache-2.0
// Tokenizer: text to ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/vocabulary.h"

namespace beeswax::text {

struct EncodeOptions {
  bool add_special = true;     ///< begin and end tokens, as the model asks for them
  bool parse_special = false;  ///< the text of control tokens becomes these tokens
};

/// Where a part of a text stands.
struct PartPlace {
  bool begins;         ///< the text begins with it
  bool parse_special;  ///< as in EncodeOptions
};

class BW_API Tokenizer {
 public:
  explicit Tokenizer(Vocabulary vocabulary);
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Any bytes; what is not UTF-8 counts as U+FFFD.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// The bytes of one token behind others; empty for control tokens. They need not be whole characters.
  virtual std::string token_bytes(int32_t id) const = 0;
  /// The text of ids, invalid bytes as U+FFFD.
  std::string decode(const std::vector<int32_t>& ids) const;
  /// Whether the first text token of a sequence drops the space that encoding put in front.
  virtual bool strips_first_space() const { return false; }

 protected:
  /// Ids of a text, not empty, that stands between added tokens.
  virtual void encode_part(std::string_view text, const PartPlace& place,
                           std::vector<int32_t>& ids) const = 0;

 private:
  Vocabulary vocabulary_;
  AddedTokens added_;
};

/// Decodes token by token, giving out whole characters only. Behind text (the last of the tokens `before`)
/// the first space is part of what follows; at the beginning, and behind a special token, it is the one that
/// encoding put in front.
class BW_API StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, const std::vector<int32_t>& before = {});
  ~StreamDecoder();
  std::string push(int32_t id);
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace beeswax::text
