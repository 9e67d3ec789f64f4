// SPDX-License-Identifier: Apache-2.0
// Passes through a model that are made to be timed: random ids, nothing sampled.
#pragma once

#include <cstdint>

#include "models/model.h"

namespace beeswax::generate {

/// Runs `tokens` ids behind an empty past, `batch` at a time, and reads the logits after each batch, which
/// waits for the model's device. Seconds.
BW_API double time_prefill(const models::Model& model, int64_t tokens, int64_t batch = 512);

/// Runs `tokens` ids behind an empty past, one by one, and reads the logits of each. Seconds.
BW_API double time_decode(const models::Model& model, int64_t tokens);

}  // namespace beeswax::generate
