// SPDX-License-Identifier: Apache-2.0
// Qwen3 (Yang et al., 2025), dense and with experts: norms of query and key heads, no biases.
#include "models/decoder.h"

namespace beeswax::models {

std::unique_ptr<Model> make_qwen3(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_decoder(metadata);
  read_experts(metadata, &options);
  options.head_norms = true;
  options.fill_layers({read_rope(metadata, weights, options.info, context, RopePairs::Halves)});
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
