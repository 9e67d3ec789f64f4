// SPDX-License-Identifier: Apache-2.0
#include "generate/throughput.h"

#include <algorithm>
#include <chrono>

#include "core/fail.h"

namespace beeswax::generate {
namespace {

// Ids that jump about in the vocabulary.
std::vector<int32_t> some_ids(const models::Model& model, int64_t count) {
  std::vector<int32_t> ids;
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % static_cast<uint64_t>(model.info().vocabulary)));
  }
  return ids;
}

}  // namespace

double time_prefill(const models::Model& model, int64_t tokens, int64_t batch) {
  if (tokens < 1 || batch < 1)
    fail(ErrorKind::InvalidArgument, "bench", tokens, " tokens in batches of ", batch,
         "; both must be positive");
  const std::vector<int32_t> ids = some_ids(model, tokens);
  models::Cache past = model.make_cache(tokens);
  std::vector<float> values(static_cast<size_t>(model.info().vocabulary));
  model.device().synchronize();  // what was submitted before is not timed
  const auto start = std::chrono::steady_clock::now();
  for (int64_t first = 0; first < tokens; first += batch) {
    const auto count = static_cast<size_t>(std::min(batch, tokens - first));
    model.forward(std::span(ids).subspan(static_cast<size_t>(first), count), past)
        .copy_to(std::span<float>(values));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double time_decode(const models::Model& model, int64_t tokens) { return time_prefill(model, tokens, 1); }

}  // namespace beeswax::generate
