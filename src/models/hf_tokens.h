// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/tokenizer_json.h"

namespace beeswax::models {

/// The ids of tokens with a role that a Hugging Face folder names: in generation_config.json, where it is
/// there and speaks of them, else in config.json. Of several eos tokens the first is the text's, and all end
/// a generation. Io and Format as for other files.
BW_API TokenRoles read_token_roles(const std::string& folder);

}  // namespace beeswax::models
