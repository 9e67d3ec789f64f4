// SPDX-License-Identifier: Apache-2.0
// Sizes of well-known models, as their makers published them (config.json): enough to make one of the same
// shape out of random weights.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "beeswax/export.h"
#include "io/gguf_writer.h"
#include "models/mixture.h"

namespace beeswax::models {

struct ModelSizes {
  std::string_view name;          ///< "llama-8b"
  std::string_view title;         ///< "Llama 3.1 8B"
  std::string_view architecture;  ///< a row of tables/models.def
  int64_t layers, width, heads, kv_heads, head_size;
  int64_t feed;  ///< of one expert, where there are experts
  int64_t vocabulary, context;
  double rope_base;
  bool tied;  ///< the token embedding is the output matrix too
  int64_t experts = 0, experts_used = 0;
};

BW_API std::span<const ModelSizes> known_sizes();
/// By name; InvalidArgument, naming the known ones, for another.
BW_API const ModelSizes& find_sizes(std::string_view name);

/// Metadata and tensors of a model of these sizes, in the types that `mixture` gives them. The tensors' bytes
/// are left open.
BW_API io::GgufWriter describe_model(const ModelSizes& sizes, const Mixture& mixture);

}  // namespace beeswax::models
