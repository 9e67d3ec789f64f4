// SPDX-License-Identifier: Apache-2.0
// Gemma 3 (Gemma Team, 2025): five of six layers see a window only, with a rotary base of their own that is
// never stretched; norms of query and key heads; nothing is capped.
#include "models/gemma.h"

namespace beeswax::models {

std::unique_ptr<Model> make_gemma3(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_gemma(metadata, 62);
  options.head_norms = true;
  options.logit_cap = metadata.number("final_logit_softcapping", 0.0);
  const nn::Rope global = read_rope(metadata, weights, options.info, context, RopePairs::Halves);
  const nn::Rope local(read_rotated(metadata, options.info), context,
                       read_rope_base(metadata, "rope.freq_base_swa"), RopePairs::Halves);
  fill_gemma_layers(metadata, {global, local, read_window(metadata), 6}, &options);
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
