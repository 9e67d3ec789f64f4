// SPDX-License-Identifier: Apache-2.0
// swiglu and geglu: bit for bit the two operations that they are made of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support/configurations.h"
#include "support/expect_error.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

std::vector<DType> floats() { return {DType::BF16, DType::F16, DType::F32, DType::F64, DType::F8E4M3}; }

Tensor numbers(const Shape& shape, DType dtype, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 4);
  std::vector<double> values(static_cast<size_t>(shape.elem_count()));
  for (double& v : values) v = normal(random);
  return test::tensor_of(values, shape, dtype);
}

// The bits, but for those of a NaN.
void expect_same(const Tensor& got, const Tensor& want, const Tensor& x, const Tensor& y) {
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(got.dtype(), want.dtype());
  if (got.to_bytes() == want.to_bytes()) return;
  const std::vector<double> a = got.to_doubles(), b = want.to_doubles();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE((std::isnan(a[i]) && std::isnan(b[i])) || std::memcmp(&a[i], &b[i], sizeof(double)) == 0)
        << x.describe() << " and " << y.describe() << ", element " << i << ": " << a[i] << " instead of "
        << b[i];
}

void expect_composed(const Tensor& x, const Tensor& y) {
  expect_same(x.swiglu(y), x.silu() * y, x, y);
  expect_same(x.geglu(y), x.gelu() * y, x, y);
}

TEST(Gated, KnownValues) {
  // The definitions of silu and of gelu by tanh, in f64.
  const Tensor x = test::tensor_of(std::vector<double>{-1, 0, 0.5, 2}, {4}, DType::F64);
  const Tensor y = test::tensor_of(std::vector<double>{2, 3, -4, 0.5}, {4}, DType::F64);
  const double silu[] = {-0.2689414213699951, 0, 0.3112296656009273, 1.7615941559557649};
  const double gelu[] = {-0.15880800939172324, 0, 0.34571400982514394, 1.9545976940877752};
  const double factor[] = {2, 3, -4, 0.5};
  const std::vector<double> swiglu = x.swiglu(y).to_doubles(), geglu = x.geglu(y).to_doubles();
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(swiglu[i], silu[i] * factor[i], 1e-15);
    EXPECT_NEAR(geglu[i], gelu[i] * factor[i], 1e-15);
  }
}

TEST(Gated, HasTheBitsOfTheTwoOperations) {
  for (const DType dtype : floats()) {
    for (const int64_t n : {0, 1, 3, 7, 16, 31, 64, 1023, 1024, 1025, 2048, 2049, 4097, 8193, 70001})
      expect_composed(numbers({n}, dtype, 1), numbers({n}, dtype, 2));
    expect_composed(Tensor::full({}, 1.5, dtype), Tensor::full({}, -2.0, dtype));
  }
}

TEST(Gated, ResultsThatPassTheCaches) {
  expect_composed(numbers({3 << 20}, DType::F32, 3), numbers({3 << 20}, DType::F32, 4));
  expect_composed(numbers({3, 1 << 20}, DType::BF16, 5).t(), numbers({3, 1 << 20}, DType::BF16, 6).t());
}

TEST(Gated, AnyStridesAndBroadcasting) {
  for (const DType dtype : floats()) {
    const Tensor both = numbers({37, 2, 130}, dtype, 7);
    expect_composed(both.narrow(1, 0, 1), both.narrow(1, 1, 1));
    expect_composed(both.transpose(0, 2), both.transpose(0, 2));
    expect_composed(both, numbers({130}, dtype, 8));
    expect_composed(numbers({2, 1}, dtype, 9), both);
    expect_composed(both, numbers({37, 1, 1}, dtype, 10));
  }
}

TEST(Gated, ExtremesOfEachWithEach) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = {0.0, -0.0, 1, -1, infinity, -infinity, std::nan("")};
  for (const double v : {448.0, 65504.0, 3e38, 1e-38, 1e-45, 5.9e-8, 0.002, 90.0, 700.0, 1e308, 5e-324})
    values.insert(values.end(), {v, -v});
  const auto n = static_cast<int64_t>(values.size());
  for (const DType dtype : floats())
    expect_composed(test::tensor_of(values, {n, 1}, dtype), test::tensor_of(values, {n}, dtype));
}

TEST(Gated, SaysWhatItNeeds) {
  const Tensor x = test::tensor_of(std::vector<double>(6), {2, 3}, DType::F32);
  EXPECT_ERROR(x.swiglu(test::tensor_of(std::vector<double>(4), {2, 2}, DType::F32)), ShapeMismatch,
               "swiglu");
  EXPECT_ERROR(x.geglu(x.to_dtype(DType::F16)), DTypeMismatch, "geglu");
  EXPECT_ERROR(x.to_dtype(DType::I32).swiglu(x.to_dtype(DType::I32)), UnsupportedDType, "swiglu");
}

}  // namespace
}  // namespace beeswax
