// SPDX-License-Identifier: Apache-2.0
// Numbers given to operations: what they become in each dtype.
#include "beeswax/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "beeswax/tensor.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

double as(DType dtype, const Scalar& value) { return value.to(dtype, "test").as_double(); }

TEST(Scalar, UnsignedBeyondInt64) {
  const Scalar large = uint64_t{1} << 63;
  EXPECT_FALSE(large.is_int());
  EXPECT_EQ(large.as_double(), 0x1p63);
  EXPECT_ERROR(large.to(DType::I64, "full"), InvalidArgument, "[full] the number 9223372036854775808");
  EXPECT_ERROR(Tensor::full({2}, UINT64_MAX, DType::I64), InvalidArgument, "is not a value of i64");
  EXPECT_EQ(Tensor::full({1}, UINT64_MAX, DType::F64).to_scalar<double>(), 0x1p64);
  EXPECT_EQ(Scalar(uint64_t{INT64_MAX}).as_int(), INT64_MAX);
  EXPECT_TRUE(Scalar(true).is_int());
}

TEST(Scalar, WholeFloatsOfTheWholeRange) {
  EXPECT_EQ(Scalar(-0x1p63).to(DType::I64, "test").as_int(), INT64_MIN);
  EXPECT_EQ(Scalar(9.215e18).to(DType::I64, "test").as_int(), 9215000000000000000);
  EXPECT_ERROR(Scalar(0x1p63).to(DType::I64, "test"), InvalidArgument, "[test] the number");
  for (double bad : {0.5, std::nan(""), HUGE_VAL, -HUGE_VAL})
    EXPECT_ERROR(Scalar(bad).to(DType::I32, "test"), InvalidArgument, "is not a value of i32");
  EXPECT_ERROR(Scalar(256).to(DType::U8, "test"), InvalidArgument,
               "the number 256 is not a value of u8; accepted: whole numbers from 0 to 255");
  EXPECT_ERROR(Scalar(-1).to(DType::U32, "test"), InvalidArgument,
               "the number -1 is not a value of u32; accepted: whole numbers from 0 to 4294967295");
  EXPECT_ERROR(Scalar(0x1p15).to(DType::I16, "test"), InvalidArgument, "from -32768 to 32767");
  EXPECT_ERROR(Scalar(0.5).to(DType::I64, "test"), InvalidArgument,
               "from -9223372036854775808 to 9223372036854775807");
}

// Values just beyond the middle between two neighbours: a rounding in between would lose what is beyond.
TEST(Scalar, RoundsOnce) {
  EXPECT_EQ(as(DType::F32, (int64_t{1} << 60) + (int64_t{1} << 36) + 1), 0x1p60 + 0x1p37);
  EXPECT_EQ(as(DType::F32, -(int64_t{1} << 60) - (int64_t{1} << 36) - 1), -0x1p60 - 0x1p37);
  // Beyond the integers and the doubles: as near to the middle as these numbers come, on both sides.
  const auto middle = uint64_t{1} << 63 | uint64_t{1} << 39;
  EXPECT_EQ(as(DType::F32, middle + 1), 0x1p63 + 0x1p40);
  EXPECT_EQ(as(DType::F32, middle), 0x1p63);
  EXPECT_EQ(as(DType::F32, middle + (uint64_t{1} << 40) - 1), 0x1p63 + 0x1p40);
  EXPECT_EQ(as(DType::F64, middle + 1), static_cast<double>(middle));
  EXPECT_EQ(as(DType::F32, UINT64_MAX), 0x1p64);
  if (std::numeric_limits<long double>::digits > 60) {
    EXPECT_EQ(as(DType::F32, 1 + 0x1p-24L + 0x1p-60L), 1 + 0x1p-23);
    EXPECT_EQ(as(DType::F32, -1 - 0x1p-24L - 0x1p-60L), -1 - 0x1p-23);
    EXPECT_EQ(as(DType::F32, 1 + 3 * 0x1p-24L - 0x1p-60L), 1 + 0x1p-23);
    EXPECT_EQ(as(DType::F16, 1 + 0x1p-11L + 0x1p-60L), 1 + 0x1p-10);
    EXPECT_EQ(as(DType::F64, 1 + 0x1p-60L), 1);
    EXPECT_EQ(as(DType::F32, std::numeric_limits<long double>::max()), HUGE_VAL);
    EXPECT_EQ(as(DType::F32, std::numeric_limits<long double>::denorm_min()), 0);
  }
  EXPECT_TRUE(std::isnan(as(DType::F32, std::numeric_limits<long double>::quiet_NaN())));
  EXPECT_EQ(as(DType::F16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(as(DType::BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(as(DType::F8E4M3, 1 + 0x1p-4 + 0x1p-40), 1 + 0x1p-3);
  EXPECT_EQ(as(DType::F16, 1 + 0x1p-11), 1);
  EXPECT_EQ(as(DType::F16, 1e6), HUGE_VAL);
  EXPECT_EQ(as(DType::F8E4M3, 1e6), 448);
  EXPECT_EQ(as(DType::F64, 0.1), 0.1);
  EXPECT_EQ(Tensor::full({1}, 1 + 0x1p-11 + 0x1p-40, DType::F16).to_doubles()[0], 1 + 0x1p-10);
  // affine computes narrow floats in f32, its numbers too.
  EXPECT_EQ(Tensor::ones({1}, DType::F16).affine(1, 0x1p-11).add(0).to_doubles()[0], 1);
  EXPECT_EQ(Tensor::full({1}, 2048, DType::F16).affine(1 + 0x1p-11 + 0x1p-20, 0).to_doubles()[0], 2050);
}

}  // namespace
}  // namespace beeswax
