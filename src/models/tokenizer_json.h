// SPDX-License-Identifier: Apache-2.0
// The tokenizers of Hugging Face's `tokenizer.json` files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace beeswax::models {

/// Ids that stand in other files of a model's folder; -1 where they are not known.
struct TokenRoles {
  int32_t bos = -1, eos = -1, pad = -1;
  std::vector<int32_t> stop;  ///< more tokens that end a generation
};

/// The tokenizer that the file describes. The tokens that its post-processor puts around a text are bos and
/// eos. Io where it cannot be read, Format where it is not sound, Unsupported, naming the thing, for whatever
/// this version does not do; nothing is passed over.
BW_API std::unique_ptr<text::Tokenizer> load_tokenizer_json(const std::string& path,
                                                            const TokenRoles& roles = {});
/// The same from the file's text; `name` stands in messages.
BW_API std::unique_ptr<text::Tokenizer> parse_tokenizer_json(std::string_view json, std::string_view name,
                                                             const TokenRoles& roles = {});

}  // namespace beeswax::models
