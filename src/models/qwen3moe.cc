// SPDX-License-Identifier: Apache-2.0
// Qwen3 with experts: files give it a name of its own.
#include "models/model.h"

namespace beeswax::models {

std::unique_ptr<Model> make_qwen3moe(const Weights& weights, int64_t context) {
  return make_qwen3(weights, context);
}

}  // namespace beeswax::models
