// SPDX-License-Identifier: Apache-2.0
// nn::attention against the definition in f64: shared heads, windows, caps, a past, and as many queries that
// they are cut into blocks.
#include "nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/devices.h"

namespace beeswax {
namespace {

constexpr int64_t kHeads = 4, kKvHeads = 2, kSize = 16;

std::vector<float> normal_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<size_t>(count));
  for (float& value : out) value = normal(random);
  return out;
}

struct Case {
  int64_t tokens, before, window;
  double cap;
  DType dtype;  // of keys and values
};

// The result of one query and head: kSize numbers.
std::vector<double> by_hand(const Case& c, const nn::AttentionOptions& options, const float* query,
                            int64_t position, const float* keys, const float* values) {
  const int64_t first = options.window > 0 ? std::max<int64_t>(0, position + 1 - options.window) : 0;
  std::vector<double> weights;
  double total = 0;
  for (int64_t p = first; p <= position; ++p) {
    double score = 0;
    for (int64_t i = 0; i < kSize; ++i)
      score += static_cast<double>(query[i]) * static_cast<double>(keys[p * kSize + i]);
    score *= options.scale;
    if (c.cap > 0) score = c.cap * std::tanh(score / c.cap);
    weights.push_back(std::exp(score));
    total += weights.back();
  }
  std::vector<double> out(kSize);
  for (int64_t p = first; p <= position; ++p)
    for (int64_t i = 0; i < kSize; ++i)
      out[static_cast<size_t>(i)] +=
          weights[static_cast<size_t>(p - first)] / total * static_cast<double>(values[p * kSize + i]);
  return out;
}

void check(const Case& c) {
  const int64_t positions = c.before + c.tokens;
  const nn::AttentionOptions options{0.25, c.window, c.cap};
  const std::vector<float> q = normal_values(c.tokens * kHeads * kSize, 1);
  const auto cached = [&](uint32_t seed) {
    return Tensor::from_vec(normal_values(kKvHeads * positions * kSize, seed), {kKvHeads, positions, kSize})
        .to_dtype(c.dtype);
  };
  const Tensor keys = cached(2), values = cached(3);
  const std::vector<float> k = keys.to_dtype(DType::F32).to_vec<float>();
  const std::vector<float> v = values.to_dtype(DType::F32).to_vec<float>();
  const Tensor result = nn::attention(Tensor::from_vec(q, {c.tokens, kHeads, kSize}), keys, values, options);
  ASSERT_EQ(result.shape(), (Shape{c.tokens, kHeads * kSize}));
  const std::vector<float> got = result.to_vec<float>();
  for (int64_t row = 0; row < c.tokens * kHeads; ++row) {
    const int64_t of_head = row % kHeads / (kHeads / kKvHeads) * positions * kSize;
    const std::vector<double> want = by_hand(c, options, q.data() + row * kSize, c.before + row / kHeads,
                                             k.data() + of_head, v.data() + of_head);
    // Means of numbers below 5; scores below 16 are off by less than 1e-5.
    for (int64_t i = 0; i < kSize; ++i)
      ASSERT_NEAR(got[static_cast<size_t>(row * kSize + i)], want[static_cast<size_t>(i)], 5e-5)
          << "token " << row / kHeads << " of " << c.tokens << " behind " << c.before << ", window "
          << c.window << ", cap " << c.cap;
  }
}

TEST(Attention, IsTheDefinition) {
  for (const int64_t tokens : {1, 2, 63, 64, 65, 130})
    for (const int64_t before : {0, 70})
      for (const int64_t window : {0, 1, 40, 1000}) check({tokens, before, window, 0, DType::F32});
}

TEST(Attention, CapsScoresAndReadsHalves) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const int64_t tokens : {1, 70})
      for (const int64_t window : {0, 9}) check({tokens, 33, window, 2, dtype});
}

}  // namespace
}  // namespace beeswax
