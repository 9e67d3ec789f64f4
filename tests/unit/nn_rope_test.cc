// SPDX-License-Identifier: Apache-2.0
// Rotary positions against the definition in f64: any first position, whole and partly rotated heads, both
// ways of pairing. What is not rotated keeps its bits.
#include "nn/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace beeswax {
namespace {

constexpr double kBase = 10000;

std::vector<double> rotated_by_hand(const std::vector<float>& head, int64_t rotated, int64_t position,
                                    RopePairs pairs) {
  std::vector<double> out(head.begin(), head.end());
  for (int64_t i = 0; i < rotated / 2; ++i) {
    const bool halves = pairs == RopePairs::Halves;
    const auto a = static_cast<size_t>(halves ? i : 2 * i);
    const auto b = static_cast<size_t>(halves ? i + rotated / 2 : 2 * i + 1);
    const double angle = static_cast<double>(position) *
                         std::pow(kBase, -2 * static_cast<double>(i) / static_cast<double>(rotated));
    out[a] = head[a] * std::cos(angle) - head[b] * std::sin(angle);
    out[b] = head[a] * std::sin(angle) + head[b] * std::cos(angle);
  }
  return out;
}

TEST(NnRope, RotatesFromAnyPositionAndPartOfAHead) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const int64_t tokens = 5, heads = 3, size = 12;
  std::vector<float> values(static_cast<size_t>(tokens * heads * size));
  for (float& value : values) value = normal(random);
  const Tensor x = Tensor::from_vec(values, {tokens, heads, size});
  for (const RopePairs pairs : {RopePairs::Neighbours, RopePairs::Halves}) {
    for (const int64_t rotated : {12, 8, 2}) {
      const nn::Rope rope(rotated, 100, kBase, pairs);
      for (const int64_t position : {0, 1, 37, 95}) {
        const auto out = rope.apply(x, position).to_vec<float>();
        for (int64_t row = 0; row < tokens * heads; ++row) {
          const auto first = values.begin() + row * size;
          const std::vector<float> head(first, first + size);
          const auto want = rotated_by_hand(head, rotated, position + row / heads, pairs);
          for (int64_t i = 0; i < size; ++i) {
            const float got = out[static_cast<size_t>(row * size + i)];
            if (i >= rotated) {
              EXPECT_EQ(got, head[static_cast<size_t>(i)]) << row << " " << i;
            } else {
              // Two products of numbers below 4 and their sum, with cosines rounded to f32.
              EXPECT_NEAR(got, want[static_cast<size_t>(i)], 2e-6) << row << " " << i << " at " << position;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace beeswax
