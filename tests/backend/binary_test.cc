// SPDX-License-Identifier: Apache-2.0
// Every row of binary.def on every dtype and device: values against the row's oracle, comparisons, NumPy
// broadcasting, numbers on either side, and bad input.
#include <gtest/gtest.h>

#include <functional>

#include "support/devices.h"
#include "support/expect_error.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

enum class Dtypes { Float, Number };
enum class Guard { None, NonZero };

struct Row {
  const char* name;
  Dtypes dtypes;
  Guard guard;
  double ulp32, ulp64;
  double lo, hi;
  std::function<Tensor(const Tensor&, const Tensor&)> method;
  std::function<Tensor(const Tensor&, const Scalar&)> with_number;
  long double (*oracle)(long double x, long double y);
};

// NOLINTBEGIN(bugprone-macro-parentheses): the rows are expressions over x and y
const Row kRows[] = {
#define BW_BINARY(Name, method, dtypes, expr, guard, ulp32, ulp64, lo, hi, oracle, ...) \
  {#Name,                                                                               \
   Dtypes::dtypes,                                                                      \
   Guard::guard,                                                                        \
   ulp32,                                                                               \
   ulp64,                                                                               \
   lo,                                                                                  \
   hi,                                                                                  \
   [](const Tensor& a, const Tensor& b) { return a.method(b); },                        \
   [](const Tensor& a, const Scalar& b) { return a.method(b); },                        \
   [](long double x, long double y) -> long double { return oracle; }},
#include "tables/binary.def"
};

// How two numbers can stand to each other; a comparison row holds in an or of these.
enum Order { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };
Order order_of(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return Unordered;
  if (x == y) return Equal;
  return x < y ? Less : Greater;
}

struct Comparison {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> method;
  int holds;
};
const Comparison kComparisons[] = {
#define BW_COMPARE(Name, method, expr, holds, ...) \
  {#Name, [](const Tensor& a, const Tensor& b) { return a.method(b); }, (holds)},
#include "tables/binary.def"
};
// NOLINTEND(bugprone-macro-parentheses)

using Case = std::tuple<Row, DType, Device>;
class BinaryTest : public testing::TestWithParam<Case> {};

template <class Any>
std::string name_of(const testing::TestParamInfo<Any>& info) {
  const auto& [row, dtype, device] = info.param;
  return test::test_name(std::string(row.name) + "_" + std::string(dtype_name(dtype)) + "_" +
                         device.to_string());
}

int64_t wrapped(DType dtype, long double exact) {
  const auto whole = static_cast<int64_t>(exact);
  switch (dtype) {
    case DType::U8:
      return static_cast<uint8_t>(whole);
    case DType::U32:
      return static_cast<uint32_t>(whole);
    case DType::I16:
      return static_cast<int16_t>(whole);
    case DType::I32:
      return static_cast<int32_t>(whole);
    default:
      return whole;
  }
}

constexpr int64_t kRowsOf = 61;
constexpr int64_t kColumns = 67;
constexpr size_t kCount = kRowsOf * kColumns;

void check_ints(const Row& row, DType dtype, const Device& device) {
  const std::vector<int64_t> a = test::int_inputs(dtype, kCount, -1000, 1000, 1);
  std::vector<int64_t> b = test::int_inputs(dtype, kCount, -20, 20, 2);
  std::shuffle(b.begin(), b.end(), std::mt19937(3));
  if (row.guard == Guard::NonZero) std::replace(b.begin(), b.end(), int64_t{0}, int64_t{5});
  const Tensor x = test::tensor_of(a, {kRowsOf, kColumns}, dtype, device);
  const Tensor y = test::tensor_of(b, {kRowsOf, kColumns}, dtype, device);
  for (const auto& [left, right] :
       {std::pair(x, y), std::pair(test::strided_twin(x), y), std::pair(x, test::strided_twin(y))}) {
    const std::vector<int64_t> got = row.method(left, right).to_dtype(DType::I64).to_vec<int64_t>();
    for (size_t i = 0; i < kCount; ++i) {
      const long double exact = row.oracle(static_cast<long double>(a[i]), static_cast<long double>(b[i]));
      if (std::fabs(exact) >= 0x1p63L) continue;
      ASSERT_EQ(got[i], wrapped(dtype, exact)) << row.name << "(" << a[i] << ", " << b[i] << ")";
    }
  }
}

void check_floats(const Row& row, DType dtype, const Device& device) {
  std::vector<double> b = test::float_inputs(dtype, kCount, row.lo, row.hi, 2);
  std::shuffle(b.begin(), b.end(), std::mt19937(3));
  const Tensor x = test::tensor_of(test::float_inputs(dtype, kCount, row.lo, row.hi, 1), {kRowsOf, kColumns},
                                   dtype, device);
  const Tensor y = test::tensor_of(b, {kRowsOf, kColumns}, dtype, device);
  const std::vector<double> av = x.to_doubles();
  const std::vector<double> bv = y.to_doubles();
  double bound = dtype == DType::F64 ? row.ulp64 : row.ulp32;
  if (dtype_bits(dtype) < 32) bound = 0.5 + 0.002 * row.ulp32;
  for (const auto& [left, right] :
       {std::pair(x, y), std::pair(test::strided_twin(x), y), std::pair(x, test::strided_twin(y))}) {
    const std::vector<double> got = row.method(left, right).to_doubles();
    for (size_t i = 0; i < kCount; ++i) {
      const long double exact = row.oracle(av[i], bv[i]);
      ASSERT_LE(test::ulp_error(dtype, got[i], exact), bound)
          << row.name << "(" << av[i] << ", " << bv[i] << ") = " << got[i] << ", exactly " << exact;
    }
  }
}

TEST_P(BinaryTest, MatchesOracle) {
  const auto& [row, dtype, device] = GetParam();
  const Tensor empty = Tensor::zeros({0, 3}, dtype, device);
  if (row.dtypes == Dtypes::Float && dtype_is_int(dtype)) {
    EXPECT_ERROR(row.method(empty, empty), UnsupportedDType, "accepted dtypes: bf16, f16, f32, f64, f8e4m3");
    return;
  }
  EXPECT_EQ(row.method(empty, Tensor::ones({3}, dtype, device)).shape(), (Shape{0, 3}));
  if (dtype_is_int(dtype)) {
    check_ints(row, dtype, device);
  } else {
    check_floats(row, dtype, device);
  }
}

TEST_P(BinaryTest, NumberEqualsTensorOfIt) {
  const auto& [row, dtype, device] = GetParam();
  if (row.dtypes == Dtypes::Float && dtype_is_int(dtype)) return;
  const Tensor x =
      test::tensor_of(test::int_inputs(dtype == DType::F8E4M3 ? DType::U8 : DType::I16, 40, 1, 100, 3),
                      {8, 5}, dtype, device);
  const Tensor three = Tensor::scalar(3, dtype, device);
  EXPECT_EQ(row.with_number(x, 3).to_bytes(), row.method(x, three).to_bytes());
  EXPECT_EQ(row.with_number(x, 3.0).to_bytes(), row.method(x, three.broadcast_as({8, 5})).to_bytes());
}

// Operands that lie across the result go in tiles of 64 by 64, of 32 by 32 for dtypes of 8 bytes: whole ones,
// what is left at both ends, and batches of which an operand has one matrix alone.
TEST_P(BinaryTest, OperandsAcrossEachOther) {
  const auto& [row, dtype, device] = GetParam();
  if (row.dtypes == Dtypes::Float && dtype_is_int(dtype)) return;
  for (const Shape& shape : {Shape{9, 67}, Shape{70, 8}, Shape{2, 66, 40}}) {
    const auto count = static_cast<size_t>(shape.elem_count());
    const auto filled = [&](unsigned seed) {
      std::vector<int64_t> values = test::int_inputs(DType::U8, count, 1, 9, seed);
      std::replace(values.begin(), values.end(), int64_t{0}, int64_t{5});
      return test::tensor_of(values, shape, dtype, device);
    };
    const Tensor x = filled(1), y = filled(2);
    const auto across = [](const Tensor& z) { return z.t().copy().t(); };
    const auto expected = row.method(x, y).to_bytes();
    ASSERT_EQ(row.method(across(x), y).to_bytes(), expected);
    ASSERT_EQ(row.method(x, across(y)).to_bytes(), expected);
    ASSERT_EQ(row.method(across(x), across(y)).to_bytes(), expected);
    ASSERT_EQ(row.with_number(across(x), 3).to_bytes(), row.with_number(x, 3).to_bytes());
    if (shape.rank() == 2) continue;
    const Tensor one = x.narrow(0, 1, 1);
    ASSERT_EQ(row.method(across(one).broadcast_as(shape), y).to_bytes(),
              row.method(one.copy().broadcast_as(shape), y).to_bytes());
    ASSERT_EQ(row.method(y, across(one).broadcast_as(shape)).to_bytes(),
              row.method(y, one.copy().broadcast_as(shape)).to_bytes());
  }
  if (row.guard != Guard::NonZero || !dtype_is_int(dtype)) return;
  const Tensor x = Tensor::ones({65, 70}, dtype, device), y = Tensor::ones({70, 65}, dtype, device).t();
  y.narrow(0, 64, 1).narrow(1, 3, 1).zero_set();
  EXPECT_ERROR(row.method(x, y).to_bytes(), DivisionByZero, "at element 4483");
}

INSTANTIATE_TEST_SUITE_P(Rows, BinaryTest,
                         testing::Combine(testing::ValuesIn(kRows),
                                          testing::ValuesIn(test::arithmetic_dtypes()),
                                          testing::ValuesIn(test::devices())),
                         name_of<Case>);

using CompareCase = std::tuple<Comparison, DType, Device>;
class CompareTest : public testing::TestWithParam<CompareCase> {};

TEST_P(CompareTest, HoldsWhereItShould) {
  const auto& [row, dtype, device] = GetParam();
  std::vector<double> a = test::float_inputs(dtype_is_int(dtype) ? DType::F32 : dtype, 901, 0, 8, 1);
  std::vector<double> b = a;
  std::shuffle(b.begin(), b.end(), std::mt19937(3));
  for (size_t i = 0; i < a.size(); i += 3) b[i] = a[i];
  const Tensor x = test::tensor_of(a, {17, 53}, dtype, device);
  const Tensor y = test::tensor_of(b, {17, 53}, dtype, device);
  a = x.to_doubles();
  b = y.to_doubles();
  for (const Tensor& left : {x, test::strided_twin(x)}) {
    const Tensor result = row.method(left, y);
    ASSERT_EQ(result.dtype(), DType::U8);
    const std::vector<uint8_t> got = result.to_vec<uint8_t>();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[i], (row.holds & order_of(a[i], b[i])) != 0 ? 1 : 0)
          << row.name << "(" << a[i] << ", " << b[i] << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, CompareTest,
                         testing::Combine(testing::ValuesIn(kComparisons),
                                          testing::ValuesIn(test::arithmetic_dtypes()),
                                          testing::ValuesIn(test::devices())),
                         name_of<CompareCase>);

TEST(Binary, BroadcastsLikeNumPy) {
  const Tensor column = Tensor::from_vec(std::vector<float>{1, 2, 3}, {3, 1});
  const Tensor row = Tensor::from_vec(std::vector<float>{10, 20}, {2});
  EXPECT_EQ((column + row).to_vec<float>(), (std::vector<float>{11, 21, 12, 22, 13, 23}));
  EXPECT_EQ(column.broadcast_sub(row).shape(), (Shape{3, 2}));
  EXPECT_ERROR(Tensor::zeros({2, 3}, DType::F32) + Tensor::zeros({4}, DType::F32), ShapeMismatch,
               "[add] cannot broadcast [2, 3] f32 with [4]");
}

TEST(Binary, NumbersOnEitherSide) {
  const Tensor x = Tensor::from_vec(std::vector<float>{3, 7, 49}, {3});
  EXPECT_EQ((x / 3).to_vec<float>(),
            (std::vector<float>{1.0f, 7.0f / 3.0f, 49.0f / 3.0f}));  // divides, no 1/3
  EXPECT_EQ((1 / x).to_vec<float>(), (std::vector<float>{1.0f / 3.0f, 1.0f / 7.0f, 1.0f / 49.0f}));
  EXPECT_EQ((10 - x).to_vec<float>(), (std::vector<float>{7, 3, -39}));
  EXPECT_EQ((2.5 + x).to_vec<float>(), (std::vector<float>{5.5f, 9.5f, 51.5f}));
  const Tensor n = Tensor::from_vec(std::vector<int32_t>{7, -7, 9}, {3});
  EXPECT_EQ((n / 2).to_vec<int32_t>(), (std::vector<int32_t>{3, -3, 4}));
  EXPECT_ERROR(n * 0.5, InvalidArgument, "[mul] the number 0.5 is not a value of i32");
  EXPECT_ERROR(n.gt(int64_t{1} << 40), InvalidArgument,
               "[gt] the number 1099511627776 is not a value of i32");
}

TEST(Binary, IntegerDivision) {
  const Tensor x = Tensor::from_vec(std::vector<int32_t>{7, INT32_MIN, 5, 6}, {4});
  EXPECT_EQ((x / Tensor::from_vec(std::vector<int32_t>{2, -1, -3, 6}, {4})).to_vec<int32_t>(),
            (std::vector<int32_t>{3, INT32_MIN, -1, 1}));
  EXPECT_ERROR(x / Tensor::from_vec(std::vector<int32_t>{2, 1, 0, 6}, {4}), DivisionByZero,
               test::on_cpu() ? "[div] integer division by zero at element 2 of the divisor [4] i32"
                              : "[div] integer division by zero at element 2 of the result");
  // Of a divisor that is broadcast, the element is one of its own.
  const Tensor rows = Tensor::zeros({3, 4}, DType::I32);
  EXPECT_ERROR(rows / Tensor::from_vec(std::vector<int32_t>{2, 1, 0}, {3, 1}), DivisionByZero,
               test::on_cpu() ? "[div] integer division by zero at element 2 of the divisor [3, 1] i32"
                              : "[div] integer division by zero at element ");
  EXPECT_ERROR(rows / Tensor::from_vec(std::vector<int32_t>{2, 1, 5, 0}, {4}), DivisionByZero,
               test::on_cpu() ? "[div] integer division by zero at element 3 of the divisor [4] i32"
                              : "[div] integer division by zero at element ");
  EXPECT_ERROR(x / 0, DivisionByZero,
               test::on_cpu() ? "[div] integer division of [4] i32 by the number 0" : "by zero at element 0");
  EXPECT_ERROR(7 / Tensor::zeros({2}, DType::U8), DivisionByZero, "element 0");
  EXPECT_TRUE(std::isinf((1 / Tensor::zeros({2}, DType::F32)).to_doubles()[0]));
}

TEST(Binary, RefusesMixedDTypes) {
  EXPECT_ERROR(Tensor::zeros({2}, DType::F32) + Tensor::zeros({2}, DType::F16), DTypeMismatch,
               "[add] the dtypes of [2] f32 cpu and [2] f16 cpu differ; cast one side with to_dtype");
  EXPECT_ERROR(Tensor() + Tensor::zeros({2}, DType::F16), InvalidArgument, "undefined");
}

// x*y + z stays two roundings on every level.
TEST(Binary, NothingIsContracted) {
  const Tensor x = Tensor::full({64}, 1.0 + 0x1p-12, DType::F32);
  const std::vector<float> got = (x * x - x * x).to_vec<float>();
  for (float value : got) ASSERT_EQ(value, 0.0f);
  const std::vector<float> affine = x.affine(1.0 + 0x1p-12, -1.0).to_vec<float>();
  const float product = (1.0f + 0x1p-12f) * (1.0f + 0x1p-12f);
  for (float value : affine) ASSERT_EQ(value, product - 1.0f);
}

}  // namespace
}  // namespace beeswax
