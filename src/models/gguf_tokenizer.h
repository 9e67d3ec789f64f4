// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "io/gguf.h"
#include "text/tokenizer.h"

namespace beeswax::models {

/// Keys of a whole tokenizer.json, and of all tokens that end a generation where there is more than eos.
inline constexpr std::string_view kTokenizerJson = "tokenizer.huggingface.json";
inline constexpr std::string_view kStopTokens = "tokenizer.huggingface.stop_token_ids";

/// Format where there are more tokens than rows of the embedding, for texts of a tokenizer.json.
void check_vocabulary(const io::GgufFile& file, const text::Vocabulary& vocabulary);

/// The tokenizer that a file's metadata describes (tokenizer.ggml.*, or where that has no model, a
/// tokenizer.json). Format where it is missing or
/// contradicts itself, Unsupported for a kind this version lacks.
BW_API std::unique_ptr<text::Tokenizer> load_tokenizer(const io::GgufFile& file);

}  // namespace beeswax::models
