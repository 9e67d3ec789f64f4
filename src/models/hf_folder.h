// SPDX-License-Identifier: Apache-2.0
// A Hugging Face folder (config.json and safetensors) as the GGUF file that it would be.
#pragma once

#include <memory>
#include <string>

#include "io/gguf.h"
#include "io/safetensors.h"
#include "models/hf_config.h"
#include "models/tokenizer_json.h"
#include "text/tokenizer.h"

namespace beeswax::models {

/// Opens the folder `path`: config.json, and model.safetensors or the files that
/// model.safetensors.index.json lists. Tensors stay where they are, but for norms that GGUF files hold
/// otherwise. Io where a file cannot be read, Format where one is not sound, Unsupported for what config.json
/// asks for, or for a tensor, that this version does not know.
BW_API std::shared_ptr<const io::GgufFile> open_hf_folder(const std::string& path);

/// The same from a config and tensors that are open already; `name` stands in messages.
BW_API std::shared_ptr<const io::GgufFile> assemble_hf(const io::JsonValue& config,
                                                       const io::SafetensorsFile& tensors,
                                                       const std::string& name);

/// Whether open_model takes `path` for a Hugging Face folder.
BW_API bool is_folder(const std::string& path);

/// A GGUF file or a Hugging Face folder.
BW_API std::shared_ptr<const io::GgufFile> open_model(const std::string& path);

/// The tokenizer of `file`, which open_model opened at `path`; of a folder, its tokenizer.json with the ids
/// that generation_config.json and config.json name. Errors as theirs; Format where it has more tokens than
/// the model.
BW_API std::unique_ptr<text::Tokenizer> open_tokenizer(const std::string& path, const io::GgufFile& file);

/// The tokenizer of a folder as a file may carry it: tokenizer.json, and what other files say of its tokens.
struct HfTokenizer {
  std::string json;
  TokenRoles roles;
};
/// Errors as open_tokenizer's; the tokenizer is one that we run.
BW_API HfTokenizer read_tokenizer(const std::string& folder, const io::GgufFile& file);
/// As metadata, which load_tokenizer reads: `tokenizer.huggingface.json`, and the ids of bos, eos, padding.
BW_API void write_tokenizer(const HfTokenizer& tokenizer, io::GgufWriter* out);

}  // namespace beeswax::models
