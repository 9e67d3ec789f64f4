// SPDX-License-Identifier: Apache-2.0
// Sampling: each filter keeps what its definition says (computed plainly in f64), draws follow the
// probabilities, and a seed gives the same tokens again.
#include "generate/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "core/philox.h"
#include "support/expect_error.h"

namespace beeswax::generate {
namespace {

// Everything off: a draw from the plain distribution.
SamplingOptions plain(uint64_t seed = 1) {
  return {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .typical_p = 1, .seed = seed};
}

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

std::map<int32_t, int> draw(const SamplingOptions& options, const std::vector<float>& logits, int times,
                            const std::vector<int32_t>& recent = {}) {
  Sampler sampler(options);
  std::map<int32_t, int> counts;
  for (int i = 0; i < times; ++i) ++counts[sampler.next(logits, recent)];
  return counts;
}

std::set<int32_t> drawn(const SamplingOptions& options, const std::vector<float>& logits,
                        const std::vector<int32_t>& recent = {}) {
  std::set<int32_t> ids;
  for (const auto& [id, count] : draw(options, logits, 3000, recent)) ids.insert(id);
  return ids;
}

TEST(Sampler, TemperatureZeroTakesTheLargestAndLowest) {
  SamplingOptions options = plain();
  options.temperature = 0;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Sampler(options).next(std::vector<float>{1, 3, 2, 3}, {}), 1);
  EXPECT_EQ(Sampler(options).next(std::vector<float>{kNan, -5, kNan}, {}), 1);
  EXPECT_ERROR(Sampler(options).next(std::vector<float>{kNan, kNan}, {}), Format,
               "all logits are NaN: the model's weights");
}

// The limit of small temperatures is the largest logit, also where a difference by the temperature is
// infinite.
TEST(Sampler, TinyTemperaturesTakeTheLargest) {
  for (const double temperature : {1e-5, 1e-300, 1e-320}) {
    SamplingOptions options = plain();
    options.temperature = temperature;
    EXPECT_EQ(drawn(options, {1, 3, 2, -3}), std::set<int32_t>{1}) << temperature;
    EXPECT_EQ(drawn(options, {-HUGE_VALF, -1, -HUGE_VALF, -1}), (std::set<int32_t>{1, 3})) << temperature;
  }
}

// 40,000 draws: a count is binomial, so five standard deviations bound it.
TEST(Sampler, DrawsFollowTheProbabilities) {
  const std::vector<double> p = {0.1, 0.5, 0.05, 0.35};
  constexpr int kTimes = 40000;
  auto counts = draw(plain(), logits_of(p), kTimes);
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = p[i] * kTimes;
    EXPECT_NEAR(counts[static_cast<int32_t>(i)], expected, 5 * std::sqrt(expected * (1 - p[i])));
  }
}

TEST(Sampler, TemperatureSharpensAndFlattens) {
  const std::vector<float> logits = {0, 1};
  for (const double temperature : {0.5, 2.0}) {
    SamplingOptions options = plain();
    options.temperature = temperature;
    const double p = 1 / (1 + std::exp(-1 / temperature));
    EXPECT_NEAR(draw(options, logits, 40000)[1], 40000 * p, 5 * std::sqrt(40000 * p * (1 - p)));
  }
}

TEST(Sampler, SeedsReproduce) {
  const std::vector<float> logits(50, 0.0f);
  std::vector<int32_t> first, again, other;
  Sampler a(plain(7)), b(plain(7)), c(plain(8));
  for (int i = 0; i < 100; ++i) {
    first.push_back(a.next(logits, {}));
    again.push_back(b.next(logits, {}));
    other.push_back(c.next(logits, {}));
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(Sampler, TopK) {
  SamplingOptions options = plain();
  options.top_k = 2;
  EXPECT_EQ(drawn(options, {1, 1.5f, 0.5f, 1.2f}), (std::set<int32_t>{1, 3}));
  options.top_k = 9;
  EXPECT_EQ(drawn(options, {1, 1.5f}), (std::set<int32_t>{0, 1}));
}

TEST(Sampler, TopP) {
  SamplingOptions options = plain();
  options.top_p = 0.7;  // 0.4 + 0.25 < 0.7, so the third is needed too
  EXPECT_EQ(drawn(options, logits_of({0.2, 0.4, 0.15, 0.25})), (std::set<int32_t>{0, 1, 3}));
  options.top_p = 1e-9;
  EXPECT_EQ(drawn(options, logits_of({0.2, 0.4, 0.15, 0.25})), (std::set<int32_t>{1}));
}

TEST(Sampler, MinP) {
  SamplingOptions options = plain();
  options.min_p = 0.45;  // of 0.4: at least 0.18
  EXPECT_EQ(drawn(options, logits_of({0.2, 0.4, 0.15, 0.25})), (std::set<int32_t>{0, 1, 3}));
}

// The entropy is 0.90 nats: 0.3 (1.20 nats of surprise) lies nearer than 0.6 (0.51) and 0.1 (2.30).
TEST(Sampler, TypicalKeepsWhatIsNearTheEntropy) {
  const std::vector<double> p = {0.6, 0.3, 0.1};
  double entropy = 0;
  for (const double x : p) entropy -= x * std::log(x);
  ASSERT_LT(std::fabs(-std::log(0.3) - entropy), std::fabs(-std::log(0.6) - entropy));
  SamplingOptions options = plain();
  options.typical_p = 0.2;
  EXPECT_EQ(drawn(options, logits_of(p)), (std::set<int32_t>{1}));
  options.typical_p = 0.5;
  EXPECT_EQ(drawn(options, logits_of(p)), (std::set<int32_t>{0, 1}));
}

TEST(Sampler, Penalties) {
  SamplingOptions options = plain();
  options.temperature = 0;
  options.repeat_penalty = 2;
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 3}, std::vector<int32_t>{0}), 1);  // 2 against 3
  EXPECT_EQ(Sampler(options).next(std::vector<float>{-1, -1.5f}, std::vector<int32_t>{0}),
            1);  // -2 against -1.5
  options.repeat_penalty = 1;
  options.presence_penalty = 1.5;
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 3}, std::vector<int32_t>{0}), 1);
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 2}, std::vector<int32_t>{0, 0, 0}), 0);
  options.presence_penalty = 0;
  options.frequency_penalty = 0.75;
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 3}, std::vector<int32_t>{0}), 0);
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 3}, std::vector<int32_t>{0, 0}), 1);
  options.penalty_window = 1;
  EXPECT_EQ(Sampler(options).next(std::vector<float>{4, 3}, std::vector<int32_t>{0, 0}), 0);
}

// The filters in their documented order over all tokens, each as it is defined, and the draw of the seed's
// n-th number.
int32_t by_definition(const SamplingOptions& o, const std::vector<float>& logits,
                      const std::vector<int32_t>& recent, uint64_t n) {
  struct Token {
    int32_t id;
    double logit, p;
  };
  std::vector<Token> all;
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    double logit = logits[i];
    const auto times = std::count(recent.begin(), recent.end(), id);
    if (times > 0) {
      logit = logit > 0 ? logit / o.repeat_penalty : logit * o.repeat_penalty;
      logit -= static_cast<double>(times) * o.frequency_penalty + o.presence_penalty;
    }
    if (!std::isnan(logit)) all.push_back({id, logit, 0});
  }
  std::stable_sort(all.begin(), all.end(), [](const Token& a, const Token& b) { return a.logit > b.logit; });
  if (o.temperature == 0) return all[0].id;
  const auto normalize = [&](double temperature) {
    double sum = 0;
    const double top = all[0].logit;
    for (Token& t : all) sum += t.p = std::exp((t.logit - top) / temperature);
    for (Token& t : all) t.p /= sum;
  };
  const auto keep = [&](const auto& wanted) {
    double before = 0;
    std::vector<Token> kept;
    for (const Token& t : all) {
      if (wanted(t, before)) kept.push_back(t);
      before += t.p;
    }
    all = kept;
    normalize(1);
  };
  if (o.top_k > 0 && static_cast<size_t>(o.top_k) < all.size()) all.resize(static_cast<size_t>(o.top_k));
  normalize(1);
  keep([&](const Token&, double before) { return before < o.top_p; });
  keep([&](const Token& t, double) { return t.p >= o.min_p * all[0].p; });
  normalize(o.temperature);
  const PhiloxBlock block = random_block(random_keys(o.seed), n);
  double left = static_cast<double>((uint64_t{block.word[0]} << 32 | block.word[1]) >> 11) * 0x1p-53;
  for (const Token& t : all) {
    left -= t.p;
    if (left < 0) return t.id;
  }
  return all.back().id;
}

// Of vocabularies that are passed over by the block, with equal, infinite and NaN logits among them.
TEST(Sampler, LargeVocabulariesGiveWhatTheDefinitionsDo) {
  std::mt19937 random(5);
  const auto any = [&](auto... options) { return std::vector{options...}[random() % sizeof...(options)]; };
  for (int round = 0; round < 300; ++round) {
    SamplingOptions options = {.temperature = any(0.0, 0.7, 1.0, 3.0),
                               .top_k = any(int64_t{0}, int64_t{1}, int64_t{40}, int64_t{600}),
                               .top_p = any(1.0, 0.95, 0.5, 0.01),
                               .min_p = any(0.0, 0.05, 1.0),
                               .repeat_penalty = any(1.0, 1.3, 0.8),
                               .frequency_penalty = any(0.0, 0.5, -2.0),
                               .presence_penalty = any(0.0, 0.25),
                               .seed = random()};
    std::vector<float> logits(any(size_t{1}, size_t{63}, size_t{64}, size_t{1000}, size_t{5000}));
    std::normal_distribution<float> normal(0, any(0.1f, 2.0f, 8.0f));
    for (float& logit : logits) logit = std::round(normal(random) * 16) / 16;  // some are equal
    for (size_t i = 1; i < logits.size(); i += 7) logits[i] = any(NAN, -HUGE_VALF, logits[i]);
    std::vector<int32_t> recent;
    for (int i = 0; i < 30; ++i)
      recent.push_back(static_cast<int32_t>(random() % std::min<size_t>(logits.size(), 40)));
    Sampler sampler(options);
    for (uint64_t n = 0; n < 5; ++n)
      ASSERT_EQ(sampler.next(logits, recent), by_definition(options, logits, recent, n)) << round;
  }
}

TEST(Sampler, BadOptionsAreNamed) {
  SamplingOptions options;
  options.top_p = 0;
  EXPECT_ERROR(Sampler{options}, InvalidArgument, "top-p is 0");
  options = {};
  options.temperature = -1;
  EXPECT_ERROR(Sampler{options}, InvalidArgument, "temperature is -1");
  options = {};
  options.repeat_penalty = std::numeric_limits<double>::quiet_NaN();
  EXPECT_ERROR(Sampler{options}, InvalidArgument, "repeat-penalty is nan");
}

}  // namespace
}  // namespace beeswax::generate
