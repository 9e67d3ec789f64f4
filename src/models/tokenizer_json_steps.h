// SPDX-License-Identifier: Apache-2.0
// The parts of a `tokenizer.json` file that stand around the model: normalizer, pre-tokenizer, decoder.
#pragma once

#include "models/json_object.h"
#include "text/staged.h"

namespace beeswax::models {

// Each reads one object, or all those of a Sequence. Unsupported for a type or member that is not known.
void read_normalizer(JsonObject object, std::vector<text::TextStep>& steps);
void read_pre_tokenizer(JsonObject object, std::vector<text::WordStep>& steps);
/// Fills decoders and strips_first_space; without an object, tokens stand behind spaces.
void read_decoder(JsonObject object, text::Stages& stages);
void no_decoder(text::Stages& stages);

}  // namespace beeswax::models
