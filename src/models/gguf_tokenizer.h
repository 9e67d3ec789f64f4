// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/gguf.h"
#include "text/tokenizer.h"

namespace beeswax::models {

/// The tokenizer that a file's metadata describes (tokenizer.ggml.*). Format where it is missing or
/// contradicts itself, Unsupported for a kind this version lacks.
BW_API std::unique_ptr<text::Tokenizer> load_tokenizer(const io::GgufFile& file);

}  // namespace beeswax::models
