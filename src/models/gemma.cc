// SPDX-License-Identifier: Apache-2.0
#include "models/gemma.h"

#include <cmath>

namespace beeswax::models {

DecoderOptions read_gemma(const Metadata& metadata, int64_t layers_of_27b) {
  DecoderOptions options = read_decoder(metadata);
  const ModelInfo& info = options.info;
  options.activation = Activation::GeluTanh;
  options.added_norms = true;
  options.embedding_scale = std::sqrt(static_cast<double>(info.width));
  if (info.layers == layers_of_27b)
    options.attention_scale = std::sqrt(static_cast<double>(info.heads) / static_cast<double>(info.width));
  options.attention_scale = metadata.number("attention.scale", options.attention_scale);
  return options;
}

void fill_gemma_layers(const Metadata& metadata, const GemmaLayers& layers, DecoderOptions* options) {
  // The pattern is a period, or one flag for each layer: whether it has a window.
  const std::string key = metadata.name_of("attention.sliding_window_pattern");
  const io::GgufValue* pattern = metadata.file().find(key);
  const int64_t count = options->info.layers;
  std::vector<int64_t> windowed;
  if (pattern != nullptr && pattern->as_array() != nullptr) {
    windowed = metadata.file().get_ints(key, count);
  } else {
    const int64_t period = metadata.size("attention.sliding_window_pattern", layers.period);
    for (int64_t i = 0; i < count; ++i) windowed.push_back(i % period != period - 1);
  }
  for (const int64_t local : windowed)
    options->layers.push_back(local != 0 && layers.window > 0
                                  ? DecoderOptions::Layer{layers.local, layers.window}
                                  : DecoderOptions::Layer{layers.global, 0});
}

}  // namespace beeswax::models
