// SPDX-License-Identifier: Apache-2.0
// Qwen2 and Qwen2.5 (Yang et al., 2024): Llama with biases of the query, key and value projections.
#include "models/decoder.h"

namespace beeswax::models {

std::unique_ptr<Model> make_qwen2(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_decoder(metadata);
  options.fill_layers({read_rope(metadata, weights, options.info, context, RopePairs::Halves)});
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
