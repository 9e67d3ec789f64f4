// SPDX-License-Identifier: Apache-2.0
// Model: what every language model can do. One file per architecture, one row of tables/models.def.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "beeswax/tensor.h"
#include "io/gguf.h"
#include "nn/kv_cache.h"

namespace beeswax::models {

/// What is the same for all architectures.
struct ModelInfo {
  std::string architecture;
  int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, head_size = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< positions it was trained for
};

/// The past of one sequence: a cache for each layer.
struct Cache {
  std::vector<nn::KvCache> layers;
  int64_t length() const { return layers.empty() ? 0 : layers[0].length(); }
  int64_t capacity() const { return layers.empty() ? 0 : layers[0].capacity(); }
  /// Forgets all positions from `length` on.
  void truncate(int64_t length) {
    for (nn::KvCache& layer : layers) layer.truncate(length);
  }
  int64_t bytes() const {
    return layers.empty() ? 0 : static_cast<int64_t>(layers.size()) * layers[0].bytes();
  }
};

class BW_API Model {
 public:
  virtual ~Model() = default;
  const ModelInfo& info() const { return info_; }
  /// Where its weights are, its caches are made and its logits come out.
  const Device& device() const { return device_; }
  /// An empty past with room for `positions`.
  Cache make_cache(int64_t positions, DType dtype = DType::F32) const;
  /// Runs ids that follow the past and appends them to it. Logits [vocabulary], f32, of what follows the last
  /// id. IndexOutOfRange for an id that is no token, TooLarge where the past has no room.
  virtual Tensor forward(std::span<const int32_t> ids, Cache& past) const = 0;

 protected:
  ModelInfo info_;
  Device device_;
};

/// Builds the model of a file. Unsupported for an architecture without a row in tables/models.def, Format
/// for missing or wrongly shaped tensors. `context` is the number of positions it must be able to run.
BW_API std::unique_ptr<Model> load_model(const io::GgufFile& file, int64_t context,
                                         const Device& device = {});

/// Throws what load_model would, without reading the matrices; what the file says of its model.
BW_API ModelInfo check_model(const io::GgufFile& file);

/// TooLarge, with the sizes, where the keys and values of `positions` would not fit this machine's memory.
BW_API void check_context(const ModelInfo& info, int64_t positions, DType dtype);

class Weights;
/// The same from weights that need not be a file's.
BW_API std::unique_ptr<Model> load_model(const Weights& weights, int64_t context);

#define BW_MODEL(Name, name, ...) std::unique_ptr<Model> make_##name(const Weights& weights, int64_t context);
#include "tables/models.def"

}  // namespace beeswax::models
