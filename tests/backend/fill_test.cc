// SPDX-License-Identifier: Apache-2.0
// Constants and ranges on every dtype.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "beeswax/tensor.h"
#include "support/configurations.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/numbers.h"
#include "support/raw.h"

namespace beeswax {
namespace {

TEST(Fill, ConstantsOnEveryDtype) {
  for (DType dtype : test::arithmetic_dtypes()) {
    for (const Shape& shape : std::vector<Shape>{{}, {0}, {1}, {3, 5}, {1000, 1001}}) {
      const auto count = static_cast<size_t>(shape.elem_count());
      EXPECT_EQ(Tensor::full(shape, 7, dtype).to_doubles(), std::vector<double>(count, 7.0));
      EXPECT_EQ(Tensor::zeros(shape, dtype).to_doubles(), std::vector<double>(count, 0.0));
      EXPECT_EQ(Tensor::empty(shape, dtype).ones_like().to_doubles(), std::vector<double>(count, 1.0));
      EXPECT_EQ(Tensor::empty(shape, dtype).zeros_like().dtype(), dtype);
    }
  }
}

TEST(Fill, Errors) {
  EXPECT_ERROR(Tensor::zeros({2}, DType::F4), UnsupportedDType, "[zeros] not defined for [2] f4 cpu");
  EXPECT_ERROR(Tensor::ones({2}, DType::F8E8M0), UnsupportedDType, "[ones] not defined for [2] f8e8m0 cpu");
  EXPECT_ERROR(Tensor::full({2}, 300, DType::U8), InvalidArgument,
               "[full] the number 300 is not a value of u8");
  EXPECT_ERROR(Tensor::scalar(0.5, DType::I16), InvalidArgument, "[scalar] the number 0.5");
}

// Rounded once: the first or second neighbour of the exact value in a dtype is found by error in its ulp.
TEST(Range, FloatsRoundOnce) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3}) {
    for (const auto& [start, step] : std::vector<std::pair<double, double>>{{0, 1},
                                                                            {-3, 0.1},
                                                                            {1, 1.0 / 3},
                                                                            {100, -0.7},
                                                                            {1 + 0x1p-11, 0x1p-30},
                                                                            {0x1p24 - 999, 1},
                                                                            {-0x1p31 + 1, 3},
                                                                            {0x1p31 - 1001, 1},
                                                                            {0x1p31 - 7, 5},
                                                                            {17, -1.0 * (1 << 20)},
                                                                            {0x1p40, 0x1p31}}) {
      const Tensor x = Tensor::arange_step(start, start + 2000.5 * step, step, dtype);
      const std::vector<double> got = x.to_doubles();
      ASSERT_EQ(got.size(), 2001u);
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_LE(test::ulp_error(dtype, got[i], start + static_cast<double>(i) * step), 0.5) << i;
    }
  }
}

TEST(Range, ZeroKeepsItsSign) {
  for (const double start : {0.0, -0.0}) {
    const std::vector<double> got = Tensor::arange_step(start, -100, -1, DType::F32).to_doubles();
    EXPECT_EQ(std::signbit(got[0]), std::signbit(start + 0 * -1.0)) << start;
    EXPECT_EQ(got[99], -99);
  }
}

TEST(Range, WholeNumbers) {
  EXPECT_EQ(Tensor::arange(2, 6, DType::I64).to_vec<int64_t>(), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(Tensor::arange_step(5, -2, -3, DType::I16).to_vec<int16_t>(), (std::vector<int16_t>{5, 2, -1}));
  EXPECT_EQ(Tensor::arange_step(250, 255, 2, DType::U8).to_vec<uint8_t>(),
            (std::vector<uint8_t>{250, 252, 254}));
  EXPECT_EQ(Tensor::arange_step(10, 3, -4, DType::U8).to_vec<uint8_t>(), (std::vector<uint8_t>{10, 6}));
  const int64_t large = int64_t{1} << 60;
  EXPECT_EQ(Tensor::arange_step(large, large + 5, 2, DType::I64).to_vec<int64_t>(),
            (std::vector<int64_t>{large, large + 2, large + 4}));
  EXPECT_EQ(Tensor::arange(5, 5, DType::U32).shape(), Shape({0}));
  EXPECT_EQ(Tensor::arange(5, 2, DType::U32).shape(), Shape({0}));
}

TEST(Range, WholeNumbersToTheEdges) {
  const std::vector<uint8_t> bytes = Tensor::arange(0, 256, DType::U8).to_vec<uint8_t>();
  ASSERT_EQ(bytes.size(), 256u);
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(bytes[i], i);
  EXPECT_EQ(Tensor::arange_step(2, -1, -1, DType::U8).to_vec<uint8_t>(), (std::vector<uint8_t>{2, 1, 0}));
  const int64_t step = (int64_t{1} << 62) + 1;
  EXPECT_EQ(Tensor::arange_step(INT64_MIN, INT64_MAX, step, DType::I64).to_vec<int64_t>(),
            (std::vector<int64_t>{INT64_MIN, INT64_MIN + step, INT64_MIN + step + step,
                                  INT64_MIN + step + step + step}));
  EXPECT_EQ(Tensor::arange_step(INT64_MAX, INT64_MIN, INT64_MIN, DType::I64).to_vec<int64_t>(),
            (std::vector<int64_t>{INT64_MAX, -1}));
  // The end is not one of the values: it may be any number.
  EXPECT_EQ(Tensor::arange_step(INT64_MAX - 2, uint64_t{1} << 63, 1, DType::I64).to_vec<int64_t>(),
            (std::vector<int64_t>{INT64_MAX - 2, INT64_MAX - 1, INT64_MAX}));
  EXPECT_EQ(Tensor::arange_step(INT64_MIN + 1, -1e30, -1, DType::I64).to_vec<int64_t>(),
            (std::vector<int64_t>{INT64_MIN + 1, INT64_MIN}));
  EXPECT_EQ(Tensor::arange(0, 2.5, DType::I32).to_vec<int32_t>(), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(Tensor::arange(0, 2.0, DType::I32).to_vec<int32_t>(), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(Tensor::arange_step(0, -2.5, -1, DType::I32).to_vec<int32_t>(),
            (std::vector<int32_t>{0, -1, -2}));
  EXPECT_EQ(Tensor::arange(0, INT64_MIN, DType::I64).shape(), Shape({0}));
  EXPECT_EQ(Tensor::arange_step(0, INT64_MAX, -1, DType::I64).shape(), Shape({0}));
  EXPECT_EQ(Tensor::arange(0, -1e30, DType::I64).shape(), Shape({0}));
  EXPECT_EQ(Tensor::arange_step(0, 1e30, -1, DType::I64).shape(), Shape({0}));
  EXPECT_ERROR(Tensor::arange(INT64_MIN, 1e30, DType::I64), TooLarge, "more than 2^60 elements");
  EXPECT_ERROR(Tensor::arange(0, 1e30, DType::I32), TooLarge, "more than 2^60 elements");
  EXPECT_ERROR(Tensor::arange_step(0, 3, 0.5, DType::I32), InvalidArgument,
               "[arange_step] steps of 0.5 do not lead to values of i32; accepted: whole numbers");
}

TEST(Range, EndsFarApart) {
  EXPECT_EQ(Tensor::arange_step(-1e308, 1e308, 1.5e308, DType::F64).to_vec<double>(),
            (std::vector<double>{-1e308, -1e308 + 1.5e308}));
  EXPECT_EQ(Tensor::arange_step(DBL_MAX, -DBL_MAX, -DBL_MAX, DType::F64).to_vec<double>(),
            (std::vector<double>{DBL_MAX, 0}));
  EXPECT_EQ(Tensor::arange_step(1e308, -1e308, 1e307, DType::F64).shape(), Shape({0}));
  EXPECT_ERROR(
      Tensor::arange_step(-1e308, 1e308, 1e307, DType::F64), InvalidArgument,
      "[arange_step] from -1e+308 to 1e+308 in steps of 1e+307: the last value is farther from the first");
  EXPECT_ERROR(Tensor::arange_step(-1e308, 1e308, 1, DType::F64), TooLarge, "more than 2^60 elements");
}

TEST(Range, Errors) {
  EXPECT_ERROR(Tensor::arange_step(0, 5, 0, DType::I32), InvalidArgument,
               "[arange_step] from 0 to 5 in steps of 0; accepted: any other step");
  EXPECT_ERROR(Tensor::arange_step(0, 5, 0, DType::F32), InvalidArgument,
               "[arange_step] from 0 to 5 in steps of 0; accepted: any other step");
  EXPECT_ERROR(Tensor::arange(0, 300, DType::U8), InvalidArgument,
               "[arange] the number 299 is not a value of u8");
  EXPECT_ERROR(Tensor::arange(0, 257, DType::U8), InvalidArgument, "[arange] the number 256");
  EXPECT_ERROR(Tensor::arange_step(2, -2, -1, DType::U8), InvalidArgument, "[arange_step] the number -1");
  EXPECT_ERROR(Tensor::arange(0.5, 3, DType::I32), InvalidArgument, "[arange] the number 0.5");
  EXPECT_ERROR(Tensor::arange_step(0, 1, 1e-30, DType::F64), TooLarge,
               "[arange_step] from 0 to 1 in steps of 1e-30");
  EXPECT_ERROR(Tensor::arange(INT64_MIN, INT64_MAX, DType::I64), TooLarge, "has more than 2^60 elements");
  for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_ERROR(Tensor::arange(0, bad, DType::F32), InvalidArgument, "accepted: finite numbers");
    EXPECT_ERROR(Tensor::arange_step(0, 1, bad, DType::F64), InvalidArgument, "[arange_step] from 0 to 1");
    EXPECT_ERROR(Tensor::arange(bad, 1, DType::I32), InvalidArgument, "[arange]");
  }
  EXPECT_ERROR(Tensor::arange(0, 3, DType::F4), UnsupportedDType, "[arange] not defined for [0] f4");
}

TEST(Range, SameBitsEverywhere) {
  for (DType dtype : test::arithmetic_dtypes())
    test::expect_same_everywhere(
        [&] { return Tensor::arange_step(0, 100, dtype_is_int(dtype) ? Scalar(1) : Scalar(1e-3), dtype); });
  const std::vector<int32_t> x = Tensor::arange(0, 300000, DType::I32).to_vec<int32_t>();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<int32_t>(i));
}

}  // namespace
}  // namespace beeswax
