// SPDX-License-Identifier: Apache-2.0
// Gemma 2 (Gemma Team, 2024): every other layer sees a window only; scores and logits are capped.
#include "models/gemma.h"

namespace beeswax::models {

std::unique_ptr<Model> make_gemma2(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_gemma(metadata, 46);
  options.score_cap = metadata.number("attn_logit_softcapping", 50.0);
  options.logit_cap = metadata.number("final_logit_softcapping", 30.0);
  const nn::Rope rope = read_rope(metadata, weights, options.info, context, RopePairs::Halves);
  fill_gemma_layers(metadata, {rope, rope, metadata.size("attention.sliding_window", 4096), 2}, &options);
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
