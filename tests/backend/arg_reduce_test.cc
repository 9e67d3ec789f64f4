// SPDX-License-Identifier: Apache-2.0
// argmax and argmin against a search element by element, for every dtype.
#include <gtest/gtest.h>

#include <cmath>

#include "support/configurations.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/numbers.h"
#include "support/raw.h"

namespace beeswax {
namespace {

using test::Random;

// The first NaN, or else the first of the extremes.
uint32_t search(const std::vector<long double>& v, bool most) {
  uint32_t at = 0;
  for (uint32_t i = 1; i < v.size() && !std::isnan(v[at]); ++i)
    if (std::isnan(v[i]) || (most ? v[i] > v[at] : v[i] < v[at])) at = i;
  return at;
}

// Few distinct values: ties decide.
test::Raw inputs(Random& random, int64_t count, DType dtype, bool nans) {
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& x : numbers) {
    x = static_cast<double>(test::pick(random, -9, 9));
    if (nans && test::pick(random, 0, 40) == 0) x = test::pick(random, 0, 1) == 0 ? NAN : -NAN;
    if (nans && test::pick(random, 0, 40) == 0) x = test::pick(random, 0, 1) == 0 ? HUGE_VAL : -HUGE_VAL;
    if (x == 0 && test::pick(random, 0, 1) == 0) x = -0.0;
  }
  return test::raw(test::tensor_of(numbers, {count}, dtype));
}

void check(const Tensor& x, int axis) {
  const Tensor last = x.transpose(axis, -1);
  Shape kept = last.shape();
  const int64_t n = kept[kept.rank() - 1];
  kept.set(kept.rank() - 1, 1);
  const std::vector<double> numbers = last.to_doubles();
  for (const bool most : {true, false}) {
    std::vector<uint32_t> expected;
    for (size_t begin = 0; begin < numbers.size(); begin += static_cast<size_t>(n)) {
      const auto* from = numbers.data() + begin;
      expected.push_back(search(std::vector<long double>(from, from + n), most));
    }
    const Tensor got = most ? x.argmax_keepdim(axis) : x.argmin_keepdim(axis);
    ASSERT_EQ(got.dtype(), DType::U32);
    ASSERT_EQ(got.transpose(axis, -1).to_vec<uint32_t>(), expected) << x.describe() << " axis " << axis;
  }
}

// Any set of axes: the place in what they hold together, the last fastest.
void check_axes(const Tensor& x, uint32_t mask) {
  std::vector<int> kept, axes;
  for (int axis = 0; axis < x.rank(); ++axis) (mask >> axis & 1 ? axes : kept).push_back(axis);
  std::vector<int> order = kept;
  order.insert(order.end(), axes.begin(), axes.end());
  const std::vector<double> numbers = x.permute(order).to_doubles();
  size_t n = 1;
  for (const int axis : axes) n *= static_cast<size_t>(x.shape()[axis]);
  for (const bool most : {true, false}) {
    std::vector<uint32_t> expected;
    for (size_t begin = 0; begin < numbers.size(); begin += n)
      expected.push_back(
          search(std::vector<long double>(numbers.data() + begin, numbers.data() + begin + n), most));
    const Axes all{std::span<const int>(axes)};
    const Tensor got = most ? x.argmax(all) : x.argmin(all);
    ASSERT_EQ(got.rank(), static_cast<int>(kept.size()));
    ASSERT_EQ(got.to_vec<uint32_t>(), expected) << x.describe() << " axes " << mask;
    Shape one = x.shape();
    for (const int axis : axes) one.set(axis, 1);
    ASSERT_EQ((most ? x.argmax_keepdim(all) : x.argmin_keepdim(all)).shape(), one);
  }
}

void check_dtype(DType dtype) {
  Random random(9);
  const bool nans = dtype_is_float(dtype);
  for (int64_t n = 1; n <= 130; ++n)
    check(test::from_raw(inputs(random, n, dtype, n % 2 == 0 && nans), {n}, dtype), 0);
  for (const int64_t n : {511, 512, 513, 1500}) {
    check(test::from_raw(inputs(random, 3 * n, dtype, false), {3, n}, dtype), 1);
    check(test::from_raw(inputs(random, 3 * n, dtype, nans), {n, 3}, dtype), 0);
    check(test::from_raw(inputs(random, 70 * n, dtype, nans), {n, 70}, dtype), 0);
  }
  // Registers that columns do not fill, blocks of rows that end anywhere, stripes, and rows that lie apart.
  // The software GPU is spared the largest of them.
  const int64_t most = test::on_software_gpu() ? 1 << 15 : INT64_MAX;
  for (const int64_t n : {1, 2, 7, 8, 9, 63, 255, 256, 257, 264, 1023, 1024, 1025, 2055}) {
    for (const int64_t columns : {2, 15, 16, 17, 31, 33, 63, 64, 65, 66, 129})
      if (n * columns <= most)
        check(test::from_raw(inputs(random, n * columns, dtype, n % 2 == 1 && nans), {n, columns}, dtype), 0);
    // Rows of whole registers, as many as a power of two.
    for (const int64_t columns : {4, 8, 32, 128, 256, 512})
      if (n * columns <= most)
        check(test::from_raw(inputs(random, 2 * n * columns, dtype, n % 2 == 0 && nans), {2, n, columns},
                             dtype),
              1);
    const Tensor x = test::from_raw(inputs(random, n * 210, dtype, false), {3, n, 70}, dtype);
    check(x, 1);
    check(x.narrow(2, 3, 65), 1);
  }
  check(test::from_raw(inputs(random, 9 * 20'000, dtype, nans), {9, 20'000}, dtype), 0);
  check(test::from_raw(inputs(random, 300 * 2100, dtype, nans), {300, 2100}, dtype).narrow(1, 1, 2098), 0);
  // Each place in turn.
  for (int64_t place = 0; place < 600; place += 7) {
    std::vector<double> numbers(600, 1.0);
    numbers[static_cast<size_t>(place)] = 2;
    const Tensor x = test::tensor_of(numbers, {600}, dtype);
    check(x, 0);
    check(x.unsqueeze(1).broadcast_as({600, 67}).copy(), 0);
  }
  for (int i = 0; i < 30; ++i) {
    const Shape shape = test::random_shape(random, 3, 1, 9);
    const Tensor x = test::laid_out(random, inputs(random, shape.elem_count(), dtype, nans), shape, dtype);
    for (int axis = 0; axis < 3; ++axis) check(x, axis);
    for (uint32_t mask = 1; mask < 8; ++mask) check_axes(x, mask);
    const std::vector<double> numbers = x.to_doubles();
    const std::vector<long double> all(numbers.begin(), numbers.end());
    EXPECT_EQ(x.argmax_all().to_scalar<uint32_t>(), search(all, true));
    EXPECT_EQ(x.argmin_all().to_scalar<uint32_t>(), search(all, false));
  }
}

TEST(ArgReduce, SeveralAxes) {
  Random random(12);
  for (const Shape& shape : {Shape{3, 5, 7, 2}, Shape{2, 40, 3, 65}, Shape{1, 6, 1, 33}, Shape{4, 1, 300, 9}})
    for (const DType dtype : {DType::F32, DType::U8, DType::F64}) {
      const Tensor x = test::laid_out(
          random, inputs(random, shape.elem_count(), dtype, dtype_is_float(dtype)), shape, dtype);
      for (uint32_t mask = 1; mask < 16; ++mask) {
        check_axes(x, mask);
        check_axes(x.permute({2, 0, 3, 1}), mask);
      }
    }
  // Several pieces of what two axes hold.
  const Tensor x = test::from_raw(inputs(random, 300 * 7 * 400, DType::F16, true), {300, 7, 400}, DType::F16);
  if (!test::on_software_gpu()) check_axes(x, 5);
  check_axes(x.narrow(0, 0, 40), 5);
  EXPECT_EQ(
      Tensor::from_vec(std::vector<float>{1, 2, 9, 4, 5, 9}, {2, 3}).argmax({1, 0}).to_scalar<uint32_t>(), 2u)
      << "the order of the axes' names does not count";
  EXPECT_ERROR(x.argmax({0, -3}), DuplicateDim, "[argmax]");
}

#define BW_DTYPE(Name, ...) \
  TEST(ArgReduce, Name) { check_dtype(DType::Name); }
#include "tables/dtypes.def"

TEST(ArgReduce, LongRowsAndColumnsEverywhere) {
  Random random(10);
  const Tensor row = test::from_raw(inputs(random, 200'001, DType::F32, false), {200'001}, DType::F32);
  check(row, 0);
  test::expect_same_everywhere([&] { return row.argmax(0); });
  std::vector<float> late(200'001, 0.0f);
  late[150'000] = NAN;
  late[170'000] = NAN;
  const Tensor x = Tensor::from_vec(late, {200'001});
  for (const int threads : {1, 2, 3}) {
    ThreadPool::global().set_threads(threads);
    EXPECT_EQ(x.argmin_all().to_scalar<uint32_t>(), 150'000u);
  }
  const Tensor matrix = test::from_raw(inputs(random, 2100 * 500, DType::F16, true), {2100, 500}, DType::F16);
  test::expect_same_everywhere([&] { return matrix.argmin(0); });
}

// So many rows that a GPU is full with fewer threads than the length of each asks for. They repeat some.
TEST(ArgReduce, ManyRows) {
  Random random(11);
  constexpr int64_t kTimes = 4480, kRows = 64;
  for (const DType dtype : {DType::F16, DType::F32})
    for (const int64_t n : {136, 264}) {
      const Tensor rows = test::from_raw(inputs(random, kRows * n, dtype, false), {kRows, n}, dtype);
      const std::vector<uint32_t> some = rows.argmax(1).to_vec<uint32_t>();
      check(rows, 1);
      const std::vector<uint32_t> all = rows.broadcast_as({kTimes, kRows, n}).argmax(2).to_vec<uint32_t>();
      ASSERT_EQ(all.size(), static_cast<size_t>(kTimes * kRows));
      for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], some[i % some.size()]) << n << " " << i;
    }
}

TEST(ArgReduce, Errors) {
  const Tensor x = Tensor::ones({2, 0}, DType::F32);
  EXPECT_ERROR(x.argmax(1), EmptyTensor, "[argmax] the reduced axes of [2, 0] f32 cpu hold no elements");
  EXPECT_EQ(x.argmax(0).shape().to_string(), "[0]");
  EXPECT_ERROR(x.argmin(2), DimOutOfRange, "[argmin]");
  const Tensor many = Tensor::zeros({1}, DType::U8).broadcast_as({int64_t{1} << 32});
  EXPECT_ERROR(many.argmax(0), TooLarge, "[argmax] 4294967296 elements");
}

}  // namespace
}  // namespace beeswax
