// SPDX-License-Identifier: Apache-2.0
// to_dtype between every pair of dtypes: one rounding, saturating, NaN to 0; then where, affine and clamp.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "support/devices.h"
#include "support/expect_error.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

// The nearest value of a float dtype, ties to even, from the real number x: found in integers of its ulp.
double nearest(DType dtype, long double x) {
  const test::FloatTraits traits = test::float_traits(dtype);
  if (std::isnan(x) || x == 0) return static_cast<double>(x);
  const long double gap = test::ulp(dtype, x);
  const long double rounded = std::nearbyint(x / gap) * gap;
  if (std::fabs(rounded) > static_cast<long double>(traits.largest))
    return std::copysign(traits.has_infinity ? HUGE_VAL : traits.largest, static_cast<double>(x));
  return static_cast<double>(rounded);
}

long double int_limit(DType dtype, bool upper) {
  switch (dtype) {
    case DType::U8:
      return upper ? 255 : 0;
    case DType::U32:
      return upper ? 4294967295.0L : 0;
    case DType::I16:
      return upper ? 32767 : -32768;
    case DType::I32:
      return upper ? 2147483647.0L : -2147483648.0L;
    default:
      return upper ? 9223372036854775807.0L : -9223372036854775808.0L;
  }
}

long double to_int(DType dtype, long double x) {
  if (std::isnan(x)) return 0;
  return std::fmin(std::fmax(std::trunc(x), int_limit(dtype, false)), int_limit(dtype, true));
}

using Case = std::tuple<DType, DType, Device>;
class CastTest : public testing::TestWithParam<Case> {};

TEST_P(CastTest, RoundsOnceAndSaturates) {
  const auto& [from, to, device] = GetParam();
  std::vector<long double> values;
  Tensor x;
  if (dtype_is_int(from)) {
    std::vector<int64_t> inputs = test::int_inputs(from, 2000, -70000, 70000, 1);
    for (int bit = 7; bit < 63; ++bit)  // halfway cases of every float dtype
      for (int64_t nudge : {-1, 0, 1})
        inputs.push_back((int64_t{1} << bit) + (int64_t{1} << (bit - std::min(bit, 4 + bit % 50))) + nudge);
    inputs.resize(2100);
    x = test::tensor_of(inputs, {21, 100}, from, device);
    for (int64_t v : x.to_dtype(DType::I64).to_vec<int64_t>()) values.push_back(static_cast<long double>(v));
  } else {
    std::vector<double> inputs = test::float_inputs(from, 2100, -70000, 70000, 1);
    if (from == DType::F64)  // what a detour through f32 would round twice
      for (size_t i = 0; i < 300; ++i)
        inputs[i + 200] = std::ldexp(1 + (static_cast<double>(2 * i + 1)) * 0x1p-11 +
                                         (i % 3 == 0   ? 0x1p-40
                                          : i % 3 == 1 ? -0x1p-40
                                                       : 0),
                                     static_cast<int>(i % 20) - 10);
    x = test::tensor_of(inputs, {21, 100}, from, device);
    for (double v : x.to_doubles()) values.push_back(v);
  }
  for (const Tensor& source : {x, test::strided_twin(x)}) {
    const Tensor y = source.to_dtype(to);
    ASSERT_EQ(y.dtype(), to);
    const std::vector<double> doubles = dtype_is_int(to) ? std::vector<double>() : y.to_doubles();
    const std::vector<int64_t> wholes =
        dtype_is_int(to) ? y.to_dtype(DType::I64).to_vec<int64_t>() : std::vector<int64_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (dtype_is_int(to)) {
        ASSERT_EQ(static_cast<long double>(wholes[i]), to_int(to, values[i]))
            << static_cast<double>(values[i]);
        continue;
      }
      // F8E4M3 saturates infinities too.
      const double want = from == to ? static_cast<double>(values[i]) : nearest(to, values[i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(doubles[i]));
        continue;
      }
      ASSERT_EQ(bit_cast<uint64_t>(doubles[i]), bit_cast<uint64_t>(want)) << static_cast<double>(values[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, CastTest,
                         testing::Combine(testing::ValuesIn(test::arithmetic_dtypes()),
                                          testing::ValuesIn(test::arithmetic_dtypes()),
                                          testing::ValuesIn(test::devices())),
                         [](const testing::TestParamInfo<Case>& info) {
                           return std::string(dtype_name(std::get<0>(info.param))) + "_to_" +
                                  std::string(dtype_name(std::get<1>(info.param))) + "_" +
                                  test::test_name(std::get<2>(info.param).to_string());
                         });

TEST(StorageDTypes, DecodeExactlyAndEncodeToNearest) {
  for (const Device& device : test::devices()) {
    const Tensor f4 = Tensor::from_bytes(
        std::vector<std::byte>{std::byte{0x10}, std::byte{0x7f}, std::byte{0xa5}}, {6}, DType::F4, device);
    EXPECT_EQ(f4.to_dtype(DType::F32).to_vec<float>(), (std::vector<float>{0, 0.5f, -6, 6, 3, -1}));
    for (DType dtype : {DType::F4, DType::F6E2M3, DType::F6E3M2, DType::F8E8M0}) {
      const int codes = 1 << dtype_bits(dtype);
      std::vector<std::byte> bytes(dtype_bytes(dtype, static_cast<size_t>(codes)));
      for (int code = 0, bits = dtype_bits(dtype); code < codes; ++code)
        for (int b = 0; b < bits; ++b)
          if (((code >> b) & 1) != 0)
            bytes[static_cast<size_t>((code * bits + b) / 8)] |= std::byte{1} << ((code * bits + b) % 8);
      const Tensor all_codes = Tensor::from_bytes(bytes, {codes}, dtype, device);
      const Tensor values = all_codes.to_dtype(DType::F32);
      EXPECT_EQ(values.to_dtype(dtype).to_bytes(), bytes) << dtype_name(dtype);
      EXPECT_ERROR(all_codes + all_codes, UnsupportedDType, "accepted dtypes: u8, u32");
    }
    const Tensor x = Tensor::from_vec(std::vector<float>{0.25f, 0.75f, 2.5f, 100, -100, 1.25f}, {6}, device);
    EXPECT_EQ(x.to_dtype(DType::F4).to_dtype(DType::F32).to_vec<float>(),
              (std::vector<float>{0, 1, 2, 6, -6, 1}));
    EXPECT_EQ(x.to_dtype(DType::F6E2M3).to_dtype(DType::F32).to_vec<float>(),
              (std::vector<float>{0.25f, 0.75f, 2.5f, 7.5f, -7.5f, 1.25f}));
    EXPECT_EQ(x.to_dtype(DType::F6E3M2).to_dtype(DType::F32).to_vec<float>(),
              (std::vector<float>{0.25f, 0.75f, 2.5f, 28, -28, 1.25f}));
    const Tensor strided = x.reshape({2, 3}).t();
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
      EXPECT_EQ(strided.to_dtype(dtype)
                    .to_dtype(DType::F6E3M2)
                    .to_dtype(dtype)
                    .to_dtype(DType::F32)
                    .to_vec<float>(),
                (std::vector<float>{0.25f, 28, 0.75f, -28, 2.5f, 1.25f}));
    EXPECT_ERROR(f4.narrow(0, 1, 2), UnsupportedDType, "packed below a byte");
  }
}

TEST(Where, PicksBitsOnEveryDType) {
  for (const Device& device : test::devices())
    for (DType dtype : test::arithmetic_dtypes())
      for (DType condition : {DType::U8, DType::U32, DType::I16, DType::I32, DType::I64}) {
        const Tensor c =
            Tensor::from_vec(std::vector<int64_t>{0, 1, 2, 0, 255, 0}, {2, 3}, device).to_dtype(condition);
        const Tensor t = Tensor::from_vec(std::vector<int64_t>{1, 2, 3}, {3}, device).to_dtype(dtype);
        const Tensor f = Tensor::from_vec(std::vector<int64_t>{10, 20}, {2, 1}, device).to_dtype(dtype);
        EXPECT_EQ(c.where_cond(t, f).to_doubles(), (std::vector<double>{10, 2, 3, 20, 2, 20}));
        EXPECT_EQ(c.t().contiguous().t().where_cond(t, f).to_doubles(),
                  (std::vector<double>{10, 2, 3, 20, 2, 20}));
      }
  const std::vector<uint32_t> nan_bits = {0x7fc12345u, 0xffabcdefu};
  const Tensor nans = Tensor::from_bytes(std::as_bytes(std::span(nan_bits)), {2}, DType::F32);
  EXPECT_EQ(Tensor::ones({2}, DType::U8).where_cond(nans, nans.zeros_like()).to_bytes(), nans.to_bytes());
  EXPECT_ERROR(nans.where_cond(nans, nans), UnsupportedDType, "accepted dtypes: u8, u32, i16, i32, i64");
  EXPECT_ERROR(
      Tensor::ones({2, 1}, DType::U8)
          .where_cond(Tensor::ones({3}, DType::F16), Tensor::ones({2, 4}, DType::F16)),
      ShapeMismatch,
      "[where_cond] cannot broadcast the condition [2, 1] u8 cpu, on_true [3] f16 cpu and on_false [2, 4] "
      "f16 cpu; accepted: sizes that are equal or 1, counted from the last axis");
}

TEST(Affine, ComputesInOneDTypeAndRoundsOnce) {
  const Tensor n = Tensor::from_vec(std::vector<uint8_t>{1, 100, 255}, {3});
  EXPECT_EQ(n.affine(3, 5).to_vec<uint8_t>(), (std::vector<uint8_t>{8, 49, 2}));
  EXPECT_ERROR(n.affine(0.5, 0), InvalidArgument, "[affine] the number 0.5 is not a value of u8");
  const Tensor h = Tensor::full({3}, 1024.0, DType::F16);
  EXPECT_EQ(h.affine(1.0009765625, 0.5).to_doubles(),
            (std::vector<double>{1026, 1026, 1026}));  // 1025.5, once
  const Tensor x = Tensor::from_vec(std::vector<float>{-2, 0.5f, NAN, 9}, {4});
  const std::vector<float> clamped = x.clamp(-1, 1).to_vec<float>();
  EXPECT_EQ(clamped[0], -1);
  EXPECT_EQ(clamped[1], 0.5f);
  EXPECT_TRUE(std::isnan(clamped[2]));
  EXPECT_EQ(clamped[3], 1);
  EXPECT_EQ(Tensor::from_vec(std::vector<float>{1.2345f, -2.5f, 1234.5f}, {3}).round_to(2).to_vec<float>(),
            (std::vector<float>{1.23f, -2.5f, 1234.5f}));
  EXPECT_EQ(Tensor::from_vec(std::vector<float>{1250, -449}, {2}).round_to(-2).to_vec<float>(),
            (std::vector<float>{1300, -400}));
}

TEST(RoundTo, NothingOverflowsOnTheWay) {
  // A number without digits so far to the right stays as it is; only a result can be out of range.
  EXPECT_EQ(Tensor::full({1}, 60000, DType::F16).round_to(1).to_doubles()[0], 60000);
  EXPECT_EQ(Tensor::full({1}, 1.2341, DType::F16).round_to(2).to_doubles()[0],
            Tensor::full({1}, 1.23, DType::F16).to_doubles()[0]);
  for (DType dtype : {DType::F32, DType::F64}) {
    const Tensor x =
        Tensor::from_vec(std::vector<double>{1e30, -1.5, 0, HUGE_VAL, -HUGE_VAL}, {5}).to_dtype(dtype);
    for (int decimals : {20, 30, 300, 400, INT32_MAX})
      EXPECT_EQ(x.round_to(decimals).to_doubles(), x.to_doubles()) << decimals;
    const std::vector<double> none = {0, 0, 0, HUGE_VAL, -HUGE_VAL};
    for (int decimals : {-35, -300, -400, INT32_MIN})
      EXPECT_EQ(x.round_to(decimals).to_doubles(), none) << decimals;
    EXPECT_TRUE(std::isnan(Tensor::full({1}, std::nan(""), dtype).round_to(-400).to_doubles()[0]));
  }
}

// Powers of ten beyond the dtype: only subnormal numbers have digits so far to the right.
TEST(RoundTo, DigitsOfSubnormals) {
  const double least = FLT_TRUE_MIN, least64 = DBL_TRUE_MIN;
  const Tensor x =
      Tensor::from_vec(std::vector<double>{3 * least, 4 * least, -4 * least, 2.4e-39, 1, HUGE_VAL}, {6})
          .to_dtype(DType::F32);
  EXPECT_EQ(x.round_to(44).to_doubles(),
            (std::vector<double>{0, 7 * least, -7 * least, 2.4e-39f, 1, HUGE_VAL}));
  EXPECT_EQ(x.round_to(39).to_doubles(), (std::vector<double>{0, 0, 0, 2e-39f, 1, HUGE_VAL}));
  EXPECT_EQ(x.round_to(45).to_doubles(), x.to_doubles());
  const Tensor y =
      Tensor::from_vec(std::vector<double>{least64, 2 * least64, -12 * least64, 2.4e-309, 1, -HUGE_VAL}, {6});
  EXPECT_EQ(y.round_to(323).to_doubles(),
            (std::vector<double>{0, 1e-323, -12 * least64, 2.4e-309, 1, -HUGE_VAL}));
  EXPECT_EQ(y.round_to(322).to_doubles(), (std::vector<double>{0, 0, -1e-322, 2.4e-309, 1, -HUGE_VAL}));
  EXPECT_EQ(y.round_to(309).to_doubles(), (std::vector<double>{0, 0, 0, 2e-309, 1, -HUGE_VAL}));
  EXPECT_EQ(y.round_to(324).to_doubles(), y.to_doubles());
}

TEST(RoundTo, IntegersSaturate) {
  constexpr int64_t kLow = INT64_MIN, kHigh = INT64_MAX, kHalf = 5'000'000'000'000'000'000;
  const Tensor x =
      Tensor::from_vec(std::vector<int64_t>{kHigh, kHalf, kHalf - 1, 0, -kHalf + 1, -kHalf, kLow}, {7});
  EXPECT_EQ(x.round_to(-19).to_vec<int64_t>(), (std::vector<int64_t>{kHigh, kHigh, 0, 0, 0, kLow, kLow}));
  EXPECT_EQ(x.round_to(-18).to_vec<int64_t>(),
            (std::vector<int64_t>{9 * (kHalf / 5), kHalf, kHalf, 0, -kHalf, -kHalf, -9 * (kHalf / 5)}));
  EXPECT_EQ(x.round_to(-20).to_vec<int64_t>(), std::vector<int64_t>(7, 0));
  EXPECT_EQ(x.round_to(INT32_MIN).to_vec<int64_t>(), std::vector<int64_t>(7, 0));
  const Tensor small = Tensor::from_vec(std::vector<int16_t>{32767, -32768, 4999}, {3});
  EXPECT_EQ(small.round_to(-4).to_vec<int16_t>(), (std::vector<int16_t>{30000, -30000, 0}));
  EXPECT_EQ(small.round_to(-5).to_vec<int16_t>(), (std::vector<int16_t>{0, 0, 0}));
  EXPECT_EQ(Tensor::full({1}, 255, DType::U8).round_to(-1).to_vec<uint8_t>(), std::vector<uint8_t>{255});
}

TEST(RoundTo, BeyondTheRangeIsInfinite) {
  EXPECT_EQ(Tensor::full({1}, DBL_MAX, DType::F64).round_to(-308).to_doubles()[0], HUGE_VAL);
  EXPECT_EQ(Tensor::full({1}, -FLT_MAX, DType::F32).round_to(-38).to_doubles()[0], -(3.0f * 1e38f));
  EXPECT_EQ(Tensor::full({1}, 1e308, DType::F64).round_to(-308).to_doubles()[0], 1e308);
  EXPECT_EQ(Tensor::full({1}, 448, DType::F8E4M3).round_to(-1).to_doubles()[0], 448);  // it has no infinity
}

TEST(RoundTo, EveryHalf) {
  std::vector<uint16_t> patterns(1 << 16);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const Tensor x = Tensor::from_bytes(std::as_bytes(std::span(patterns)), {1 << 16}, DType::F16);
  const std::vector<double> values = x.to_doubles();
  for (int decimals = -6; decimals <= 5; ++decimals) {
    const std::vector<double> got = x.round_to(decimals).to_doubles();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(values[i]);
      float want = value;
      if (decimals < 0) {
        // The nearest multiple; it fits a float, and is rounded to a half once.
        const double power = std::pow(10.0, -decimals);
        want = static_cast<float>(std::round(values[i] / power) * power);
      } else if (const auto power = static_cast<float>(std::pow(10.0, decimals));
                 std::fabs(value * power) < 0x1p24f) {
        want = std::round(value * power) / power;
      }
      const double rounded = f16_to_float(f16_from_float(want));
      ASSERT_TRUE(got[i] == rounded || (std::isnan(got[i]) && std::isnan(values[i])))
          << values[i] << " to " << decimals << ": " << got[i] << ", not " << rounded;
      if (std::isinf(got[i]) && std::isfinite(values[i])) {
        ASSERT_GE(std::fabs(want), 65520) << "only what no half is near to is infinite";
      }
    }
  }
}

TEST(RoundTo, Integers) {
  const std::vector<int64_t> values = {0, 4, 5, 14, 15, 126, 255};
  for (DType dtype : {DType::U8, DType::U32, DType::I16, DType::I32, DType::I64}) {
    const Tensor x = Tensor::from_vec(values, {7}).to_dtype(dtype);
    const auto rounded = [&](int decimals) {
      return x.round_to(decimals).to_dtype(DType::I64).to_vec<int64_t>();
    };
    EXPECT_EQ(rounded(2), values);
    EXPECT_EQ(rounded(-1), (std::vector<int64_t>{0, 0, 10, 10, 20, 130, dtype == DType::U8 ? 255 : 260}));
    EXPECT_EQ(rounded(-2), (std::vector<int64_t>{0, 0, 0, 0, 0, 100, dtype == DType::U8 ? 255 : 300}));
    EXPECT_EQ(rounded(-30), std::vector<int64_t>(7, 0));
  }
  EXPECT_EQ(Tensor::from_vec(std::vector<int16_t>{-15, -14, -32768}, {3}).round_to(-1).to_vec<int16_t>(),
            (std::vector<int16_t>{-20, -10, -32768}));
  EXPECT_EQ(Tensor::from_vec(std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MAX - 7}, {3})
                .round_to(-1)
                .to_vec<int64_t>(),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MAX - 7}));
  EXPECT_ERROR(Tensor::from_bytes(std::vector<std::byte>(1), {1}, DType::F8E8M0).round_to(1),
               UnsupportedDType, "[round_to] not defined for [1] f8e8m0");
}

}  // namespace
}  // namespace beeswax
