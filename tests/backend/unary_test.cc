// SPDX-License-Identifier: Apache-2.0
// Every row of unary.def on every dtype and device, against the row's oracle in long double.
#include <gtest/gtest.h>

#include <functional>

#include "backends/cpu/isa.h"
#include "core/math/math.h"
#include "core/thread_pool.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/numbers.h"
#include "support/unary_parameters.h"

namespace beeswax {
namespace {

enum class Dtypes { Float, Number };

struct Row {
  const char* name;
  Dtypes dtypes;
  double ulp32, ulp64;
  double lo, hi;
  bool has_half;
  double param;
  std::function<Tensor(const Tensor&, double)> method;
  long double (*oracle)(long double x, long double p);
};

struct Same {};
constexpr bool is_half(Same) { return false; }
constexpr bool is_half(double) { return true; }

// NOLINTBEGIN(bugprone-macro-parentheses): the rows are expressions over x and p
const Row kRows[] = {
#define BW_HAS_HALF(half)                            \
  [] {                                               \
    using T [[maybe_unused]] = float;                \
    [[maybe_unused]] const float x = 1.0f, p = 1.0f; \
    [[maybe_unused]] constexpr Same SAME;            \
    return is_half(half);                            \
  }()
#define BW_UNARY(Name, method, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, ...) \
  {#Name,                                                                             \
   Dtypes::dtypes,                                                                    \
   ulp32,                                                                             \
   ulp64,                                                                             \
   lo,                                                                                \
   hi,                                                                                \
   BW_HAS_HALF(half),                                                                 \
   0,                                                                                 \
   [](const Tensor& t, double) { return t.method(); },                                \
   [](long double x, [[maybe_unused]] long double p) -> long double { return oracle; }},
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ulp32, ulp64, lo, hi, oracle, ...) \
  {#Name,                                                                                          \
   Dtypes::dtypes,                                                                                 \
   ulp32,                                                                                          \
   ulp64,                                                                                          \
   lo,                                                                                             \
   hi,                                                                                             \
   BW_HAS_HALF(half),                                                                              \
   test::unary_parameters(#param)[0],                                                              \
   [](const Tensor& t, double p) { return t.method(p); },                                          \
   [](long double x, long double p) -> long double { return oracle; }},
#include "tables/unary.def"
};
// NOLINTEND(bugprone-macro-parentheses)

using Case = std::tuple<Row, DType, Device>;
class UnaryTest : public testing::TestWithParam<Case> {};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const auto& [row, dtype, device] = info.param;
  return test::test_name(std::string(row.name) + "_" + std::string(dtype_name(dtype)) + "_" +
                         device.to_string());
}

void check_ints(const Row& row, DType dtype, const Device& device) {
  const std::vector<int64_t> inputs = test::int_inputs(dtype, 1501, -1000, 1000, 1);
  const Tensor x = test::tensor_of(inputs, {19, 79}, dtype, device);
  for (const Tensor& from : {x, test::strided_twin(x)}) {
    const std::vector<int64_t> got = row.method(from, row.param).to_dtype(DType::I64).to_vec<int64_t>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const long double exact = row.oracle(static_cast<long double>(inputs[i]), 0);
      if (std::fabs(exact) >= 0x1p63L) continue;  // wrapping beyond 64 bits has a test of its own
      const std::vector<int64_t> wrapped = {static_cast<int64_t>(exact)};
      int64_t want = wrapped[0];
      switch (dtype) {
        case DType::U8:
          want = static_cast<uint8_t>(want);
          break;
        case DType::U32:
          want = static_cast<uint32_t>(want);
          break;
        case DType::I16:
          want = static_cast<int16_t>(want);
          break;
        case DType::I32:
          want = static_cast<int32_t>(want);
          break;
        default:
          break;
      }
      ASSERT_EQ(got[i], want) << row.name << "(" << inputs[i] << ")";
    }
  }
}

void check_floats(const Row& row, DType dtype, const Device& device) {
  const int64_t rows = dtype == DType::F32 || dtype == DType::F64 ? 211 : 101;
  const Shape shape{rows, 79};
  const auto count = static_cast<size_t>(shape.elem_count());
  const Tensor x = test::tensor_of(test::float_inputs(dtype, count, row.lo, row.hi, 1), shape, dtype, device);
  const std::vector<double> inputs = x.to_doubles();
  const bool narrow = dtype_bits(dtype) < 32;
  const long double param = narrow || dtype == DType::F32 ? static_cast<float>(row.param) : row.param;
  // A narrow result is the f32 one rounded once; a row's second expression may err by 2^-14 before that.
  double bound = dtype == DType::F64 ? row.ulp64 : row.ulp32;
  if (narrow) bound = 0.5 + (row.has_half ? 0.13 : 0.002 * row.ulp32);
  for (const Tensor& from : {x, test::strided_twin(x)}) {
    const std::vector<double> got = row.method(from, row.param).to_doubles();
    for (size_t i = 0; i < count; ++i) {
      const long double exact = row.oracle(static_cast<long double>(inputs[i]), param);
      ASSERT_LE(test::ulp_error(dtype, got[i], exact), bound)
          << row.name << "(" << inputs[i] << ") = " << got[i] << ", exactly " << exact;
    }
  }
}

TEST_P(UnaryTest, MatchesOracle) {
  const auto& [row, dtype, device] = GetParam();
  const Tensor empty = Tensor::zeros({0, 3}, dtype, device);
  if (row.dtypes == Dtypes::Float && dtype_is_int(dtype)) {
    EXPECT_ERROR(row.method(empty, row.param), UnsupportedDType,
                 "accepted dtypes: bf16, f16, f32, f64, f8e4m3");
    return;
  }
  EXPECT_EQ(row.method(empty, row.param).shape(), (Shape{0, 3}));
  EXPECT_EQ(row.method(Tensor::ones({}, dtype, device), row.param).shape(), Shape());
  if (dtype_is_int(dtype)) {
    check_ints(row, dtype, device);
  } else {
    check_floats(row, dtype, device);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, UnaryTest,
                         testing::Combine(testing::ValuesIn(kRows),
                                          testing::ValuesIn(test::arithmetic_dtypes()),
                                          testing::ValuesIn(test::devices())),
                         name_of);

// Every number of a narrow dtype, for the rows that have an expression of their own for it: what those leave
// out must not show anywhere.
TEST(UnaryHalf, EveryNumber) {
  for (const DType dtype : {DType::F16, DType::BF16, DType::F8E4M3}) {
    const int64_t count = int64_t{1} << dtype_bits(dtype);
    std::vector<double> numbers;
    for (int64_t pattern = 0; pattern < count; ++pattern) {
      const auto bits = static_cast<uint16_t>(pattern);
      numbers.push_back(static_cast<double>(dtype == DType::F16 ? f16_to_float(bits)
                                            : dtype == DType::BF16
                                                ? bf16_to_float(bits)
                                                : f8e4m3_to_float(static_cast<uint8_t>(bits))));
    }
    const Tensor x = test::tensor_of(numbers, {count}, dtype);
    for (const Row& row : kRows) {
      if (!row.has_half) continue;
      const Tensor y = row.method(x, row.param);
      const std::vector<double> got = y.to_doubles();
      const std::vector<double> on_cpu = row.method(x.to_device(Device::cpu()), row.param).to_doubles();
      for (size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_TRUE(got[i] == on_cpu[i] || (std::isnan(got[i]) && std::isnan(on_cpu[i])))
            << row.name << " " << dtype_name(dtype) << "(" << numbers[i] << "): " << got[i] << ", on the CPU "
            << on_cpu[i];
        const long double exact =
            row.oracle(static_cast<long double>(numbers[i]), static_cast<long double>(row.param));
        ASSERT_LE(test::ulp_error(dtype, got[i], exact), 0.63)
            << row.name << " " << dtype_name(dtype) << "(" << numbers[i] << ") = " << got[i];
        ASSERT_TRUE(std::isnan(got[i]) || std::signbit(got[i]) == std::signbit(exact))
            << row.name << " " << dtype_name(dtype) << "(" << numbers[i] << ") = " << got[i];
      }
    }
  }
}

// The loops of every instruction-set level and thread count give the same bits.
TEST(UnaryBits, DoNotDependOnLevelOrThreads) {
  const cpu::Isa best = cpu::best_isa();
  const int threads = ThreadPool::global().threads();
  for (const Row& row : kRows) {
    for (DType dtype : {DType::F16, DType::BF16, DType::F8E4M3, DType::F32, DType::F64}) {
      const Tensor x = test::tensor_of(test::float_inputs(dtype, 40000, row.lo, row.hi, 2), {40000}, dtype);
      std::vector<double> first;
      for (cpu::Isa level : {cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4}) {
        if (level > best) continue;
        cpu::set_isa(level);
        ThreadPool::global().set_threads(1 + static_cast<int>(level));
        const std::vector<double> got = row.method(x, row.param).to_doubles();
        if (first.empty()) first = got;
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_TRUE(bit_cast<uint64_t>(got[i]) == bit_cast<uint64_t>(first[i]) ||
                      (std::isnan(got[i]) && std::isnan(first[i])))
              << row.name << " " << dtype_name(dtype) << " at level " << cpu::isa_name(level) << ": "
              << got[i] << " and " << first[i];
      }
    }
  }
  cpu::set_isa(best);
  ThreadPool::global().set_threads(threads);
}

TEST(UnaryInts, Wrap) {
  const Tensor x = Tensor::from_vec(std::vector<int64_t>{INT64_MIN, INT64_MAX, 3037000500}, {3});
  EXPECT_EQ(x.sqr().to_vec<int64_t>(), (std::vector<int64_t>{0, 1, -9223372036709301616}));
  EXPECT_EQ(x.neg().to_vec<int64_t>(), (std::vector<int64_t>{INT64_MIN, -INT64_MAX, -3037000500}));
  EXPECT_EQ(x.abs().to_vec<int64_t>(), (std::vector<int64_t>{INT64_MIN, INT64_MAX, 3037000500}));
}

}  // namespace
}  // namespace beeswax
