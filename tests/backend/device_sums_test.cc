// SPDX-License-Identifier: Apache-2.0
// Reductions, argmax, softmax and norms on every device of BEESWAX_TEST_DEVICES: the same bits as on the CPU,
// whose own tests hold them to the documented order. Running sums: against their definition.
#include <gtest/gtest.h>

#include <functional>

#include "core/fail.h"
#include "support/devices.h"
#include "support/numbers.h"
#include "support/raw.h"
#include "support/reduce_rows.h"

namespace beeswax {
namespace {

class DeviceSums : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    if (GetParam().is_cpu()) GTEST_SKIP() << "the CPU is what others are compared with";
  }
  // The same function of x here and there.
  template <class F>
  void expect_same(const Tensor& x, const F& f, const std::string& what) const {
    const Tensor want = f(x);
    const Tensor got = f(x.to_device(GetParam())).to_device(Device::cpu());
    ASSERT_EQ(got.shape(), want.shape()) << what;
    const test::Raw a = test::raw(got), b = test::raw(want);
    if (a == b) return;
    const std::vector<double> x_values = got.to_doubles(), y_values = want.to_doubles();
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(x_values[i]) && std::isnan(y_values[i]))) continue;
      FAIL() << what << " of " << x.describe() << ", element " << i << ": " << x_values[i] << " instead of "
             << y_values[i];
    }
  }
};

std::vector<DType> floats() { return {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3}; }

// Numbers of both signs, in about three decades; integers over all bits.
Tensor numbers(const Shape& shape, DType dtype, uint64_t seed) {
  test::Random random(seed);
  if (dtype_is_int(dtype))
    return test::from_raw(test::random_raw(random, shape.elem_count(), dtype), shape, dtype);
  std::normal_distribution<double> normal(0.1, 1.5);
  std::vector<double> values(static_cast<size_t>(shape.elem_count()));
  for (double& v : values) v = normal(random);
  return test::tensor_of(values, shape, dtype);
}
Tensor wild(const Shape& shape, DType dtype, uint64_t seed) {
  test::Random random(seed);
  return test::from_raw(test::random_raw(random, shape.elem_count(), dtype), shape, dtype);
}

using Method = Tensor (Tensor::*)(const Axes&, bool) const;
struct Row {
  const char* name;
  Method method;
  bool floats_only, exact, centered;
};
const Row kRows[] = {
#define BW_REDUCE(Name, method, dtypes, center, map, combine, final, empty, bound, ...) \
  {#method, static_cast<Method>(&Tensor::method), std::string_view(#dtypes) == "Float", \
   std::string_view(#bound) == "0", std::string_view(#center) != "NONE"},
#include "tables/reduce.def"
};
const std::pair<const char*, Method> kArgRows[] = {
#define BW_ARG_REDUCE(Name, method, ...) {#method, static_cast<Method>(&Tensor::method)},
#include "tables/reduce.def"
};

constexpr int64_t kLengths[] = {1,  2,  3,   4,   5,   8,   13,  31,  32,  33,   36,   63,   64,
                                65, 66, 100, 128, 300, 511, 512, 513, 700, 1000, 1024, 4097, 8300};

// Rows that begin as packs do, more of them than several blocks take.
TEST_P(DeviceSums, ManyShortRows) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{2100, 4},
                                  {1030, 12},
                                  {530, 16},
                                  {300, 32},
                                  {300, 60},
                                  {129, 64},
                                  {70, 68},
                                  {33, 128}}) {
      const Tensor x = numbers({rows, n}, dtype, 11);
      for (const Row& row : kRows) {
        if (row.floats_only && dtype_is_int(dtype)) continue;
        ASSERT_NO_FATAL_FAILURE(
            expect_same(x, [&](const Tensor& t) { return (t.*row.method)({1}, false); }, row.name));
      }
    }
}

TEST_P(DeviceSums, ReduceLengths) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const int64_t n : kLengths)
      for (const auto& [shape, axis] : std::vector<std::pair<Shape, int>>{
               {{n}, 0}, {{5, n}, 1}, {{n, 3}, 0}, {{n, 70}, 0}, {{2, n, 33}, 1}}) {
        if (shape.elem_count() > 100'000) continue;
        const Tensor x = numbers(shape, dtype, static_cast<uint64_t>(n));
        for (const Row& row : kRows)
          if (!row.floats_only || dtype_is_float(dtype))
            expect_same(x, [&](const Tensor& t) { return (t.*row.method)(axis, false); }, row.name);
      }
}

// Rows of odd lengths begin at every place of a pack and of a line.
TEST_P(DeviceSums, ReduceRowsOfEveryPlace) {
  const bool software = GetParam().kind() == DeviceKind::Emu;
  const std::vector<int64_t> lengths =
      software ? std::vector<int64_t>{7, 65, 449, 577}
               : std::vector<int64_t>{3,   7,   21,  61,  63,   65,   127,  447,  449,  511,
                                      513, 575, 577, 959, 1021, 1087, 1535, 4095, 8191, 8257};
  for (const DType dtype : test::arithmetic_dtypes())
    for (const int64_t n : lengths)
      for (const Tensor& x : {numbers({65, n}, dtype, static_cast<uint64_t>(n)), wild({65, n}, dtype, 4)})
        for (const Row& row : kRows)
          if (!row.floats_only || dtype_is_float(dtype))
            expect_same(x, [&](const Tensor& t) { return (t.*row.method)(1, false); }, row.name);
}

// Rows with a center stay in registers: of every length that a kernel takes, some blocks' worth, and apart.
TEST_P(DeviceSums, CenteredRowsInPacks) {
  for (const DType dtype : floats())
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{70, 8},
                                  {21, 64},
                                  {37, 128},
                                  {9, 136},
                                  {5, 504},
                                  {11, 512},
                                  {7, 520},
                                  {5, 4096},
                                  {3, 8192},
                                  {2, 8200},
                                  {2, 16'384},
                                  {2, 16'392},
                                  {3, 32'768}}) {
      const Tensor apart = numbers({rows, n + 16}, dtype, static_cast<uint64_t>(n));
      for (const Row& row : kRows) {
        if (!row.centered) continue;
        const auto f = [&](const Tensor& t) { return (t.*row.method)({1}, false); };
        ASSERT_NO_FATAL_FAILURE(expect_same(apart.narrow(1, 0, n).copy(), f, row.name));
        ASSERT_NO_FATAL_FAILURE(
            expect_same(apart, [&](const Tensor& t) { return f(t.narrow(1, 8, n)); }, row.name));
        ASSERT_NO_FATAL_FAILURE(expect_same(wild({rows, n}, dtype, 12), f, row.name));
        if (n > 520) continue;
        // Rows that lie apart in two ways are not: they take a pass for the center.
        const auto cut = [&](const Tensor& t) { return (t.narrow(1, 1, 3).*row.method)({2}, false); };
        ASSERT_NO_FATAL_FAILURE(expect_same(numbers({rows, 5, n}, dtype, 13), cut, row.name));
      }
    }
}

// Long rows and columns: several passes.
TEST_P(DeviceSums, ReduceLong) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const auto& [shape, axis] : std::vector<std::pair<Shape, int>>{
             {{300'001}, 0}, {{2, 70'000}, 1}, {{33, 9'000}, 1}, {{70'000, 3}, 0}, {{2'100, 65}, 0}}) {
      const Tensor x = numbers(shape, dtype, 3);
      for (const Row& row : kRows)
        if (!row.floats_only || dtype_is_float(dtype))
          expect_same(x, [&](const Tensor& t) { return (t.*row.method)(axis, false); }, row.name);
    }
}

// Infinities, NaN and zeros of both signs.
TEST_P(DeviceSums, ReduceWild) {
  for (const DType dtype : floats())
    for (const int64_t n : {3, 40, 900}) {
      const Tensor x = wild({20, n}, dtype, 8);
      const Tensor zeros =
          test::tensor_of(std::vector<double>{0.0, -0.0, -0.0, 0.0, -0.0, -0.0}, {3, 2}, dtype);
      for (const Row& row : kRows)
        for (const Tensor& values : {x, x.t(), zeros})
          expect_same(values, [&](const Tensor& t) { return (t.*row.method)(1, true); }, row.name);
    }
}

// Views: `view` makes them on each device.
TEST_P(DeviceSums, ReduceViews) {
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> views = {
      {"as it is", [](const Tensor& x) { return x; }},
      {"turned", [](const Tensor& x) { return x.permute({3, 1, 0, 2}); }},
      {"narrow", [](const Tensor& x) { return x.narrow(3, 1, 5).narrow(1, 1, 3); }},
      {"narrow columns", [](const Tensor& x) { return x.narrow(2, 1, 17).permute({1, 3, 0, 2}); }},
      {"repeated", [](const Tensor& x) { return x.narrow(2, 3, 1).broadcast_as({4, 5, 40, 7}); }},
  };
  for (const DType dtype : {DType::U8, DType::I64, DType::F16, DType::F32, DType::F64}) {
    const Tensor x = numbers({4, 5, 40, 7}, dtype, 11);
    for (const auto& [name, view] : views)
      for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0},
                                                                        {1},
                                                                        {2},
                                                                        {3},
                                                                        {0, 1},
                                                                        {1, 2},
                                                                        {2, 3},
                                                                        {0, 2},
                                                                        {1, 3},
                                                                        {0, 3},
                                                                        {0, 1, 3},
                                                                        {0, 2, 3},
                                                                        {0, 1, 2, 3}})
        for (const Row& row : kRows)
          if (!row.floats_only || dtype_is_float(dtype))
            expect_same(
                x,
                [&](const Tensor& t) {
                  return (view(t).*row.method)(Axes(std::span<const int>(axes)), false);
                },
                join_text(row.name, " of a view ", name));
  }
  // More reduced axes than kernels walk.
  const Tensor x = numbers({2, 3, 2, 3, 2, 3, 2, 3}, DType::F32, 12);
  expect_same(x, [](const Tensor& t) { return t.sum({0, 2, 4, 6}); }, "sum");
  expect_same(
      x, [](const Tensor& t) { return t.permute({7, 0, 6, 1, 5, 2, 4, 3}).var({0, 2, 4, 6, 7}); }, "var");
}

TEST_P(DeviceSums, ArgReduce) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const int64_t n : {1, 2, 7, 8, 9, 33, 70, 500, 3'000, 70'000})
      for (const auto& [shape, axis] : std::vector<std::pair<Shape, int>>{
               {{n}, 0}, {{5, n}, 1}, {{n, 3}, 0}, {{n, 50}, 0}, {{2, n, 33}, 1}}) {
        if (shape.elem_count() > 250'000) continue;
        test::Random random(static_cast<uint64_t>(n));
        std::vector<double> few(static_cast<size_t>(shape.elem_count()));
        for (double& v : few)
          v = static_cast<double>(random() % 4) - (dtype == DType::U8 || dtype == DType::U32 ? 0 : 2);
        const Tensor ties = test::tensor_of(few, shape, dtype);
        for (const auto& [name, method] : kArgRows)
          for (const Tensor& x : {ties, wild(shape, dtype, static_cast<uint64_t>(n))})
            expect_same(x, [&](const Tensor& t) { return (t.*method)(axis, false); }, name);
      }
  // Rows that begin anywhere: the extreme at each of their first and last places, and once more farther on.
  for (const DType dtype : test::arithmetic_dtypes()) {
    constexpr int64_t kSearched = 80, kLength = 1101;
    std::vector<double> values(static_cast<size_t>(kSearched * kLength), 1);
    for (int64_t row = 0; row < kSearched; ++row) {
      const int64_t place = row < kSearched / 2 ? row : kLength - kSearched + row;
      for (const int64_t at : {place, place + 37})
        if (at < kLength) values[static_cast<size_t>(row * kLength + at)] = row % 2 == 0 ? 2 : 0;
    }
    const Tensor extremes = test::tensor_of(values, {kSearched, kLength}, dtype);
    for (const Tensor& x : {extremes, Tensor::zeros({3, kLength}, dtype)})
      for (const auto& [name, method] : kArgRows)
        expect_same(x, [&](const Tensor& t) { return (t.*method)(1, false); }, name);
  }
  const Tensor x = numbers({2, 3, 2, 3, 2, 3}, DType::F32, 5);
  expect_same(
      x, [](const Tensor& t) { return t.permute({5, 0, 3, 1, 4, 2}).argmax_all(); }, "argmax of a view");
  expect_same(
      x, [](const Tensor& t) { return t.permute({5, 0, 3, 1, 4, 2}).narrow(2, 1, 2).argmin(2); }, "argmin");
  const Tensor zeros = test::tensor_of(std::vector<double>{-0.0, 0.0, -0.0, 0.0}, {2, 2}, DType::F16);
  expect_same(zeros, [](const Tensor& t) { return t.argmax(1); }, "argmax of zeros");
}

struct RowCase {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& w, const Tensor& b)> of;
};
const std::vector<RowCase>& row_cases() {
  static const std::vector<RowCase> cases = {
      {"softmax", [](const Tensor& x, const Tensor&, const Tensor&) { return x.softmax(-1); }},
      {"log_softmax", [](const Tensor& x, const Tensor&, const Tensor&) { return x.log_softmax(-1); }},
      {"rms_norm", [](const Tensor& x, const Tensor& w, const Tensor&) { return x.rms_norm(w, 1e-5); }},
      {"layer_norm",
       [](const Tensor& x, const Tensor& w, const Tensor& b) { return x.layer_norm(w, b, 1e-5); }},
      {"layer_norm without bias",
       [](const Tensor& x, const Tensor& w, const Tensor&) { return x.layer_norm(w, Tensor(), 1e-5); }},
  };
  return cases;
}

TEST_P(DeviceSums, Rows) {
  for (const DType dtype : floats())
    for (const int64_t n :
         {1,   2,   3,   4,   5,     16,    31,    32,    33,    60,    64,     65,     100,   128,
          511, 512, 513, 516, 1'025, 3'000, 4'096, 8'192, 8'193, 8'196, 12'000, 32'768, 32'772}) {
      const Tensor x = numbers({n > 1000 ? 3 : 19, n}, dtype, static_cast<uint64_t>(n));
      const Tensor w = numbers({n}, dtype, 2), b = numbers({n}, dtype, 3);
      for (const RowCase& c : row_cases())
        expect_same(
            x, [&](const Tensor& t) { return c.of(t, w.to_device(t.device()), b.to_device(t.device())); },
            c.name);
    }
}

// Rows longer than a block keeps: Hopper's clusters have those up to 262144 elements, or 131072 where packs
// do not fit.
TEST_P(DeviceSums, RowsOfSeveralBlocks) {
  const bool software = GetParam().kind() == DeviceKind::Emu;
  const std::vector<int64_t> lengths =
      software ? std::vector<int64_t>{50'257, 65'544}
               : std::vector<int64_t>{16'387,  32'776,  50'257,  65'544,  128'256,
                                      131'064, 131'073, 200'008, 262'144, 262'152};
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (const int64_t n : lengths) {
      const Tensor x = numbers({3, n}, dtype, static_cast<uint64_t>(n));
      const Tensor w = numbers({n}, dtype, 2), b = numbers({n}, dtype, 3);
      for (const RowCase& c : row_cases())
        expect_same(
            x, [&](const Tensor& t) { return c.of(t, w.to_device(t.device()), b.to_device(t.device())); },
            c.name);
    }
}

TEST_P(DeviceSums, RowsOfViews) {
  const std::vector<std::function<Tensor(const Tensor&)>> views = {
      [](const Tensor& x) { return x.narrow(2, 1, 64); },  // rows that begin where packs do not
      [](const Tensor& x) { return x.narrow(2, 4, 64); },
      [](const Tensor& x) { return x.permute({1, 0, 2}).narrow(2, 0, 64); },
      [](const Tensor& x) { return x.permute({0, 2, 1}).narrow(1, 2, 9).narrow(2, 0, 64); },
      [](const Tensor& x) { return x.narrow(0, 1, 1).broadcast_as({3, 70, 72}).narrow(2, 0, 64); },
  };
  for (const DType dtype : floats()) {
    const Tensor x = numbers({3, 70, 72}, dtype, 21);
    const Tensor w = numbers({65}, dtype, 2), b = numbers({64}, dtype, 3);
    for (const auto& view : views)
      for (const RowCase& c : row_cases())
        for (const int64_t from : {0, 1})
          expect_same(
              x,
              [&](const Tensor& t) {
                return c.of(view(t), w.to_device(t.device()).narrow(0, from, 64), b.to_device(t.device()));
              },
              c.name);
    expect_same(x, [](const Tensor& t) { return t.softmax({0, 2}); }, "softmax");
    expect_same(x, [](const Tensor& t) { return t.log_softmax({0, 1, 2}); }, "log_softmax");
  }
}

TEST_P(DeviceSums, SoftmaxOfInfinitiesAndNaN) {
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32, DType::F64})
    for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan("")})
      for (const int64_t n : {3, 700, 9'000}) {
        std::vector<double> values(static_cast<size_t>(3 * n), 1.0);
        values[static_cast<size_t>(n)] = special;
        const Tensor x = test::tensor_of(values, {3, n}, dtype);
        expect_same(x, [](const Tensor& t) { return t.softmax(-1); }, "softmax");
        expect_same(x, [](const Tensor& t) { return t.log_softmax(-1); }, "log_softmax");
      }
}

// Whole numbers, whose sums are exact: the same in any order.
TEST_P(DeviceSums, CumsumOfWholeNumbers) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const auto& [shape, axis] : std::vector<std::pair<Shape, int>>{{{1}, 0},
                                                                        {{300}, 0},
                                                                        {{40, 7}, 1},
                                                                        {{5, 600}, 1},
                                                                        {{7, 600, 3}, 1},
                                                                        {{2'000, 5}, 0},
                                                                        {{30, 200}, 0},
                                                                        {{150, 620}, 0},
                                                                        {{2, 300, 700}, 1},
                                                                        {{3, 270, 1'001}, 1},
                                                                        {{3, 30'001}, 1},
                                                                        {{70'000}, 0}}) {
      test::Random random(4);
      std::vector<double> values(static_cast<size_t>(shape.elem_count()));
      for (double& v : values) v = static_cast<double>(random() % 3);
      const Tensor x = test::tensor_of(values, shape, dtype);
      expect_same(x, [axis = axis](const Tensor& t) { return t.cumsum(axis); }, "cumsum");
      if (shape.rank() == 2)
        expect_same(x, [axis = axis](const Tensor& t) { return t.t().cumsum(1 - axis); }, "cumsum of a view");
    }
}

// Rows that begin anywhere in memory's packs take nothing from the rows beside them, and leave them alone.
TEST_P(DeviceSums, CumsumOfRowsBesideInfinities) {
  for (const DType dtype : {DType::BF16, DType::F8E4M3, DType::F32, DType::F64})
    for (const int64_t n : {1, 3, 9, 33, 1'021, 5'003}) {
      const int64_t rows = 12;
      std::vector<double> values(static_cast<size_t>(rows * n), 1.0);
      for (int64_t row = 0; row < rows; row += 2) values[static_cast<size_t>((row + 1) * n - 1)] = HUGE_VAL;
      const Tensor x = test::tensor_of(values, {rows, n}, dtype);
      expect_same(x, [](const Tensor& t) { return t.cumsum(1); }, "cumsum");
      expect_same(x, [](const Tensor& t) { return t.narrow(0, 1, 4).cumsum(1); }, "cumsum of a later row on");
      expect_same(x, [](const Tensor& t) { return t.narrow(0, 5, 1).cumsum(1); }, "cumsum of one row");
    }
}

TEST_P(DeviceSums, CumsumWithinItsBound) {
  for (const int64_t n : {5, 300, 5'000, 60'000}) {
    const Tensor x = numbers({2, n}, DType::F32, 6);
    const std::vector<double> in = x.to_doubles();
    const Tensor on_device = x.to_device(GetParam());
    const std::vector<double> got = on_device.cumsum(1).to_device(Device::cpu()).to_doubles();
    EXPECT_EQ(on_device.cumsum(1).to_bytes(), on_device.cumsum(1).to_bytes());
    for (int64_t row = 0; row < 2; ++row) {
      long double sum = 0, magnitudes = 0;
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(row * n + i);
        sum += in[at];
        magnitudes += std::fabs(in[at]);
        ASSERT_LE(std::fabs(got[at] - sum), 0x1p-24L * static_cast<long double>(i + 1) * magnitudes)
            << n << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceSums, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::test_name(info.param.to_string()); });

}  // namespace
}  // namespace beeswax
