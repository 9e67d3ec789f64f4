// SPDX-License-Identifier: Apache-2.0
// A model on each device of the tests against the same model on the CPU: logits within the bound of
// docs/numerics.md while both are given the same ids, and the same greedy text up to the first place where
// two tokens are as near.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "io/gguf.h"
#include "models/box.h"
#include "models/model.h"
#include "support/devices.h"

namespace beeswax {
namespace {

// Of logits, as a part of the largest one: docs/numerics.md, "Models".
constexpr double kDenseBound = 2e-5;
constexpr double kQuantizedBound = 2e-2;
constexpr int64_t kPositions = 512;
constexpr int64_t kPositionsInSoftware = 24;  // the software GPU runs these in seconds; the CPU meets itself

struct Case {
  std::string name;
  std::shared_ptr<const io::GgufFile> file;
  double bound;
};

struct TopTwo {
  int32_t id;
  double margin;
};
TopTwo top_two(const std::vector<float>& logits) {
  const auto best = std::max_element(logits.begin(), logits.end());
  float second = -std::numeric_limits<float>::infinity();
  for (auto it = logits.begin(); it != logits.end(); ++it)
    if (it != best) second = std::max(second, *it);
  return {static_cast<int32_t>(best - logits.begin()),
          static_cast<double>(*best) - static_cast<double>(second)};
}

class ModelOn : public testing::TestWithParam<Device> {};

void expect_the_model_of_the_cpu(const Case& one, const Device& device) {
  const auto reference = models::load_model(*one.file, kPositions);
  const auto model = models::load_model(*one.file, kPositions, device);
  models::Cache expected_past = reference->make_cache(kPositions), past = model->make_cache(kPositions);
  int32_t id = 1;
  double worst = 0, near_tie = 0;
  int64_t tie_at = -1;
  const bool software = device.is_cpu() || device.kind() == DeviceKind::Emu;
  const int64_t positions = software ? kPositionsInSoftware : kPositions;
  for (int64_t position = 0; position < positions; ++position) {
    const std::vector<float> expected = reference->forward(std::span(&id, 1), expected_past).to_vec<float>();
    const Tensor logits = model->forward(std::span(&id, 1), past);
    ASSERT_EQ(logits.device(), device);
    const std::vector<float> got = logits.to_vec<float>();
    ASSERT_EQ(got.size(), expected.size());
    double largest = 0, difference = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
      difference =
          std::max(difference, std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
    }
    worst = std::max(worst, difference / largest);
    ASSERT_LE(difference, one.bound * largest) << "position " << position;
    const TopTwo best = top_two(expected);
    if (tie_at < 0 && best.margin < 2 * one.bound * largest) {
      tie_at = position;
      near_tie = best.margin;
    }
    if (tie_at < 0) {
      ASSERT_EQ(top_two(got).id, best.id) << "position " << position;
    }
    id = best.id;
  }
  std::printf(
      "%s on %s: largest difference %.2g of the largest logit; first near tie at %lld (margin %.2g)\n",
      one.name.c_str(), device.to_string().c_str(), worst, static_cast<long long>(tie_at), near_tie);
  // A prompt in one batch leaves the same past as one token at a time.
  std::vector<int32_t> prompt;
  for (int i = 0; i < 70; ++i) prompt.push_back(static_cast<int32_t>(i % 50 + 3));
  models::Cache batch_past = model->make_cache(kPositions),
                expected_batch = reference->make_cache(kPositions);
  const std::vector<float> expected = reference->forward(prompt, expected_batch).to_vec<float>();
  const std::vector<float> got = model->forward(prompt, batch_past).to_vec<float>();
  double largest = 0, difference = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    difference =
        std::max(difference, std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
  }
  EXPECT_LE(difference, one.bound * largest) << "prefill";
}

TEST_P(ModelOn, StoriesAreTheCpus) {
  const std::string stories = BW_SOURCE_DIR "/../shared/models/stories260K-f32.gguf";
  if (!std::filesystem::exists(stories)) GTEST_SKIP() << "no ../shared/models/stories260K-f32.gguf";
  expect_the_model_of_the_cpu({"stories260K-f32", io::GgufFile::open(stories), kDenseBound}, GetParam());
}

TEST_P(ModelOn, TheBoxIsTheCpus) {
  expect_the_model_of_the_cpu({"the model in the box", models::open_box(), kQuantizedBound}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ModelOn, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax
