// SPDX-License-Identifier: Apache-2.0
// The exact operations of core/math against the C library's exact ones, and the wrapping integer operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "core/math/math.h"
#include "math/reference.h"

namespace beeswax {
namespace {

__extension__ typedef __int128 Wide;

/// Special values, all exponents, halves and neighbours of integers.
template <class T>
std::vector<T> interesting() {
  using L = std::numeric_limits<T>;
  std::vector<T> out = {0,
                        L::min(),
                        L::denorm_min(),
                        L::max(),
                        L::infinity(),
                        L::quiet_NaN(),
                        T(1),
                        T(0.5),
                        T(1.5),
                        T(2.5),
                        T(3.5),
                        L::epsilon(),
                        T(1) - L::epsilon(),
                        T(1e-10),
                        L::min() - L::denorm_min()};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(1.0, 2.0);
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; ++e) {
    for (int i = 0; i < 16; ++i) out.push_back(std::ldexp(static_cast<T>(unit(random)), e));
  }
  for (int i = 1; i <= L::digits + 2; ++i) {
    const T base = std::ldexp(T(1), i);
    for (T offset : {T(-1.5), T(-1), T(-0.5), T(0), T(0.5), T(1), T(1.5), T(2.5)}) {
      const T value = base + offset;
      out.push_back(value);
      out.push_back(std::nextafter(value, T(0)));
      out.push_back(std::nextafter(value, L::infinity()));
    }
  }
  const size_t count = out.size();
  for (size_t i = 0; i < count; ++i) out.push_back(-out[i]);
  return out;
}

template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
class MathBasic : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(MathBasic, Floats);

TYPED_TEST(MathBasic, RoundingMatchesTheLibrary) {
  using T = TypeParam;
  for (T x : interesting<T>()) {
    EXPECT_TRUE(same(m::floor(x), std::floor(x))) << x;
    EXPECT_TRUE(same(m::ceil(x), std::ceil(x))) << x;
    EXPECT_TRUE(same(m::trunc(x), std::trunc(x))) << x;
    EXPECT_TRUE(same(m::round_away(x), std::round(x))) << x;
    EXPECT_TRUE(same(m::round_even(x), std::nearbyint(x))) << x;
    EXPECT_TRUE(same(m::abs(x), std::fabs(x))) << x;
    EXPECT_TRUE(same(m::sqrt(x), std::sqrt(x))) << x;
    EXPECT_TRUE(same(m::recip(x), T(1) / x)) << x;
    EXPECT_EQ(m::is_nan(x), std::isnan(x)) << x;
    EXPECT_EQ(m::sign(x), x > 0 ? T(1) : x < 0 ? T(-1) : T(0)) << x;
  }
}

TYPED_TEST(MathBasic, MinimumAndMaximumFollowIeee754Of2019) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> values = {-inf,    T(-2), T(-1), -std::numeric_limits<T>::denorm_min(),
                                 T(-0.0), T(0),  T(1),  inf};
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      EXPECT_TRUE(same(m::minimum(values[i], values[j]), values[std::min(i, j)])) << i << " " << j;
      EXPECT_TRUE(same(m::maximum(values[i], values[j]), values[std::max(i, j)])) << i << " " << j;
    }
    EXPECT_TRUE(std::isnan(m::minimum(values[i], nan)));
    EXPECT_TRUE(std::isnan(m::minimum(nan, values[i])));
    EXPECT_TRUE(std::isnan(m::maximum(values[i], -nan)));
    EXPECT_TRUE(std::isnan(m::maximum(-nan, values[i])));
  }
}

// The terms of a softmax: quotients of them are those of e^x, and none is subnormal.
TYPED_TEST(MathBasic, ScaledExpIsExpForArgumentsUpToZero) {
  using T = TypeParam;
  const long double unit = m::scaled_exp_unit<T>();
  const T least = m::kLeastScaledExp<T>;
  double worst = 0, worst_short = 0;
  for (int i = 0; i <= 200000; ++i) {
    const T x = least * static_cast<T>(i) / T(200000);
    const long double exact = std::exp(static_cast<long double>(x)) * unit;
    worst = std::max(worst, precise::error(m::scaled_exp(x), exact));
    if constexpr (sizeof(T) == 4) {
      const auto ratio = static_cast<double>(m::scaled_exp_short(x) / exact);
      worst_short = std::max(worst_short, std::fabs(ratio - 1));
    }
  }
  EXPECT_LE(worst, 1.1);  // that of exp
  EXPECT_LE(worst_short, 0x1p-15);
  EXPECT_EQ(m::scaled_exp(T(0)), m::scaled_exp_unit<T>());
  // The least result counts as 0 in the dtype.
  const T none = m::scaled_exp(least);
  EXPECT_GE(none, std::numeric_limits<T>::min());
  EXPECT_EQ(none * (T(1) / m::scaled_exp_unit<T>()), T(0));
  EXPECT_TRUE(std::isnan(m::scaled_exp(std::numeric_limits<T>::quiet_NaN())));
}

TYPED_TEST(MathBasic, SmallAngleFormsGiveTheSameBits) {
  using T = TypeParam;
  int small = 0;
  for (T x : interesting<T>()) {
    if (!m::is_small_angle(x)) continue;
    ++small;
    EXPECT_TRUE(same(m::sin_small(x), m::sin(x))) << x;
    EXPECT_TRUE(same(m::cos_small(x), m::cos(x))) << x;
    EXPECT_TRUE(same(m::tan_small(x), m::tan(x))) << x;
  }
  EXPECT_GT(small, 1000);
  EXPECT_FALSE(m::is_small_angle(std::numeric_limits<T>::quiet_NaN()));
}

TYPED_TEST(MathBasic, SinesAndCosinesOfTurns) {
  using T = TypeParam;
  const int digits = std::numeric_limits<T>::digits;
  std::mt19937_64 random(3);
  long double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    // Eighths of a turn, their neighbours, and any.
    const T eighth = static_cast<T>(i / 3 % 9) / 8, step = std::ldexp(T(1), -digits);
    const T near = std::clamp<T>(eighth + static_cast<T>(i % 3 - 1) * step, 0, 1);
    const T turn = i < 27 ? near : std::ldexp(static_cast<T>(random() >> (64 - digits)), -digits);
    T sine, cosine;
    m::sincos_turn(turn, &sine, &cosine);
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(turn);
    worst = std::max({worst, std::fabs(sine - std::sin(angle)), std::fabs(cosine - std::cos(angle))});
  }
  EXPECT_LE(worst, std::ldexp(2.0L, -digits));
  EXPECT_GT(worst, std::ldexp(0.5L, -digits));
}

TYPED_TEST(MathBasic, LogarithmsOfNormalNumbersAreTheSame) {
  using T = TypeParam;
  for (T x : interesting<T>()) {
    if (x <= 0 || !std::isnormal(x)) continue;
    EXPECT_TRUE(same(m::log_normal(x), m::log(x))) << x;
  }
}

// Every division that tanh makes, with every guess that a GPU may begin with. The reciprocal of a number
// whose bits are all ones may miss the nearest, but too little to show in what tanh makes of it.
TEST(MathDivide, TanhNeedsNoExactGuess) {
  for (uint32_t pattern = std::bit_cast<uint32_t>(0.8f); pattern <= std::bit_cast<uint32_t>(10.0f);
       ++pattern) {
    const float d = m::tanh_divisor(std::bit_cast<float>(pattern)), want = 1 - 2 / d, nearest = 1 / d;
    for (const float guess : {nearest, std::nextafter(nearest, 0.0f), std::nextafter(nearest, 1.0f)})
      ASSERT_EQ(1 - 2 * m::reciprocal_from_guess<2>(d, guess), want) << d;
  }
}

template <class T>
class MathInteger : public testing::Test {};
using Integers = testing::Types<uint8_t, uint32_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(MathInteger, Integers);

TYPED_TEST(MathInteger, WrapsAndTruncates) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           7,
                           100,
                           L::max(),
                           static_cast<T>(L::max() - 1),
                           L::min(),
                           static_cast<T>(L::min() + 1),
                           static_cast<T>(-1),
                           static_cast<T>(-7)};
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  for (T x : values) {
    const Wide wide = x;
    EXPECT_EQ(m::abs(x), static_cast<T>(wide < 0 ? -wide : wide));
    EXPECT_EQ(m::sign(x), static_cast<T>(wide > 0 ? 1 : wide < 0 ? -1 : 0));
    EXPECT_EQ(m::floor(x), x);
    EXPECT_EQ(m::ceil(x), x);
    EXPECT_EQ(m::round_away(x), x);
    for (T y : values) {
      EXPECT_EQ(m::minimum(x, y), std::min(x, y));
      EXPECT_EQ(m::maximum(x, y), std::max(x, y));
      const Wide quotient = y == 0 ? 0 : wide / static_cast<Wide>(y);
      EXPECT_EQ(m::div(x, y), static_cast<T>(quotient)) << +x << " / " << +y;
    }
  }
}

TEST(MathInteger, NarrowQuotientsAreExactForEveryPair) {
  for (int x = 0; x < 256; ++x) {
    for (int y = 1; y < 256; ++y) {
      ASSERT_EQ(m::div(static_cast<uint8_t>(x), static_cast<uint8_t>(y)), x / y);
    }
  }
  for (int y = -32768; y <= 32767; y += (y > -400 && y < 400) ? 1 : 37) {
    if (y == 0) continue;
    for (int x = -32768; x <= 32767; ++x) {
      ASSERT_EQ(m::div(static_cast<int16_t>(x), static_cast<int16_t>(y)), static_cast<int16_t>(x / y))
          << x << "/" << y;
    }
  }
}

// Beside the multiples of the divisor, where a quotient rounded up would show.
TEST(MathInteger, WordQuotientsAreExactBesideMultiples) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const auto y = static_cast<uint32_t>(random() >> (32 + random() % 32)) | 1u;
    const auto multiple = static_cast<uint32_t>(random() % (0x100000000u / y)) * y;
    for (const uint32_t x : {multiple - 1, multiple, multiple + 1, ~uint32_t{0}}) {
      ASSERT_EQ(m::div(x, y), x / y) << x << " / " << y;
      const auto signed_x = static_cast<int32_t>(x);
      const auto signed_y = static_cast<int32_t>(y);
      const int64_t quotient = int64_t{signed_x} / signed_y;
      ASSERT_EQ(m::div(signed_x, signed_y), static_cast<int32_t>(quotient)) << signed_x << " / " << signed_y;
    }
  }
}

}  // namespace
}  // namespace beeswax
