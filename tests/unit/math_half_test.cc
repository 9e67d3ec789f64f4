// SPDX-License-Identifier: Apache-2.0
// half.h against the definition of the narrow types: every pattern decoded, and floats encoded at and around
// every value and every midpoint (all 2^32 floats with BEESWAX_EXHAUSTIVE=1). And the divisions and roots
// that GPUs make from a guess.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "beeswax/portable.h"
#include "core/math/math.h"
#include "core/thread_pool.h"
#include "math/narrow_table.h"

namespace beeswax {
namespace {

template <class T>
class Half : public testing::Test {};
using Narrows = testing::Types<f16, bf16, f8e4m3>;
TYPED_TEST_SUITE(Half, Narrows);

template <class T>
T from_pattern(uint32_t pattern) {
  T value;
  value.bits = static_cast<decltype(value.bits)>(pattern);
  return value;
}
template <class T>
uint32_t patterns() {
  return 1u << (8 * sizeof(T));
}

TYPED_TEST(Half, EveryPatternDecodes) {
  using T = TypeParam;
  for (uint32_t pattern = 0; pattern < patterns<T>(); ++pattern) {
    const float decoded = static_cast<float>(from_pattern<T>(pattern));
    const double value = test::narrow_value<T>(pattern);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(decoded)) << pattern;
      ASSERT_EQ(std::signbit(decoded), pattern >= patterns<T>() / 2) << pattern;
    } else {
      ASSERT_EQ(bit_cast<uint32_t>(decoded), bit_cast<uint32_t>(static_cast<float>(value))) << pattern;
    }
  }
}

TYPED_TEST(Half, EveryPatternSurvivesTheRoundTrip) {
  using T = TypeParam;
  for (uint32_t pattern = 0; pattern < patterns<T>(); ++pattern) {
    const T value = from_pattern<T>(pattern);
    const uint32_t back = T(static_cast<float>(value)).bits;
    if (std::isnan(test::narrow_value<T>(pattern))) {
      ASSERT_TRUE(std::isnan(test::narrow_value<T>(back))) << pattern;
    } else {
      ASSERT_EQ(back, pattern);
    }
  }
}

template <class T>
testing::AssertionResult encodes(const test::NarrowTable<T>& table, float x) {
  const uint32_t got = T(x).bits;
  if (std::isnan(x)) {
    if (std::isnan(test::narrow_value<T>(got))) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "NaN became " << got;
  }
  const uint32_t want = table.nearest(x);
  if (got == want) return testing::AssertionSuccess();
  return testing::AssertionFailure() << x << " became " << got << ", not " << want;
}

TYPED_TEST(Half, EncodesToTheNearest) {
  using T = TypeParam;
  const test::NarrowTable<T> table;
  const auto around = [&](float x) {
    float up = x, down = x;
    for (int i = 0; i < 3; ++i) {
      for (float value : {up, down, -up, -down}) ASSERT_TRUE(encodes(table, value));
      up = std::nextafter(up, HUGE_VALF);
      down = std::nextafter(down, -1.0f);
    }
  };
  const std::vector<double>& values = table.values();
  for (size_t i = 0; i < values.size(); ++i) {
    around(static_cast<float>(values[i]));
    if (i > 0) around(static_cast<float>((values[i] + values[i - 1]) / 2));
  }
  const double last = values.back(), gap = last - values[values.size() - 2];
  for (double part : {0.25, 0.5, 0.75, 1.0, 2.0}) {
    if (last + part * gap < 3.4028234663852886e38) around(static_cast<float>(last + part * gap));
  }
  for (float x : {HUGE_VALF, 3.4028234663852886e38f, std::nanf(""), 1e-45f, 0.0f,
                  bit_cast<float>(0x7f800001u), bit_cast<float>(0x7fffffffu)}) {
    ASSERT_TRUE(encodes(table, x));
    ASSERT_TRUE(encodes(table, -x));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i)
    ASSERT_TRUE(encodes(table, bit_cast<float>(static_cast<uint32_t>(random()))));
}

TEST(Half, SpecialValues) {
  EXPECT_EQ(f16(65519.99f).bits, 0x7bff);
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(f16(-HUGE_VALF).bits, 0xfc00);
  EXPECT_EQ(bf16(3.4028234663852886e38f).bits, 0x7f80);
  EXPECT_EQ(bf16(-3.3895314e38f).bits, 0xff7f);
  EXPECT_EQ(f8e4m3(448.0f).bits, 0x7e);
  EXPECT_EQ(f8e4m3(1e30f).bits, 0x7e);
  EXPECT_EQ(f8e4m3(-HUGE_VALF).bits, 0xfe);
  EXPECT_EQ(f8e4m3(std::nanf("")).bits & 0x7f, 0x7f);
  EXPECT_EQ(f16(-0.0f).bits, 0x8000);
  EXPECT_EQ(bf16(-0.0f).bits, 0x8000);
  EXPECT_EQ(f8e4m3(-0.0f).bits, 0x80);
}

// The guess of a GPU may be the nearest float or one of its neighbours; the reciprocal is that of the CPU all
// the same.
TYPED_TEST(Half, ReciprocalsNeedNoExactGuess) {
  using T = TypeParam;
  const auto check = [](float d) {
    const float want = 1.0f / d;
    for (const float guess : {want, std::nextafter(want, 0.0f), std::nextafter(want, HUGE_VALF)}) {
      const float got = m::reciprocal_from_guess<1>(d, guess);
      if (want != want) {
        ASSERT_NE(got, got) << d;
      } else {
        ASSERT_EQ(bit_cast<uint32_t>(got), bit_cast<uint32_t>(want)) << d;
      }
    }
  };
  for (uint32_t pattern = 0; pattern < patterns<T>(); ++pattern) {
    const float x = static_cast<float>(from_pattern<T>(pattern));
    check(m::logistic_divisor(m::at_least(x, -97.5f)));
    check(m::logistic_divisor(m::gelu_tanh_argument_short(m::at_least(x, -10.42f))));
    check(m::expm1_short(2.0f * m::at_most(m::abs(x), 10.0f)) + 2.0f);
    check(m::normal_tail_divisor_short(m::at_most(m::abs(x), 15.0f)));
  }
}

TYPED_TEST(Half, RootsNeedNoExactGuess) {
  using T = TypeParam;
  for (uint32_t pattern = 0; pattern < patterns<T>(); ++pattern) {
    const float x = static_cast<float>(from_pattern<T>(pattern));
    const T want = T(std::sqrt(x));
    // As it is, and the smallest times 2^64.
    for (const float scale : {1.0f, 0x1p64f}) {
      if (scale != 1.0f && std::fabs(x) >= 0x1p-96f) continue;
      const float in = x * scale;
      float guess = 1.0f / std::sqrt(in);
      for (int i = 0; i < 4; ++i) guess = std::nextafter(guess, 0.0f);
      for (int i = -4; i <= 4; ++i) {
        const T got = T(m::sqrt_from_guess(in, guess) / std::sqrt(scale));
        if (std::isnan(static_cast<float>(want))) {
          ASSERT_TRUE(std::isnan(static_cast<float>(got))) << x;
        } else {
          ASSERT_EQ(got.bits, want.bits) << x << " from a guess off by " << i;
        }
        guess = std::nextafter(guess, HUGE_VALF);
      }
    }
  }
}

TYPED_TEST(Half, EveryFloatEncodesToTheNearest) {
  using T = TypeParam;
  const char* value = std::getenv("BEESWAX_EXHAUSTIVE");
  if (value == nullptr || std::strcmp(value, "1") != 0) GTEST_SKIP() << "set BEESWAX_EXHAUSTIVE=1";
  const test::NarrowTable<T> table;
  ThreadPool::global().parallel_for(1 << 12, [&](int64_t task) {
    for (uint32_t i = 0; i < (1u << 20); ++i) {
      const float x = bit_cast<float>(static_cast<uint32_t>(task << 20) + i);
      ASSERT_TRUE(encodes(table, x));
    }
  });
}

}  // namespace
}  // namespace beeswax
