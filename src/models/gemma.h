// SPDX-License-Identifier: Apache-2.0
// What Gemma 2 and 3 have in common. Files hold 1 + w where the papers' norms multiply by it.
#pragma once

#include "models/decoder.h"

namespace beeswax::models {

/// Scaled embeddings, norms of what is added, GeGLU. Scores are scaled by the size of a head, but in the
/// 27-billion-parameter model, which has `layers_of_27b` layers, by the width divided among the heads; a file
/// may say otherwise
/// ('attention.scale').
DecoderOptions read_gemma(const Metadata& metadata, int64_t layers_of_27b);

/// Layers with a window and those that see all positions.
struct GemmaLayers {
  nn::Rope global, local;
  int64_t window = 0;  ///< 0: all are global
  int64_t period = 1;  ///< the last of so many layers is global, unless the file says otherwise
};
void fill_gemma_layers(const Metadata& metadata, const GemmaLayers& layers, DecoderOptions* options);

}  // namespace beeswax::models
