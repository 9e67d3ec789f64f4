// SPDX-License-Identifier: Apache-2.0
// Llama: Touvron et al., 2023, and what came of it (Llama 2 and 3, TinyLlama, SmolLM, ...). Files call
// Mistral (Jiang et al., 2023: a sliding window) and Mixtral (2024: experts) llama too.
#include "models/decoder.h"

namespace beeswax::models {

std::unique_ptr<Model> make_llama(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_decoder(metadata);
  read_experts(metadata, &options);
  // GGUF files hold rows so that neighbours rotate together; folders of transformers are not reordered.
  const auto pairs =
      metadata.text("rope.pairs", "neighbours") == "halves" ? RopePairs::Halves : RopePairs::Neighbours;
  options.fill_layers({read_rope(metadata, weights, options.info, context, pairs), read_window(metadata)});
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
