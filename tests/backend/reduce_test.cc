// SPDX-License-Identifier: Apache-2.0
// Every row of tables/reduce.def, on every dtype, against the documented order evaluated element by element
// (the same bits) and against its oracle (within its bound).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/configurations.h"
#include "support/expect_error.h"
#include "support/numbers.h"
#include "support/raw.h"
#include "support/reduce_rows.h"

namespace beeswax {
namespace {

using test::Random;
using test::Raw;
using test::ReduceRow;

// The elements of every result's sequence: row-major over the reduced axes, results row-major over the
// others.
template <class A>
std::vector<std::vector<A>> sequences(const std::vector<A>& values, const Shape& shape, uint32_t mask) {
  size_t results = 1;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if ((mask >> axis & 1) == 0) results *= static_cast<size_t>(shape[axis]);
  std::vector<std::vector<A>> out(results);
  size_t next = 0;
  test::for_each_index(shape, [&](const std::vector<int64_t>& index) {
    size_t result = 0;
    for (int axis = 0; axis < shape.rank(); ++axis)
      if ((mask >> axis & 1) == 0)
        result =
            result * static_cast<size_t>(shape[axis]) + static_cast<size_t>(index[static_cast<size_t>(axis)]);
    out[result].push_back(values[next++]);
  });
  return out;
}

Axes axes_of(uint32_t mask) {
  std::vector<int> axes;
  for (int axis = 0; axis < kMaxRank; ++axis)
    if ((mask >> axis & 1) != 0) axes.push_back(axis);
  return Axes(axes);
}

// The same bits, any NaN being equal to any other.
void expect_same(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.shape().to_string(), expected.shape().to_string()) << what;
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  const Raw a = test::raw(got);
  const Raw b = test::raw(expected);
  if (a == b) return;
  const std::vector<double> x = got.to_doubles();
  const std::vector<double> y = expected.to_doubles();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] == b[i] || (std::isnan(x[i]) && std::isnan(y[i])))
        << what << ": result " << i << " is " << x[i] << ", not " << y[i];
}

template <class A>
void check_row(const ReduceRow<A>& row, const Tensor& x, const std::vector<std::vector<A>>& lists,
               uint32_t mask) {
  if (row.floats_only && dtype_is_int(x.dtype())) return;
  const std::string what =
      std::string(row.name) + " of " + x.describe() + " over mask " + std::to_string(mask);
  Shape kept;
  for (int axis = 0; axis < x.rank(); ++axis)
    if ((mask >> axis & 1) == 0) kept.push_back(x.shape()[axis]);
  std::vector<A> expected;
  for (const std::vector<A>& list : lists) expected.push_back(row.value(list));
  const Tensor got = (x.*row.method)(axes_of(mask), false);
  ASSERT_NO_FATAL_FAILURE(expect_same(got, Tensor::from_vec(expected, kept).to_dtype(x.dtype()), what));

  const long double u = std::is_same_v<A, float> ? 0x1p-24L : 0x1p-53L;
  const std::vector<double> numbers = got.to_doubles();
  for (size_t i = 0; i < lists.size(); ++i) {
    const std::vector<long double> v(lists[i].begin(), lists[i].end());
    const long double exact = row.exact(v);
    if constexpr (std::is_integral_v<A>) {
      ASSERT_EQ(expected[i], static_cast<A>(static_cast<int64_t>(exact))) << what;  // wraps as the sum does
    } else if (std::isfinite(exact)) {
      const long double bound = row.bound(v, u * static_cast<long double>(2 + test::depth(v.size())));
      const long double rounding = kDTypeOf<A> == x.dtype() ? 0 : test::ulp(x.dtype(), exact) / 2;
      const long double limit = bound + rounding * (1 + bound / std::fmax(std::fabs(exact), 1e-30L));
      const double largest = test::float_traits(x.dtype()).largest;
      if (std::fabs(exact) < largest) {
        ASSERT_LE(std::fabs(static_cast<long double>(numbers[i]) - exact), limit)
            << what << ": " << numbers[i];
      }
    } else {
      ASSERT_EQ(std::isnan(numbers[i]), std::isnan(exact)) << what;
    }
  }
}

template <class A>
void check_rows(const Tensor& x, uint32_t mask) {
  const std::vector<A> values = x.to_dtype(kDTypeOf<A>).template to_vec<A>();
  const auto lists = sequences(values, x.shape(), mask);
  for (const ReduceRow<A>& row : test::reduce_rows<A>())
    ASSERT_NO_FATAL_FAILURE(check_row(row, x, lists, mask));
}

// Numbers whose sums round, but do not overflow.
Raw tame(Random& random, int64_t count, DType dtype) {
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& x : numbers)
    x = static_cast<double>(test::pick(random, -1000, 1000)) / (dtype_is_int(dtype) ? 20 : 700);
  return test::raw(test::tensor_of(numbers, {count}, dtype));
}

template <class A>
void check_lengths(DType dtype) {
  Random random(1);
  std::vector<int64_t> lengths = {511, 512, 513, 575, 577, 640, 1023, 1024, 1025, 4095, 4097, 9999};
  for (int64_t n = 1; n <= 130; ++n) lengths.push_back(n);
  for (const int64_t n : lengths) {
    check_rows<A>(test::from_raw(tame(random, n, dtype), {n}, dtype), 1);
    if (n > 70 && n % 5 != 0) continue;
    check_rows<A>(test::from_raw(tame(random, n * 3, dtype), {n, 3}, dtype), 1);
    check_rows<A>(test::from_raw(tame(random, n * 3, dtype), {3, n}, dtype), 2);
  }
  for (const int64_t n : {1, 5, 33, 64, 100, 513}) {
    check_rows<A>(test::from_raw(tame(random, n * 70, dtype), {n, 70}, dtype), 1);
    check_rows<A>(test::from_raw(tame(random, 2 * n * 65, dtype), {2, n, 65}, dtype).narrow(2, 1, 64), 2);
  }
}

template <class A>
void check_views(DType dtype) {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    const Shape shape = test::random_shape(random, static_cast<int>(test::pick(random, 1, 4)), 1, 9);
    const auto mask = static_cast<uint32_t>(test::pick(random, 0, (1 << shape.rank()) - 1));
    const Tensor x = test::laid_out(random, tame(random, shape.elem_count(), dtype), shape, dtype);
    ASSERT_NO_FATAL_FAILURE(check_rows<A>(x, mask));
    Shape wider = shape;
    wider.insert(static_cast<int>(test::pick(random, 0, shape.rank())), 3);
    const int axis = static_cast<int>(test::pick(random, 0, wider.rank() - 1));
    Shape one = wider;
    one.set(axis, 1);
    const Tensor y =
        test::laid_out(random, tame(random, one.elem_count(), dtype), one, dtype).broadcast_as(wider);
    ASSERT_NO_FATAL_FAILURE(
        check_rows<A>(y, static_cast<uint32_t>(test::pick(random, 0, (1 << wider.rank()) - 1))));
  }
  // Several reduced axes whose sequence crosses chunks.
  const Tensor x = test::from_raw(tame(random, 40 * 6 * 30, dtype), {40, 6, 30}, dtype);
  for (const uint32_t mask : {1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    ASSERT_NO_FATAL_FAILURE(check_rows<A>(x, mask));
    ASSERT_NO_FATAL_FAILURE(check_rows<A>(x.transpose(0, 2), mask));
  }
}

// The bits of every row, over the axes in `mask`.
template <class A>
void check_bits(const Tensor& x, uint32_t mask) {
  const auto lists = sequences(x.to_dtype(kDTypeOf<A>).template to_vec<A>(), x.shape(), mask);
  for (const ReduceRow<A>& row : test::reduce_rows<A>()) {
    if (row.floats_only && dtype_is_int(x.dtype())) continue;
    std::vector<A> expected;
    for (const std::vector<A>& list : lists) expected.push_back(row.value(list));
    const Tensor got = (x.*row.method)(axes_of(mask), false);
    ASSERT_NO_FATAL_FAILURE(expect_same(got, Tensor::from_vec(expected, got.shape()).to_dtype(x.dtype()),
                                        row.name + x.describe()));
  }
}

// Random bits: infinities, NaNs, subnormals, and sums that overflow or wrap.
template <class A>
void check_wild(DType dtype) {
  Random random(3);
  for (const int64_t n : {3, 64, 200, 700}) {
    for (const Shape& shape : {Shape{n}, Shape{2, n}, Shape{n, 5}, Shape{n, 80}}) {
      const Tensor x = test::from_raw(test::random_raw(random, shape.elem_count(), dtype), shape, dtype);
      ASSERT_NO_FATAL_FAILURE(check_bits<A>(x, shape.rank() == 2 && shape[0] == 2 ? 2 : 1));
    }
  }
}

// Zeros of both signs with here and there an infinity or a NaN of either sign.
Raw specials(Random& random, int64_t count, DType dtype) {
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& x : numbers) {
    const int64_t kind = test::pick(random, 0, 200);
    x = kind == 0 ? NAN : kind < 3 ? HUGE_VAL : 0;
    if (test::pick(random, 0, 1) == 0) x = -x;
  }
  return test::raw(test::tensor_of(numbers, {count}, dtype));
}

// Many columns: rows that end within a lane or a chunk, registers that columns do not fill, stripes, and rows
// that lie apart.
template <class A>
void check_columns(DType dtype) {
  Random random(5);
  for (const int64_t rows : {1, 2, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1025}) {
    for (const int64_t columns : {1, 15, 16, 17, 63, 64, 65, 79, 129}) {
      const Shape shape{rows, columns};
      const Tensor x = test::from_raw(tame(random, rows * columns, dtype), shape, dtype);
      ASSERT_NO_FATAL_FAILURE(check_bits<A>(x, 1));
      if (columns != 65 && columns != 129) continue;
      ASSERT_NO_FATAL_FAILURE(check_bits<A>(x.narrow(1, 1, columns - 1), 1));
      ASSERT_NO_FATAL_FAILURE(
          check_bits<A>(test::from_raw(specials(random, rows * columns, dtype), shape, dtype), 1));
    }
  }
  // Rows of whole registers, as many as a power of two.
  for (const int64_t columns : {8, 32, 128, 256, 512, 1024}) {
    for (const int64_t rows : {1, 2, 65, 256, 257}) {
      const Shape shape{rows, columns};
      for (const Raw& raw : {tame(random, rows * columns, dtype), specials(random, rows * columns, dtype)}) {
        const Tensor x = test::from_raw(raw, shape, dtype);
        ASSERT_NO_FATAL_FAILURE(check_bits<A>(x, 1));
        ASSERT_NO_FATAL_FAILURE(check_bits<A>(x.narrow(1, 0, columns / 2), 1));
      }
    }
  }
  for (const Shape& shape :
       {Shape{520, 300}, Shape{449, 1030}, Shape{66, 4100}, Shape{35, 8200}, Shape{3, 17'000}}) {
    const Tensor x = test::from_raw(tame(random, shape.elem_count(), dtype), shape, dtype);
    ASSERT_NO_FATAL_FAILURE(check_bits<A>(x, 1));
    ASSERT_NO_FATAL_FAILURE(check_bits<A>(x.narrow(1, 3, shape[1] - 5), 1));
  }
  const Shape cube{3, 130, 90};
  const Tensor x = test::from_raw(tame(random, cube.elem_count(), dtype), cube, dtype);
  for (const uint32_t mask : {1u, 2u, 3u}) ASSERT_NO_FATAL_FAILURE(check_bits<A>(x, mask));
  test::expect_same_everywhere([&] { return x.sum({1}); });
  test::expect_same_everywhere([&] { return x.narrow(2, 1, 70).max({1}); });
}

// The same bits over the last axis, a leading one, and all; with any number of threads and at every level.
template <class A>
void check_everywhere(DType dtype) {
  Random random(4);
  const int64_t n = 512 * 512 + 1;
  const Raw row_values = tame(random, n, dtype);
  const Tensor line = test::from_raw(row_values, {n}, dtype);
  const Tensor rows = test::from_raw(tame(random, 3 * 70'000, dtype), {3, 70'000}, dtype);
  const Tensor matrix = test::from_raw(tame(random, 600 * 300, dtype), {600, 300}, dtype);
  for (const ReduceRow<A>& row : test::reduce_rows<A>()) {
    if (row.floats_only && dtype_is_int(dtype)) continue;
    const Tensor whole = (line.*row.method)(0, false);
    const std::vector<A> list = line.to_dtype(kDTypeOf<A>).template to_vec<A>();
    expect_same(whole, Tensor::from_vec(std::vector<A>{row.value(list)}, {}).to_dtype(dtype), row.name);
    expect_same((line.reshape({1, 1, n}).*row.method_all)(), whole, row.name);
    const Tensor columns = line.unsqueeze(1).broadcast_as({n, 3});
    expect_same((columns.copy().*row.method)(0, false), whole.broadcast_as({3}), row.name);
    expect_same((columns.*row.method)(0, false), whole.broadcast_as({3}), row.name);
    expect_same((rows.t().copy().*row.method)(0, false), (rows.*row.method)(1, false), row.name);
    expect_same((matrix.t().*row.method)(1, false), (matrix.*row.method)(0, false), row.name);
    expect_same((matrix.t().copy().*row.method)(1, false), (matrix.*row.method)(0, false), row.name);
    test::expect_same_everywhere([&] { return (line.*row.method)(0, true); });
    test::expect_same_everywhere([&] { return (rows.*row.method)(1, true); });
    test::expect_same_everywhere([&] { return (matrix.*row.method)(0, true); });
  }
}

template <class A>
void check_nothing(DType dtype) {
  const Tensor x = Tensor::zeros({2, 0, 3}, dtype);
  for (const ReduceRow<A>& row : test::reduce_rows<A>()) {
    if (row.floats_only && dtype_is_int(dtype)) continue;
    EXPECT_EQ((x.*row.method)(0, false).shape().to_string(), "[0, 3]");  // nothing to compute
    if (!row.empty) {
      EXPECT_ERROR((x.*row.method)(1, false), EmptyTensor, std::string("[") + row.name + "]");
      EXPECT_ERROR((x.*row.method_all)(), EmptyTensor, "[2, 0, 3]");
      continue;
    }
    const Tensor expected = Tensor::from_vec(std::vector<double>(6, *row.empty), {2, 1, 3}).to_dtype(dtype);
    expect_same((x.*row.method)(1, true), expected, row.name);
  }
}

#define BW_DTYPE(Name, name, ctype, compute, ...)                          \
  TEST(ReduceLengths, Name) { check_lengths<compute>(DType::Name); }       \
  TEST(ReduceViews, Name) { check_views<compute>(DType::Name); }           \
  TEST(ReduceWild, Name) { check_wild<compute>(DType::Name); }             \
  TEST(ReduceColumns, Name) { check_columns<compute>(DType::Name); }       \
  TEST(ReduceEverywhere, Name) { check_everywhere<compute>(DType::Name); } \
  TEST(ReduceNothing, Name) { check_nothing<compute>(DType::Name); }
#include "tables/dtypes.def"

TEST(Reduce, ZerosAndNan) {
  const std::vector<float> zeros = {-0.0f, 0.0f, -0.0f};
  const Tensor x = Tensor::from_vec(zeros, {3});
  EXPECT_FALSE(std::signbit(x.max_all().to_scalar<float>()));
  EXPECT_TRUE(std::signbit(x.min_all().to_scalar<float>()));
  const Tensor y = Tensor::from_vec(std::vector<float>{1, NAN, 3}, {3});
  EXPECT_TRUE(std::isnan(y.max_all().to_scalar<float>()));
  EXPECT_TRUE(std::isnan(y.min(0).to_scalar<float>()));
  EXPECT_TRUE(std::isnan(Tensor::ones({1}, DType::F32).var_all().to_scalar<float>()));
  const Tensor lows = Tensor::full({4}, -HUGE_VAL, DType::F32);
  EXPECT_EQ(lows.log_sum_exp(0).to_scalar<float>(), -INFINITY);
  EXPECT_EQ(Tensor::full({4}, HUGE_VAL, DType::F64).log_sum_exp(0).to_scalar<double>(), HUGE_VAL);
}

// Infinities, NaN and terms too small to count, alone or among numbers, wherever a row's kernel has them.
TEST(Reduce, LogSumExpOfInfinitiesAndFarNumbers) {
  struct Case {
    double most, one, result;
  };
  const Case cases[] = {
      {-3, HUGE_VAL, HUGE_VAL},
      {HUGE_VAL, -3, HUGE_VAL},
      {HUGE_VAL, -HUGE_VAL, HUGE_VAL},
      {-HUGE_VAL, HUGE_VAL, HUGE_VAL},
      {-HUGE_VAL, 5, 5},
      {-900, 0, 0},
      {-30000, 7, 7},
      {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL},
  };
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    for (const int64_t n : {2, 65, 520, 4096, 33000}) {
      for (const auto& [most, one, result] : cases) {
        std::vector<double> row(static_cast<size_t>(n), most);
        const auto at = static_cast<size_t>(n - 1);
        row[at] = one;
        EXPECT_EQ(test::tensor_of(row, {1, n}, dtype).log_sum_exp(1).to_doubles(),
                  std::vector<double>{result})
            << dtype_name(dtype) << " " << n << " " << most << " " << one;
        row[at / 2] = NAN;
        EXPECT_TRUE(std::isnan(test::tensor_of(row, {1, n}, dtype).log_sum_exp(1).to_doubles()[0]))
            << dtype_name(dtype) << " " << n << " " << most << " " << one;
      }
    }
  }
}

TEST(Reduce, OverNothing) {
  const Tensor x = Tensor::zeros({0}, DType::F32);
  EXPECT_EQ(x.sum_all().to_scalar<float>(), 0);
  EXPECT_EQ(x.norm_all().to_scalar<float>(), 0);
  EXPECT_TRUE(std::isnan(x.mean_all().to_scalar<float>()));
  EXPECT_TRUE(std::isnan(x.var_all().to_scalar<float>()));
  EXPECT_EQ(x.log_sum_exp_all().to_scalar<float>(), -INFINITY);
  EXPECT_ERROR(x.max_all(), EmptyTensor, "[max]");
  EXPECT_ERROR(x.min_all(), EmptyTensor, "[min]");
}

TEST(Reduce, NoAxesCopies) {
  const Tensor x = Tensor::from_vec(std::vector<float>{1, -2, 3}, {3});
  const Tensor y = x.sum(Axes({}));
  EXPECT_EQ(y.to_vec<float>(), x.to_vec<float>());
  EXPECT_NE(&x.storage(), &y.storage());
  EXPECT_EQ(x.log_sum_exp(Axes({})).to_vec<float>(), x.to_vec<float>());
  EXPECT_EQ(x.norm(Axes({})).to_vec<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(Reduce, Shapes) {
  const Tensor x = Tensor::ones({2, 3, 4}, DType::I64);
  EXPECT_EQ(x.sum({0, -1}).shape().to_string(), "[3]");
  EXPECT_EQ(x.sum_keepdim({0, 2}).shape().to_string(), "[1, 3, 1]");
  EXPECT_EQ(x.sum_all().shape().to_string(), "[]");
  EXPECT_EQ(x.sum_all().to_scalar<int64_t>(), 24);
  EXPECT_EQ(x.argmax_keepdim(1).shape().to_string(), "[2, 1, 4]");
  EXPECT_EQ(Tensor::scalar(5, DType::F32).sum_all().to_scalar<float>(), 5);
}

TEST(Reduce, Errors) {
  const Tensor x = Tensor::ones({2, 3}, DType::I32);
  EXPECT_ERROR(x.mean(0), UnsupportedDType,
               "[mean] not defined for [2, 3] i32 cpu; accepted dtypes: bf16, f16");
  EXPECT_ERROR(x.var_all(), UnsupportedDType, "[var]");
  EXPECT_ERROR(x.sum(2), DimOutOfRange, "[sum]");
  EXPECT_ERROR(x.max({0, -2}), DuplicateDim, "[max]");
  EXPECT_ERROR(Tensor::empty({3}, DType::F8E8M0).sum_all(), UnsupportedDType, "[sum]");
}

// Narrow sums keep the precision of f32 until the end.
TEST(Reduce, NarrowSumsAccumulateWide) {
  const Tensor x = Tensor::ones({4096}, DType::F16);
  EXPECT_EQ(x.sum_all().to_doubles()[0], 4096);
  EXPECT_EQ(Tensor::ones({300}, DType::BF16).mean_all().to_doubles()[0], 1);
  EXPECT_EQ(Tensor::full({300}, 200, DType::U8).sum_all().to_scalar<uint8_t>(),
            static_cast<uint8_t>(300 * 200));
}

}  // namespace
}  // namespace beeswax
