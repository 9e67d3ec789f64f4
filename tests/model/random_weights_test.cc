// SPDX-License-Identifier: Apache-2.0
// Models of random weights: every architecture that has known sizes loads and runs in every type, alike on
// any number of threads; and what a pass through one cannot avoid.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "core/thread_pool.h"
#include "generate/throughput.h"
#include "models/memory_need.h"
#include "models/model_sizes.h"
#include "models/pass_cost.h"
#include "models/random_weights.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

using models::ModelSizes;

// As large as blocks of 256 need.
ModelSizes small(std::string_view architecture, bool tied = false, int64_t experts = 0) {
  return {"small", "Small", architecture, 2, 256, 4, 2, 64, 512, 300, 128, 1e4, tied, experts, experts / 2};
}

struct Made {
  explicit Made(const ModelSizes& sizes, const char* type)
      : described(models::describe_model(sizes, models::parse_mixture(type)), "small"),
        model(models::load_model(models::RandomWeights(described.file()), 64)) {}
  models::DescribedFile described;
  std::unique_ptr<models::Model> model;
};

std::vector<float> logits(const models::Model& model) {
  models::Cache past = model.make_cache(8);
  const std::vector<int32_t> ids = {1, 250, 17};
  return model.forward(ids, past).to_vec<float>();
}

void expect_varied(const std::vector<float>& values, const std::string& what) {
  ASSERT_EQ(values.size(), 300u) << what;
  float low = values[0], high = values[0];
  for (const float value : values) {
    ASSERT_TRUE(std::isfinite(value)) << what;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GT(high - low, 0.1f) << what;
}

TEST(RandomWeights, EveryTypeRuns) {
  for (const models::Mixture& mixture : models::mixtures())
    expect_varied(logits(*Made(small("llama"), mixture.name.data()).model), std::string(mixture.name));
}

TEST(RandomWeights, EveryArchitectureOfTheKnownSizesRuns) {
  std::map<std::string_view, int64_t> seen;  // experts
  for (const ModelSizes& sizes : models::known_sizes()) {
    if (!seen.emplace(std::string(sizes.architecture) == "llama" && sizes.experts > 0 ? "mixtral"
                                                                                      : sizes.architecture,
                      sizes.experts)
             .second)
      continue;
    const Made made(small(sizes.architecture, sizes.tied, sizes.experts > 0 ? 4 : 0), "q4_0");
    expect_varied(logits(*made.model), std::string(sizes.name));
  }
  EXPECT_EQ(seen.size(), 5u);
}

// More than machines have: it is refused for what it needs, not for what describing it takes.
TEST(RandomWeights, DescribingAModelTakesNoMemory) {
  std::optional<models::DescribedFile> described;
  try {
    described.emplace(models::describe_model(models::find_sizes("llama-70b"), models::parse_mixture("f16")),
                      "large");
  } catch (const Error& error) {
    GTEST_SKIP() << "the system promises only memory that it has: " << error.what();
  }
  EXPECT_GT(models::memory_need(described->file(), 128, DType::F32).weights, size_t{130} << 30);
}

TEST(RandomWeights, TheSameOnAnyNumberOfThreads) {
  const int before = ThreadPool::global().threads();
  std::vector<float> first;
  for (const int threads : {1, 3}) {
    ThreadPool::global().set_threads(threads);
    const std::vector<float> now = logits(*Made(small("llama"), "q4_k_m").model);
    if (first.empty()) first = now;
    EXPECT_EQ(now, first);
  }
  ThreadPool::global().set_threads(before);
}

// Counted by hand from the sizes: 4 heads of 64 over 2, width 256, feed 512, 300 tokens, all q8_0 (34 bytes
// for 32).
TEST(PassCost, OfASmallModel) {
  const Made made(small("llama"), "q8_0");
  const double query = 256 * 256, kv = 2 * 128 * 256, attention = query + kv, output = 256 * 256,
               feed = 3 * 512 * 256, head = 300 * 256;
  const models::PassCost one = models::pass_cost(made.described.file(), 1);
  EXPECT_EQ(one.quantized_macs, 2 * (attention + output + feed) + head);
  EXPECT_EQ(one.dense_macs, 0);
  EXPECT_EQ(one.bytes, one.quantized_macs * 34 / 32);
  const models::PassCost many = models::pass_cost(made.described.file(), 10);
  EXPECT_EQ(many.bytes, one.bytes);
  EXPECT_EQ(many.quantized_macs, 10 * (attention + output + feed + kv) + query + output + feed + head);
  const Made tied(small("llama", true), "f32");
  EXPECT_EQ(models::pass_cost(tied.described.file(), 1).dense_macs, one.quantized_macs);
  // Two of four experts of the same width, and the routers.
  const Made experts(small("qwen3moe", false, 4), "q8_0");
  const models::PassCost chosen = models::pass_cost(experts.described.file(), 1);
  EXPECT_EQ(chosen.quantized_macs, 2 * (attention + output + 2 * feed) + head);
  EXPECT_EQ(chosen.dense_macs, 2 * 4 * 256);
  EXPECT_EQ(chosen.bytes, chosen.quantized_macs * 34 / 32 + chosen.dense_macs * 4);
  const models::PassCost all = models::pass_cost(experts.described.file(), 2);
  EXPECT_GT(all.bytes, chosen.bytes);
  // All experts of the first layer, and of the last those of the last token.
  EXPECT_EQ(models::pass_cost(experts.described.file(), 200).bytes,
            (2 * (attention + output) + (4 + 2) * feed + head) * 34 / 32 + 2 * 4 * 256 * 4);
}

TEST(Throughput, TimesWhatIsAskedFor) {
  const Made made(small("llama"), "q4_0");
  EXPECT_GT(generate::time_prefill(*made.model, 20, 8), 0);
  EXPECT_GT(generate::time_decode(*made.model, 3), 0);
  EXPECT_ERROR(generate::time_prefill(*made.model, 0), InvalidArgument, "must be positive");
}

}  // namespace
}  // namespace beeswax
