// SPDX-License-Identifier: Apache-2.0
// Tensor::matmul, mv and dot: shapes, batch broadcasting, views, dtypes and errors. The arithmetic itself is
// tested in unit/gemm_test.cc.
#include <gtest/gtest.h>
#include <array>

#include <numeric>

#include "beeswax/tensor.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

// Small whole numbers, so that every dtype holds the products exactly: -2 to 2, or 0 to 2 for unsigned types.
template <class T>
Tensor numbers_of(const Shape& shape, int seed) {
  std::vector<T> data(static_cast<size_t>(shape.elem_count()));
  constexpr bool is_unsigned = std::is_unsigned_v<T>;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto number =
        static_cast<int>((i * 7 + static_cast<size_t>(seed) * 3 + i / 11) % (is_unsigned ? 3 : 5));
    data[i] = static_cast<T>(static_cast<float>(is_unsigned ? number : number - 2));
  }
  return Tensor::from_vec(data, shape);
}

Tensor numbers(const Shape& shape, DType dtype, int seed) {
  switch (dtype) {
#define BW_DTYPE(Name, name, ctype, ...) \
  case DType::Name:                      \
    return numbers_of<ctype>(shape, seed);
#define BW_STORAGE_DTYPE(Name, ...) \
  case DType::Name:                 \
    break;
#include "tables/dtypes.def"
  }
  return Tensor();
}

template <class T>
std::vector<double> doubles_of(const Tensor& x) {
  std::vector<double> out;
  for (const T& value : x.to_vec<T>()) {
    if constexpr (sizeof(T) < 4 && !std::is_integral_v<T>) {
      out.push_back(static_cast<double>(static_cast<float>(value)));
    } else {
      out.push_back(static_cast<double>(value));
    }
  }
  return out;
}

std::vector<double> doubles(const Tensor& x) {
  switch (x.dtype()) {
#define BW_DTYPE(Name, name, ctype, ...) \
  case DType::Name:                      \
    return doubles_of<ctype>(x);
#define BW_STORAGE_DTYPE(Name, ...) \
  case DType::Name:                 \
    break;
#include "tables/dtypes.def"
  }
  return {};
}

// The product by definition, over the broadcast batch axes.
std::vector<double> expected(const Tensor& a, const Tensor& b) {
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const auto batch_of = [](const Tensor& x) {
    return Shape(x.shape().dims().first(static_cast<size_t>(x.rank() - 2)));
  };
  const Shape batch = broadcast_shapes(batch_of(a), batch_of(b), "test");
  Shape shape_a = batch, shape_b = batch;
  shape_a.push_back(m), shape_a.push_back(k);
  shape_b.push_back(k), shape_b.push_back(n);
  const std::vector<double> x = doubles(a.broadcast_as(shape_a));
  const std::vector<double> y = doubles(b.broadcast_as(shape_b));
  std::vector<double> out;
  for (int64_t g = 0; g < batch.elem_count(); ++g)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += x[static_cast<size_t>((g * m + i) * k + p)] * y[static_cast<size_t>((g * k + p) * n + j)];
        out.push_back(sum);
      }
  return out;
}

void expect_product(const Tensor& a, const Tensor& b, const Shape& shape) {
  const Tensor got = a.matmul(b);
  EXPECT_EQ(got.shape(), shape) << got.describe();
  EXPECT_EQ(got.dtype(), a.dtype());
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_EQ(doubles(got), expected(a, b)) << a.describe() << " by " << b.describe();
}

TEST(Matmul, EveryDType) {
  for (int i = 0; i < kArithmeticDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    expect_product(numbers({4, 9}, dtype, 1), numbers({9, 5}, dtype, 2), {4, 5});
    expect_product(numbers({2, 3, 7}, dtype, 3), numbers({2, 7, 4}, dtype, 4), {2, 3, 4});
  }
}

TEST(Matmul, MixedDTypesMeetInF32) {
  const DType mixed[] = {DType::F32, DType::F16, DType::BF16};
  for (const DType left : mixed) {
    for (const DType right : mixed) {
      // Thin and blocked products, both operands dense along either axis, and a batch.
      for (const auto& [m, k, n] :
           {std::array<int64_t, 3>{1, 300, 70}, {3, 17, 9}, {40, 33, 50}, {70, 20, 2}, {1, 1, 1}}) {
        const Tensor a = numbers({m, k}, left, 1), b = numbers({n, k}, right, 2).t();
        const Tensor wide = a.to_dtype(DType::F32).matmul(b.to_dtype(DType::F32)).to_dtype(left);
        for (const Tensor& x : {a, a.t().contiguous().t()})
          for (const Tensor& y : {b, b.contiguous()}) {
            const Tensor got = x.matmul_mixed(y);
            EXPECT_EQ(got.dtype(), left);
            EXPECT_EQ(got.to_bytes(), wide.to_bytes()) << a.describe() << " by " << b.describe();
          }
      }
      const Tensor a = numbers({2, 1, 5, 6}, left, 3), b = numbers({3, 6, 4}, right, 4);
      EXPECT_EQ(a.matmul_mixed(b).to_bytes(),
                a.to_dtype(DType::F32).matmul(b.to_dtype(DType::F32)).to_dtype(left).to_bytes());
    }
  }
  EXPECT_EQ(doubles(numbers({3, 4}, DType::I32, 5).matmul_mixed(numbers({4, 2}, DType::I32, 6))),
            expected(numbers({3, 4}, DType::I32, 5), numbers({4, 2}, DType::I32, 6)));
  EXPECT_ERROR(Tensor::zeros({2, 3}, DType::F32).matmul_mixed(Tensor::zeros({3, 2}, DType::F64)),
               DTypeMismatch, "[matmul_mixed] the dtypes of [2, 3] f32 cpu and [3, 2] f64 cpu differ");
  EXPECT_ERROR(Tensor::zeros({2, 3}, DType::F32).matmul_mixed(Tensor::zeros({2, 3}, DType::F16)),
               ShapeMismatch, "[matmul_mixed] cannot multiply [2, 3] f32 cpu by [2, 3] f16 cpu");
}

TEST(Matmul, BatchAxesBroadcast) {
  const DType f = DType::F32;
  expect_product(numbers({5, 2, 3}, f, 1), numbers({3, 4}, f, 2), {5, 2, 4});
  expect_product(numbers({2, 3}, f, 1), numbers({5, 3, 4}, f, 2), {5, 2, 4});
  expect_product(numbers({2, 1, 6, 3}, f, 1), numbers({4, 3, 2}, f, 2), {2, 4, 6, 2});
  expect_product(numbers({1, 6, 3}, f, 1), numbers({7, 1, 3, 2}, f, 2), {7, 1, 6, 2});
  expect_product(numbers({2, 1, 2, 1, 2, 1, 3, 4}, f, 1), numbers({1, 2, 1, 2, 1, 2, 4, 2}, f, 2),
                 {2, 2, 2, 2, 2, 2, 3, 2});
  EXPECT_EQ(numbers({5, 1, 3}, f, 1).broadcast_matmul(numbers({3, 4}, f, 2)).shape(), (Shape{5, 1, 4}));
}

TEST(Matmul, ReadsViewsWithoutCopies) {
  const DType f = DType::F32;
  const Tensor a = numbers({6, 10}, f, 1), b = numbers({10, 8}, f, 2);
  expect_product(a.narrow(1, 2, 5), b.narrow(0, 3, 5).narrow(1, 1, 6), {6, 6});
  expect_product(b.t(), a.t(), {8, 6});
  expect_product(a.get(2).broadcast_left({4}), b, {4, 8});
  expect_product(a, b.narrow(1, 3, 1).broadcast_as({10, 7}), {6, 7});
  const Tensor c = numbers({3, 4, 5, 6}, f, 3);
  expect_product(c.permute({2, 0, 1, 3}), c.permute({2, 0, 3, 1}), {5, 3, 4, 4});
  expect_product(c.transpose(1, 2), c.permute({0, 2, 3, 1}), {3, 5, 4, 4});
}

TEST(Matmul, NothingToAddGivesZeros) {
  const Tensor x = numbers({2, 0}, DType::F32, 0).matmul(numbers({0, 3}, DType::F32, 0));
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vec<float>(), std::vector<float>(6, 0.0f));
  EXPECT_EQ(numbers({0, 4}, DType::F16, 0).matmul(numbers({4, 3}, DType::F16, 0)).shape(), (Shape{0, 3}));
  EXPECT_EQ(numbers({0, 2, 4}, DType::F32, 0).matmul(numbers({4, 3}, DType::F32, 0)).shape(),
            (Shape{0, 2, 3}));
}

TEST(Matmul, VectorProducts) {
  const Tensor a = numbers({6, 10}, DType::F32, 1), x = numbers({10}, DType::F32, 5);
  const Tensor y = a.mv(x);
  EXPECT_EQ(y.shape(), (Shape{6}));
  EXPECT_EQ(doubles(y), doubles(a.matmul(x.unsqueeze(1))));
  EXPECT_EQ(a.t().mv(numbers({6}, DType::F32, 2)).shape(), (Shape{10}));
  const Tensor d = x.dot(a.get(3));
  EXPECT_EQ(d.rank(), 0);
  EXPECT_EQ(d.to_scalar<float>(), y.to_vec<float>()[3]);
  EXPECT_EQ(numbers({0}, DType::I32, 0).dot(numbers({0}, DType::I32, 0)).to_scalar<int32_t>(), 0);
}

TEST(Matmul, Refuses) {
  const auto f32 = [](const Shape& shape) { return Tensor::zeros(shape, DType::F32); };
  EXPECT_ERROR(
      f32({2, 3}).matmul(f32({4, 5})), ShapeMismatch,
      "[matmul] cannot multiply [2, 3] f32 cpu by [4, 5] f32 cpu; accepted: [.., m, k] by [.., k, n]");
  EXPECT_ERROR(f32({3}).matmul(f32({3, 5})), ShapeMismatch, "cannot multiply [3] f32 cpu by [3, 5] f32 cpu");
  EXPECT_ERROR(
      f32({2, 2, 3}).matmul(f32({3, 3, 5})), ShapeMismatch,
      "[matmul] cannot multiply [2, 2, 3] f32 cpu by [3, 3, 5] f32 cpu; accepted: [.., m, k] by [.., k, n] "
      "with leading axes that broadcast (equal or 1)");
  EXPECT_ERROR(f32({2, 3}).matmul(Tensor::zeros({3, 2}, DType::F16)), DTypeMismatch, "[2, 3] f32 cpu");
  EXPECT_ERROR(Tensor::zeros({2, 3}, DType::F4).matmul(Tensor::zeros({3, 2}, DType::F4)), UnsupportedDType,
               "accepted dtypes: u8");
  EXPECT_ERROR(f32({2, 3}).mv(f32({2})), ShapeMismatch,
               "[mv] cannot multiply [2, 3] f32 cpu by [2] f32 cpu; accepted: [m, k] by [k]");
  EXPECT_ERROR(f32({3}).dot(f32({4})), ShapeMismatch,
               "[dot] cannot multiply [3] f32 cpu by [4] f32 cpu; accepted: [k] by [k]");
}

}  // namespace
}  // namespace beeswax
