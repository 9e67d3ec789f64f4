// SPDX-License-Identifier: Apache-2.0
// m::convert between every two element types, against exact reasoning in long double (which holds every value
// of every type): all values of sources of up to 16 bits, edges and random values of the others.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "core/math/math.h"
#include "math/narrow_table.h"

namespace beeswax {
namespace {

template <class T>
constexpr bool kNarrow = m::Narrow<T>;

template <class T>
long double exact(T x) {
  if constexpr (kNarrow<T>) {
    return test::narrow_value<T>(x.bits);
  } else {
    return static_cast<long double>(x);
  }
}

template <class T>
const test::NarrowTable<T>& table() {
  static const test::NarrowTable<T> kTable;
  return kTable;
}

/// Whether `got` is what converting the number x to a To must give.
template <class To>
bool right(To got, long double x) {
  if constexpr (kNarrow<To>) {
    if (std::isnan(x)) return std::isnan(test::narrow_value<To>(got.bits));
    return got.bits == table<To>().nearest(x);
  } else if constexpr (m::Floating<To>) {
    if (std::isnan(x)) return std::isnan(got);
    if (std::signbit(got) != std::signbit(x)) return false;
    if (std::isinf(x)) return static_cast<long double>(got) == x;
    using L = std::numeric_limits<To>;
    // The number that would follow the largest stands for infinity.
    const long double limit = std::ldexp(1.0L, L::max_exponent);
    const auto value = [&](To y) {
      return std::isinf(y) ? std::copysign(limit, static_cast<long double>(y)) : static_cast<long double>(y);
    };
    const long double error = std::fabs(value(got) - x);
    for (To neighbour : {std::nextafter(got, L::infinity()), std::nextafter(got, -L::infinity())}) {
      const long double other = std::fabs(value(neighbour) - x);
      if (neighbour != got && (other < error || (other == error && (m::bits(got) & 1) != 0))) return false;
    }
    return true;
  } else {
    using L = std::numeric_limits<To>;
    if (std::isnan(x)) return got == 0;
    const long double whole = std::trunc(x);
    const long double low = static_cast<long double>(L::min()), high = static_cast<long double>(L::max());
    return static_cast<long double>(got) == (whole < low ? low : whole > high ? high : whole);
  }
}

template <class T>
std::vector<T> sources() {
  std::vector<T> out;
  std::mt19937_64 random(3);
  if constexpr (sizeof(T) <= 2) {
    for (uint32_t pattern = 0; pattern < (1u << (8 * sizeof(T))); ++pattern) {
      if constexpr (sizeof(T) == 1) {
        out.push_back(bit_cast<T>(static_cast<uint8_t>(pattern)));
      } else {
        out.push_back(bit_cast<T>(static_cast<uint16_t>(pattern)));
      }
    }
  } else if constexpr (m::Integer<T>) {
    using L = std::numeric_limits<T>;
    const auto add = [&](T x) {
      out.push_back(x);
      if constexpr (L::is_signed) out.push_back(static_cast<T>(T(0) - x));
    };
    for (int i = -3; i <= 3; ++i) {
      add(static_cast<T>(L::max() + static_cast<T>(i)));
      add(static_cast<T>(L::min() + static_cast<T>(i)));
    }
    for (int bit = 0; bit < L::digits; ++bit) {
      // Around powers of two, and around the midpoints that each precision has just above them.
      for (int precision : {4, 8, 11, 24, 53}) {
        const T power = static_cast<T>(T(1) << bit);
        const T half = bit >= precision ? static_cast<T>(T(1) << (bit - precision)) : T(0);
        for (T step : {T(0), half, static_cast<T>(half * 3), static_cast<T>(half * 5)})
          for (int i = -2; i <= 2; ++i) add(static_cast<T>(power + step + static_cast<T>(i)));
      }
    }
    for (int i = 0; i < 20000; ++i) add(static_cast<T>(random() >> (random() % 64)));
  } else {
    using L = std::numeric_limits<T>;
    const auto add = [&](T x) {
      T up = x, down = x;
      for (int i = 0; i < 3; ++i) {
        for (T value : {up, down, -up, -down}) out.push_back(value);
        up = std::nextafter(up, L::infinity());
        down = std::nextafter(down, -L::infinity());
      }
    };
    for (T x : {T(0), L::denorm_min(), L::min(), L::max(), L::infinity(), L::quiet_NaN()}) add(x);
    for (long double x : {127.0L,
                          255.0L,
                          256.0L,
                          32767.0L,
                          32768.0L,
                          65535.0L,
                          2147483647.0L,
                          2147483648.0L,
                          4294967295.0L,
                          4294967296.0L,
                          9223372036854775807.0L,
                          9223372036854775808.0L,
                          65504.0L,
                          65520.0L,
                          448.0L,
                          464.0L,
                          480.0L,
                          3.4028234663852885981e38L,
                          3.40282356779733661637e38L,
                          3.3895313892515354759e38L,
                          3.396177e38L,
                          0x1p-149L,
                          0x1p-150L,
                          0x1p-133L,
                          0x1p-134L,
                          0x1p-24L,
                          0x1p-25L,
                          0x1p-9L,
                          0x1p-10L})
      add(static_cast<T>(x));
    for (int e = -160; e < 130; ++e) {
      // Values, midpoints, and what lies a little off a midpoint: where rounding twice would go wrong.
      for (int precision : {4, 8, 11, 24}) {
        const T unit = std::ldexp(T(1), -precision);
        for (int k = 0; k < 8; ++k)
          for (int tiny : {-1, 0, 1})
            add(std::ldexp(T(1) + T(k) * unit + static_cast<T>(tiny) * std::ldexp(T(1), -precision - 18), e));
      }
    }
    for (int i = 0; i < 60; ++i) add(static_cast<T>(i) / 2);
    using Pattern = m::Bits<T>;
    for (int i = 0; i < 20000; ++i) out.push_back(bit_cast<T>(static_cast<Pattern>(random())));
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    for (int i = 0; i < 20000; ++i)
      out.push_back(static_cast<T>(unit(random) * std::exp2(72 * unit(random))));
  }
  return out;
}

template <class To, class From>
void check_pair(const std::vector<From>& inputs) {
  size_t wrong = 0;
  for (From from : inputs) {
    const long double x = exact(from);
    const To got = m::convert<To>(from);
    if (!right(got, x) && wrong++ < 3)
      ADD_FAILURE() << "from " << sizeof(From) << " bytes to " << sizeof(To) << " bytes: " << x << " became "
                    << exact(got);
  }
  EXPECT_EQ(wrong, 0u) << "of " << inputs.size();
}

template <class T>
class Convert : public testing::Test {};
using All = testing::Types<uint8_t, uint32_t, int16_t, int32_t, int64_t, bf16, f16, float, double, f8e4m3>;
TYPED_TEST_SUITE(Convert, All);

TYPED_TEST(Convert, ToEveryTypeOnceRounded) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const std::vector<TypeParam> inputs = sources<TypeParam>();
  check_pair<uint8_t>(inputs);
  check_pair<uint32_t>(inputs);
  check_pair<int16_t>(inputs);
  check_pair<int32_t>(inputs);
  check_pair<int64_t>(inputs);
  check_pair<bf16>(inputs);
  check_pair<f16>(inputs);
  check_pair<float>(inputs);
  check_pair<double>(inputs);
  check_pair<f8e4m3>(inputs);
}

TEST(ConvertExamples, RoundOnce) {
  // 1 + 2^-11 lies between two f16 values; a little above it must go up, though float would forget the
  // little.
  EXPECT_EQ(m::convert<f16>(1.0 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(m::convert<f16>(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(m::convert<bf16>(int64_t{0x0101'0000'0000'0000}).bits, 0x5b80);  // a tie
  EXPECT_EQ(m::convert<bf16>(int64_t{0x0101'0000'0000'0001}).bits, 0x5b81);
  EXPECT_EQ(m::convert<f8e4m3>(1e300).bits, 0x7e);
  EXPECT_EQ(m::convert<f16>(1e300).bits, 0x7c00);
  EXPECT_EQ(m::convert<uint8_t>(int32_t{-5}), 0);
  EXPECT_EQ(m::convert<int16_t>(uint32_t{4000000000u}), 32767);
  EXPECT_EQ(m::convert<int64_t>(9.3e18), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(m::convert<uint32_t>(-0.9f), 0u);
}

}  // namespace
}  // namespace beeswax
