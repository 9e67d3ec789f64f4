// SPDX-License-Identifier: Apache-2.0
// Pooling bit for bit against the documented order, one window at a time.
#include <gtest/gtest.h>

#include "support/devices.h"
#include "support/documented_order.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

using test::ordered_sum;
using test::tensor_of;

struct PoolCase {
  int64_t b, c, h, w, kh, kw, sh, sw;
  int64_t h_out() const { return (h - kh) / sh + 1; }
  int64_t w_out() const { return (w - kw) / sw + 1; }
  Shape x_shape() const { return {b, c, h, w}; }
  Tensor average(const Tensor& x) const { return x.avg_pool2d({kh, kw}, std::pair(sh, sw)); }
  Tensor max(const Tensor& x) const { return x.max_pool2d({kh, kw}, std::pair(sh, sw)); }
};

std::vector<PoolCase> cases() {
  std::vector<PoolCase> out = {
      {2, 3, 8, 10, 2, 2, 2, 2},        {1, 2, 9, 11, 3, 3, 2, 2},    {1, 1, 7, 7, 7, 7, 1, 1},
      {2, 5, 4, 4, 1, 1, 1, 1},         {1, 1, 9, 9, 1, 1, 3, 2},     {1, 2, 12, 70, 3, 3, 1, 1},
      {1, 1, 6, 300, 2, 5, 1, 4},       {1, 1, 20, 20, 8, 8, 4, 3},   {1, 2, 20, 21, 9, 8, 2, 5},
      {1, 1, 30, 40, 30, 40, 1, 1},     {1, 1, 30, 42, 23, 24, 3, 2}, {1, 1, 66, 66, 64, 64, 1, 2},
      {1, 1, 5, 5, 2, 2, 100, 100},     {1, 1, 3, 9000, 3, 2, 1, 2},  {3, 20, 7, 7, 7, 7, 7, 7},
      {1, 1, 130, 31, 65, 1, 3, 1},     {2, 3, 4, 16, 2, 2, 2, 2},    {1, 2, 7, 32, 2, 2, 2, 2},
      {1, 2, 6, 33, 2, 2, 2, 2},        {1, 20, 10, 64, 2, 2, 2, 2},  {1, 1, 260, 300, 257, 256, 1, 4},
      {1, 1, 66000, 2, 66000, 1, 1, 1},
  };
  for (int64_t w = 1; w <= 40; ++w)
    out.push_back({1, 1, 4, w, 1 + w % 4, 1 + (w - 1) % 3, 1 + w % 3, 1 + w % 2});
  return out;
}

std::vector<double> window(const PoolCase& p, const std::vector<double>& x, int64_t output) {
  const int64_t row = output / p.w_out() % p.h_out() * p.sh, column = output % p.w_out() * p.sw;
  const int64_t plane = output / p.w_out() / p.h_out();
  std::vector<double> out;
  for (int64_t ky = 0; ky < p.kh; ++ky)
    for (int64_t kx = 0; kx < p.kw; ++kx)
      out.push_back(x[static_cast<size_t>((plane * p.h + row + ky) * p.w + column + kx)]);
  return out;
}

Tensor floats(const PoolCase& p, DType dtype) {
  const auto count = static_cast<size_t>(p.x_shape().elem_count());
  std::vector<double> values = test::float_inputs(DType::F16, 2 * count + 100, -10, 10, 7);
  values.erase(values.begin(), values.begin() + 60);  // the special ones have a test of their own
  for (double& v : values) v = std::fabs(v) > 100 ? 1 / v : v;
  values.resize(count);
  return tensor_of(values, p.x_shape(), dtype);
}

Tensor ints(const PoolCase& p, DType dtype) {
  return tensor_of(
      test::int_inputs(dtype, static_cast<size_t>(p.x_shape().elem_count()), INT64_MIN, INT64_MAX, 5),
      p.x_shape(), dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_bytes() == b.to_bytes();
}

TEST(Pool, AveragesInTheDocumentedOrder) {
  for (const PoolCase& p : cases()) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      if (!dtype_is_float(dtype)) continue;
      const Tensor x = floats(p, dtype);
      const std::vector<double> values = x.to_doubles();
      const int64_t outputs = p.b * p.c * p.h_out() * p.w_out();
      std::vector<double> want;
      for (int64_t i = 0; i < outputs; ++i) {
        const std::vector<double> elements = window(p, values, i);
        if (dtype == DType::F64) {
          want.push_back(ordered_sum(elements) / static_cast<double>(p.kh * p.kw));
        } else {
          const float sum = ordered_sum(std::vector<float>(elements.begin(), elements.end()));
          want.push_back(static_cast<double>(sum / static_cast<float>(p.kh * p.kw)));
        }
      }
      const Shape to{p.b, p.c, p.h_out(), p.w_out()};
      const Tensor got = p.average(x);
      ASSERT_EQ(got.shape(), to);
      ASSERT_EQ(got.dtype(), dtype);
      ASSERT_TRUE(same_bits(got, tensor_of(want, to, dtype)))
          << x.describe() << " window " << p.kh << " x " << p.kw << " stride " << p.sh << ", " << p.sw;
    }
  }
}

TEST(Pool, IntegerAveragesTruncate) {
  for (const PoolCase& p : cases()) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      if (!dtype_is_int(dtype)) continue;
      const Tensor x = ints(p, dtype);
      const std::vector<int64_t> values = x.to_dtype(DType::I64).to_vec<int64_t>();
      const std::vector<int64_t> got = p.average(x).to_dtype(DType::I64).to_vec<int64_t>();
      for (size_t i = 0; i < got.size(); ++i) {
        const auto output = static_cast<int64_t>(i);
        const int64_t row = output / p.w_out() % p.h_out() * p.sh, column = output % p.w_out() * p.sw;
        const int64_t plane = output / p.w_out() / p.h_out();
        uint64_t sum = 0;
        for (int64_t k = 0; k < p.kh * p.kw; ++k)
          sum += static_cast<uint64_t>(
              values[static_cast<size_t>((plane * p.h + row + k / p.kw) * p.w + column + k % p.kw)]);
        ASSERT_EQ(got[i], static_cast<int64_t>(sum) / (p.kh * p.kw)) << x.describe() << " at " << i;
      }
    }
  }
}

TEST(Pool, MaxTakesTheLargest) {
  for (const PoolCase& p : cases()) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      const Tensor x = dtype_is_int(dtype) ? ints(p, dtype) : floats(p, dtype);
      const Tensor got = p.max(x);
      ASSERT_EQ(got.shape(), (Shape{p.b, p.c, p.h_out(), p.w_out()}));
      if (dtype == DType::I64) {  // not all are doubles
        const std::vector<int64_t> values = x.to_vec<int64_t>(), most = got.to_vec<int64_t>();
        for (size_t i = 0; i < most.size(); ++i) {
          const auto output = static_cast<int64_t>(i);
          const int64_t row = output / p.w_out() % p.h_out() * p.sh, column = output % p.w_out() * p.sw;
          const int64_t plane = output / p.w_out() / p.h_out();
          int64_t want = INT64_MIN;
          for (int64_t k = 0; k < p.kh * p.kw; ++k)
            want = std::max(
                want, values[static_cast<size_t>((plane * p.h + row + k / p.kw) * p.w + column + k % p.kw)]);
          ASSERT_EQ(most[i], want);
        }
        continue;
      }
      const std::vector<double> values = x.to_doubles(), most = got.to_doubles();
      for (size_t i = 0; i < most.size(); ++i) {
        const std::vector<double> elements = window(p, values, static_cast<int64_t>(i));
        ASSERT_EQ(most[i], *std::max_element(elements.begin(), elements.end()))
            << x.describe() << " at " << i;
      }
    }
  }
}

TEST(Pool, SpecialValues) {
  const float nan = std::nanf("");
  const Tensor x = Tensor::from_vec<float>({nan,       1, -0.0f,      -0.0f, 0.0f,  -0.0f,  //
                                            2,         3, -0.0f,      -0.0f, -0.0f, -0.0f,  //
                                            HUGE_VALF, 1, -HUGE_VALF, 5,     3e38f, 3e38f,  //
                                            1,         1, HUGE_VALF,  5,     3e38f, 3e38f},
                                           {1, 1, 4, 6});
  for (const DType dtype : test::arithmetic_dtypes()) {
    if (!dtype_is_float(dtype)) continue;
    const bool infinite = dtype != DType::F8E4M3;
    const std::vector<double> most = x.to_dtype(dtype).max_pool2d({2, 2}).to_doubles();
    EXPECT_TRUE(std::isnan(most[0]));
    EXPECT_EQ(most[1], 0);
    EXPECT_TRUE(std::signbit(most[1]));
    EXPECT_EQ(most[2], 0);
    EXPECT_FALSE(std::signbit(most[2]));
    if (infinite) {
      EXPECT_EQ(most[3], HUGE_VAL);
    }
    const std::vector<double> mean = x.to_dtype(dtype).avg_pool2d({2, 2}).to_doubles();
    EXPECT_TRUE(std::isnan(mean[0]));
    EXPECT_TRUE(mean[1] == 0 && std::signbit(mean[1]));
    EXPECT_TRUE(mean[2] == 0 && !std::signbit(mean[2]));
    if (infinite) {
      EXPECT_EQ(mean[3], HUGE_VAL);
      EXPECT_TRUE(std::isnan(mean[4]));
    }
  }
  EXPECT_EQ(x.avg_pool2d({2, 2}).to_vec<float>()[5], HUGE_VALF);  // the sum overflows
  EXPECT_EQ(x.to_dtype(DType::F64).avg_pool2d({2, 2}).to_vec<double>()[5], static_cast<double>(3e38f));
}

TEST(Pool, StrideDefaultsToTheWindow) {
  const PoolCase p{2, 3, 9, 10, 2, 3, 2, 3};
  const Tensor x = floats(p, DType::F32);
  EXPECT_TRUE(same_bits(x.avg_pool2d({2, 3}), p.average(x)));
  EXPECT_TRUE(same_bits(x.max_pool2d({2, 3}), p.max(x)));
  EXPECT_EQ(x.max_pool2d({2, 3}).shape(), (Shape{2, 3, 4, 3}));
}

TEST(Pool, AnyStridesThreadsAndLevelsGiveTheSameBits) {
  std::vector<PoolCase> all = cases();
  all.push_back({4, 16, 56, 56, 3, 3, 2, 2});
  for (const PoolCase& p : all) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      const Tensor x = dtype_is_int(dtype) ? ints(p, dtype) : floats(p, dtype);
      const Tensor average = p.average(x), most = p.max(x);
      const auto check = [&](const Tensor& input, const char* what) {
        ASSERT_TRUE(same_bits(p.average(input), average)) << what << " " << x.describe();
        ASSERT_TRUE(same_bits(p.max(input), most)) << what << " " << x.describe();
      };
      check(test::strided_twin(x), "strides");
      check(x.transpose(0, 1).copy().transpose(0, 1), "strides");
      at_every_level([&](cpu::Isa) { check(x, "level"); });
      if (HasFatalFailure()) return;
    }
  }
  const PoolCase& p = all.back();
  const Tensor x = floats(p, DType::F32);
  const Tensor average = p.average(x), most = p.max(x);
  with_threads({1, 2, 5}, [&](int) {
    EXPECT_TRUE(same_bits(p.average(x), average));
    EXPECT_TRUE(same_bits(p.max(x), most));
  });
}

TEST(Pool, BroadcastInputs) {
  const Tensor lines =
      Tensor::arange(0, 36, DType::F32).reshape({2, 18}).index({all, Index(range(0, 9))}).t();
  for (const Tensor& x : {lines.reshape({1, 1, 9, 2}).broadcast_as({3, 4, 9, 2}),
                          lines.t().unsqueeze(1).unsqueeze(1).broadcast_as({2, 3, 5, 9}).transpose(2, 3),
                          Tensor::ones({1}, DType::F32).broadcast_as({2, 2, 5, 6})}) {
    EXPECT_TRUE(same_bits(x.max_pool2d({2, 2}), x.copy().max_pool2d({2, 2}))) << x.describe();
    EXPECT_TRUE(same_bits(x.avg_pool2d({4, 1}, {{3, 2}}), x.copy().avg_pool2d({4, 1}, {{3, 2}})));
    EXPECT_TRUE(same_bits(x.upsample_nearest2d(7, 11), x.copy().upsample_nearest2d(7, 11)));
  }
}

TEST(Pool, OneNumberIsASquareWindow) {
  const Tensor x = Tensor::arange(0, 2 * 6 * 6, DType::F32).reshape({1, 2, 6, 6});
  EXPECT_EQ(x.avg_pool2d(2).to_bytes(), x.avg_pool2d({2, 2}).to_bytes());
  EXPECT_EQ(x.max_pool2d(3, 2).to_bytes(), x.max_pool2d({3, 3}, {{2, 2}}).to_bytes());
}

TEST(Pool, EmptyInputsAndErrors) {
  EXPECT_EQ(Tensor::zeros({0, 3, 4, 4}, DType::F32).avg_pool2d({2, 2}).shape(), (Shape{0, 3, 2, 2}));
  EXPECT_EQ(Tensor::zeros({2, 0, 4, 4}, DType::U8).max_pool2d({2, 2}).shape(), (Shape{2, 0, 2, 2}));
  const Tensor x = Tensor::zeros({1, 2, 4, 6}, DType::F32);
  EXPECT_ERROR(x.avg_pool2d({5, 2}), InvalidArgument,
               "[avg_pool2d] the output would be empty, because the window is larger than the input: input "
               "[1, 2, 4, 6] f32 cpu, kernel (5, 2), stride (5, 2)");
  EXPECT_ERROR(x.max_pool2d({0, 2}), InvalidArgument, "each side of the kernel must be at least 1");
  EXPECT_ERROR(x.max_pool2d({2, 2}, std::pair<int64_t, int64_t>(1, 0)), InvalidArgument,
               "each stride must be at least 1");
  EXPECT_ERROR(x.squeeze(0).max_pool2d({2, 2}), ShapeMismatch,
               "expected input [batch, channels, height, width] (rank 4), got [2, 4, 6]");
}

}  // namespace
}  // namespace beeswax
