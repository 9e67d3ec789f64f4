// SPDX-License-Identifier: Apache-2.0
// Decoder: the layers that all our architectures are made of. x + attention(norm(x)), then x +
// feed_forward(norm(x)), each time with a norm of what is added where the architecture has one; RMS norms;
// rotary positions. An architecture says which options it has, in its own file.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "models/metadata.h"
#include "models/model.h"
#include "models/weights.h"
#include "nn/feed_forward.h"
#include "nn/self_attention.h"

namespace beeswax::models {

struct DecoderOptions {
  ModelInfo info;
  int64_t feed = 0;  ///< width inside a feed-forward block, or inside one expert
  Activation activation = Activation::Silu;
  int64_t experts = 0, experts_used = 0;  ///< 0 experts: one feed-forward block
  bool normalize_experts = true;
  bool head_norms = false;     ///< RMS norms of each query and key head
  bool added_norms = false;    ///< RMS norms of what attention and feed-forward blocks add
  double epsilon = 1e-5;       ///< of all norms
  double embedding_scale = 1;  ///< embeddings are multiplied by it
  double attention_scale = 0;  ///< of the scores
  double score_cap = 0, logit_cap = 0;
  /// What differs between layers.
  struct Layer {
    nn::Rope rope;
    int64_t window = 0;  ///< as in AttentionOptions
  };
  std::vector<Layer> layers;
  /// All layers alike.
  void fill_layers(const Layer& layer) { layers.assign(static_cast<size_t>(info.layers), layer); }
};

/// The sizes that every architecture keeps under the same keys; layers are still to be filled in. Format
/// where they are missing or contradict each other.
DecoderOptions read_decoder(const Metadata& metadata);

/// Experts, where the file says that there are some.
void read_experts(const Metadata& metadata, DecoderOptions* options);

/// attention.sliding_window; 0 where there is none.
int64_t read_window(const Metadata& metadata);

/// Elements of a head that are rotated.
int64_t read_rotated(const Metadata& metadata, const ModelInfo& info);

/// The base of the angles, 10000 where the file has none.
double read_rope_base(const Metadata& metadata, std::string_view key);

/// Rotary positions below `context` with the base and the scaling that the file asks for: linear, YaRN, or
/// factors in tensors (rope_freqs, or rope_factors_short up to the length of the first training and
/// rope_factors_long beyond). Unsupported for another scaling.
nn::Rope read_rope(const Metadata& metadata, const Weights& weights, const ModelInfo& info, int64_t context,
                   RopePairs pairs);

class Decoder final : public Model {
 public:
  /// Reads the tensors. Format where one is missing or has another shape, Unsupported where the file holds
  /// ones that it does not know.
  Decoder(const Weights& weights, const DecoderOptions& options);
  Tensor forward(std::span<const int32_t> ids, Cache& past) const override;

 private:
  struct Layer {
    Tensor attention_norm, attention_added_norm, feed_norm, feed_added_norm;
    nn::SelfAttention attention;
    std::variant<nn::FeedForward, nn::Experts> feed;
  };
  static Layer read_layer(const Weights& weights, const DecoderOptions& options, int64_t index);

  nn::Weight embedding_;
  double embedding_scale_, logit_cap_, epsilon_;
  std::vector<Layer> layers_;
  Tensor output_norm_;
  nn::Linear head_;
};

}  // namespace beeswax::models
