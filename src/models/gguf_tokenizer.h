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

/// Format where a token that text can become has no row in the embedding. (Control tokens may have none: text
/// models of a family share the tokens of those with images. Rows without a token are common.)
void check_vocabulary(const io::GgufFile& file, const text::Vocabulary& vocabulary);

/// The tokenizer that a file's metadata describes (tokenizer.ggml.*, or where that has no model, a
/// tokenizer.json). Format where it is missing, contradicts itself or does not fit the embedding, Unsupported
/// for a kind this version lacks.
BW_API std::unique_ptr<text::Tokenizer> load_tokenizer(const io::GgufFile& file);

}  // namespace beeswax::models
