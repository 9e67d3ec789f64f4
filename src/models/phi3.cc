// SPDX-License-Identifier: Apache-2.0
// Phi 3, Phi 3.5 and Phi 4 (Abdin et al., 2024): query, key and value are one matrix, gate and up another;
// positions beyond the first training's are stretched by LongRoPE (Ding et al., 2024), only a part of a head
// may be rotated, and the first models have a sliding window.
#include "models/decoder.h"

namespace beeswax::models {

std::unique_ptr<Model> make_phi3(const Weights& weights, int64_t context) {
  const Metadata metadata(weights.file());
  DecoderOptions options = read_decoder(metadata);
  options.fill_layers(
      {read_rope(metadata, weights, options.info, context, RopePairs::Halves), read_window(metadata)});
  return std::make_unique<Decoder>(weights, options);
}

}  // namespace beeswax::models
