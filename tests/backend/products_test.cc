// SPDX-License-Identifier: Apache-2.0
// Products, convolutions, pooling and upsampling on every device under test: products and convolutions
// against their definition and bound, pooling and upsampling bit for bit against the CPU (whose own tests
// hold it to the rule).
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "support/conv_cases.h"
#include "support/devices.h"
#include "support/exact_product.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

using test::bound_of;
using test::ConvCase;
using test::ExactProduct;
using test::expect_product;
using test::small_numbers;
using test::tensor_of;

class OnDevice : public testing::TestWithParam<Device> {
 protected:
  Tensor moved(const Tensor& x) const { return x.to_device(GetParam()); }
  /// On the device behind strides of some kind: dense, turned, or with gaps.
  Tensor laid(const Tensor& x, int kind) const {
    if (kind == 0) return moved(x);
    if (kind == 1) return moved(x.transpose(-1, -2).contiguous()).transpose(-1, -2);
    return test::strided_twin(moved(x));
  }
};

// Every remainder of tiles and packs, thin products of both kinds, parts of k.
const std::vector<std::array<int64_t, 4>> kProducts = {
    {1, 1, 1, 1},      {1, 1, 300, 70},  {1, 3, 17, 9},     {2, 8, 520, 33},   {1, 5, 2100, 12},
    {3, 4, 40, 130},   {1, 33, 50, 8},   {2, 65, 31, 66},   {1, 64, 64, 64},   {1, 128, 96, 40},
    {1, 130, 40, 129}, {1, 70, 1000, 9}, {1, 1, 9000, 5},   {1, 2, 8192, 260}, {1, 200, 16, 1},
    {1, 17, 257, 96},  {4, 16, 8, 16},   {1, 96, 200, 104},
};

TEST_P(OnDevice, ProductsStayWithinTheirBound) {
  for (const auto& [batch, m, k, n] : kProducts) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::F8E4M3}) {
      const Tensor a = tensor_of(small_numbers(batch * m * k, 1, false), {batch, m, k}, dtype);
      const Tensor b = tensor_of(small_numbers(batch * k * n, 2, false), {batch, k, n}, dtype);
      for (int kind = 0; kind < 9; ++kind) {
        if (kind > 1 && dtype != DType::F32 && dtype != DType::F16) break;
        expect_product(a, b, laid(a, kind % 3).matmul(laid(b, kind / 3)));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Large enough for the kernels that take a while to start: few rows, parts of k, batches, strides that only
// some of them take, and one operand for a whole batch.
TEST_P(OnDevice, LargerProductsStayWithinTheirBound) {
  constexpr std::array<int64_t, 4> kShapes[] = {{1, 1, 1032, 1032}, {1, 13, 520, 264},  {1, 40, 1032, 72},
                                                {2, 130, 72, 136},  {1, 136, 520, 136}, {1, 136, 100, 129},
                                                {3, 129, 65, 128},  {1, 20, 4104, 40}};
  for (const auto& [batch, m, k, n] : kShapes) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      const Tensor a = tensor_of(small_numbers(batch * m * k, 1, false), {batch, m, k}, dtype);
      const Tensor b = tensor_of(small_numbers(batch * k * n, 2, false), {batch, k, n}, dtype);
      const ExactProduct exact(a, b);
      for (const int kind : {0, 1, 3, 4, 8}) {
        if (dtype == DType::BF16 && kind % 3 != 0) continue;
        exact.expect(laid(a, kind % 3).matmul(laid(b, kind / 3)),
                     a.describe() + " of kind " + std::to_string(kind));
        if (HasFatalFailure()) return;
      }
      if (batch == 1) continue;
      const Tensor one = a.narrow(0, 0, 1);
      ExactProduct(one.broadcast_as(a.shape()), b).expect(moved(one).matmul(moved(b)), "one " + a.describe());
      if (HasFatalFailure()) return;
    }
  }
}

// As many tiles as the largest of GPUs has units, so that large tiles are worth it on each.
TEST_P(OnDevice, BatchesThatFillADevice) {
  constexpr int64_t batch = 304, m = 65, k = 5, n = 66;
  const Tensor a = tensor_of(small_numbers(batch * m * k, 7, false), {batch, m, k}, DType::F32);
  const Tensor b = tensor_of(small_numbers(batch * k * n, 8, false), {batch, k, n}, DType::F32);
  expect_product(a, b, moved(a).matmul(moved(b)));
}

TEST_P(OnDevice, MixedProducts) {
  for (const DType left : {DType::F32, DType::F16, DType::BF16}) {
    for (const DType right : {DType::F32, DType::F16, DType::BF16}) {
      for (const auto& [batch, m, k, n] : kProducts) {
        if (k > 600) continue;
        const Tensor a = tensor_of(small_numbers(batch * m * k, 3, false), {batch, m, k}, left);
        const Tensor b = tensor_of(small_numbers(batch * k * n, 4, false), {batch, k, n}, right);
        for (const int kind : {0, 1}) expect_product(a, b, moved(a).matmul_mixed(laid(b, kind)));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(OnDevice, IntegerProductsWrap) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    if (!dtype_is_int(dtype)) continue;
    for (const auto& [batch, m, k, n] : kProducts) {
      const auto ints = [&](const Shape& shape, uint32_t seed) {
        return tensor_of(
            test::int_inputs(dtype, static_cast<size_t>(shape.elem_count()), INT64_MIN, INT64_MAX, seed),
            shape, dtype);
      };
      const Tensor a = ints({batch, m, k}, 5), b = ints({batch, k, n}, 6);
      const Tensor wide = a.to_dtype(DType::I64).matmul(b.to_dtype(DType::I64));
      const std::vector<int64_t> want = wide.to_vec<int64_t>();
      const std::vector<int64_t> got =
          moved(a).matmul(laid(b, 1)).to_device(Device::cpu()).to_dtype(DType::I64).to_vec<int64_t>();
      const int bits = 64 - dtype_bits(dtype);
      for (size_t i = 0; i < want.size(); ++i)  // the low bits
        ASSERT_EQ(static_cast<uint64_t>(got[i]) << bits, static_cast<uint64_t>(want[i]) << bits)
            << a.describe();
    }
  }
}

TEST_P(OnDevice, BatchAxesBroadcast) {
  const auto check = [&](const Shape& left, const Shape& right) {
    const Tensor a = tensor_of(small_numbers(left.elem_count(), 1, true), left, DType::F32);
    const Tensor b = tensor_of(small_numbers(right.elem_count(), 2, true), right, DType::F32);
    EXPECT_EQ(moved(a).matmul(moved(b)).to_vec<float>(), a.matmul(b).to_vec<float>())
        << a.describe() << b.describe();
  };
  check({5, 2, 3}, {3, 4});
  check({20, 3}, {5, 3, 40});
  check({2, 1, 6, 3}, {4, 3, 2});
  check({1, 16, 3}, {7, 1, 3, 12});
  check({2, 1, 2, 1, 2, 1, 13, 4}, {1, 2, 1, 2, 1, 2, 4, 12});
  const Tensor c = tensor_of(small_numbers(3 * 4 * 5 * 6, 3, true), {3, 4, 5, 6}, DType::F32), d = moved(c);
  EXPECT_EQ(d.permute({2, 0, 1, 3}).matmul(d.permute({2, 0, 3, 1})).to_vec<float>(),
            c.permute({2, 0, 1, 3}).matmul(c.permute({2, 0, 3, 1})).to_vec<float>());
}

// Beside an operand that is dense along one of its axes, a few rows do not depend on each other.
TEST_P(OnDevice, AFewRowsDoNotDependOnEachOther) {
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{100, 64}, {1100, 130}, {37, 5}}) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      const Tensor x = moved(tensor_of(small_numbers(8 * k, 1, false), {8, k}, dtype));
      const Tensor w = tensor_of(small_numbers(k * n, 2, false), {k, n}, dtype);
      for (int kind = 0; kind < 2; ++kind) {
        const Tensor dense = laid(w, kind);
        const Tensor all = x.matmul(dense);
        for (int64_t rows = 1; rows < 8; ++rows)
          EXPECT_EQ(x.narrow(0, 8 - rows, rows).matmul(dense).to_bytes(),
                    all.narrow(0, 8 - rows, rows).to_bytes())
              << rows << " of " << x.describe() << " by " << w.describe() << " in order " << kind;
      }
    }
  }
}

// Nothing but the product itself asks the driver for anything.
TEST_P(OnDevice, AThreadMayBeginWithAProduct) {
  const Tensor a = moved(tensor_of(small_numbers(256 * 512, 1, false), {256, 512}, DType::F16));
  const Tensor b = moved(tensor_of(small_numbers(512 * 256, 2, false), {512, 256}, DType::F16));
  const std::vector<std::byte> expected = a.matmul(b).to_bytes();
  Tensor y;
  std::thread([&] { EXPECT_NO_THROW(y = a.matmul(b)); }).join();
  EXPECT_EQ(y.to_bytes(), expected);
}

TEST_P(OnDevice, ProductsRepeatThemselves) {
  const Tensor a = moved(tensor_of(small_numbers(40 * 3000, 1, false), {40, 3000}, DType::F16));
  const Tensor b = moved(tensor_of(small_numbers(3000 * 72, 2, false), {3000, 72}, DType::F16));
  for (const int64_t rows : {1, 8, 40}) {
    const Tensor x = a.narrow(0, 0, rows);
    const std::vector<std::byte> first = x.matmul(b).to_bytes();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(x.matmul(b).to_bytes(), first);
  }
}

TEST_P(OnDevice, Convolutions) {
  std::vector<ConvCase> cases = test::conv_cases();
  for (const ConvCase& more : {ConvCase{false, false, 2, 1, 16, 37, 20, 19, 3, 3, {1, 1, 1}},
                               ConvCase{false, false, 1, 2, 20, 70, 7, 7, 3, 3, {1, 1, 1}},
                               ConvCase{true, false, 1, 1, 20, 18, 13, 14, 4, 4, {1, 2, 1}},
                               ConvCase{false, false, 1, 48, 1, 1, 20, 21, 5, 5, {2, 1, 1}},
                               ConvCase{false, true, 1, 1, 3, 2, 1, 9001, 1, 5, {2, 1, 1}},
                               ConvCase{false, false, 2, 1, 130, 70, 9, 9, 1, 1, {0, 2, 1}},
                               ConvCase{false, false, 2, 1, 64, 48, 8, 8, 1, 1, {0, 1, 1}}})
    cases.push_back(more);
  for (const ConvCase& c : cases) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::F8E4M3}) {
      const Tensor x = tensor_of(small_numbers(c.x_shape().elem_count(), 1, false), c.x_shape(), dtype);
      const Tensor w =
          tensor_of(small_numbers(c.kernel_shape().elem_count(), 2, false), c.kernel_shape(), dtype);
      const ConvCase::Exact exact = c.exact(x.to_doubles(), w.to_doubles());
      for (const bool strided : {false, true}) {
        const Tensor got = strided ? c.run(test::strided_twin(moved(x)), test::strided_twin(moved(w)))
                                   : c.run(moved(x), moved(w));
        ASSERT_EQ(got.shape(), c.out_shape()) << c.describe();
        const std::vector<double> values = got.to_doubles();
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_LE(std::fabs(values[i] - exact.sum[i]),
                    bound_of(dtype, c.terms(), exact.sum[i], exact.magnitude[i]))
              << c.describe() << " " << dtype_name(dtype) << " at " << i;
      }
    }
    for (const DType dtype : {DType::U8, DType::I16, DType::I32, DType::I64}) {
      const auto ints = [&](const Shape& shape, uint32_t seed) {
        return tensor_of(test::int_inputs(dtype, static_cast<size_t>(shape.elem_count()), -1000, 1000, seed),
                         shape, dtype);
      };
      const Tensor x = ints(c.x_shape(), 3), w = ints(c.kernel_shape(), 4);
      ASSERT_EQ(c.run(moved(x), moved(w)).to_bytes(), c.run(x, w).to_bytes()) << c.describe();
    }
  }
}

TEST_P(OnDevice, ConvolutionPaddingTakesPart) {
  const Tensor x = moved(Tensor::ones({1, 1, 3}, DType::F32));
  const Tensor kernel = moved(Tensor::from_vec<float>({HUGE_VALF, 0, 0}, {1, 1, 3}));
  const std::vector<float> got = x.conv1d(kernel, {.padding = 1}).to_vec<float>();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], HUGE_VALF);
  const Tensor far = moved(Tensor::ones({1, 1, 3, 3}, DType::F32));
  EXPECT_EQ(far.conv2d(far, {.padding = 100000, .stride = 7, .dilation = 100000}).to_vec<float>()[0], 1.0f);
}

Tensor numbers(DType dtype, const Shape& shape) {
  const auto count = static_cast<size_t>(shape.elem_count());
  if (dtype_is_int(dtype))
    return tensor_of(test::int_inputs(dtype, count, INT64_MIN, INT64_MAX, 5), shape, dtype);
  std::vector<double> values = test::float_inputs(DType::F16, count + 60, -10, 10, 9);
  values.erase(values.begin(),
               values.begin() + 60);  // special values and their signs have no one order of NaNs
  return tensor_of(values, shape, dtype);
}

TEST_P(OnDevice, PoolingGivesTheBitsOfTheCpu) {
  struct Case {
    int64_t b, c, h, w, kh, kw, sh, sw;
  };
  for (const Case& p : {Case{2, 3, 8, 10, 2, 2, 2, 2},
                        {1, 2, 9, 11, 3, 3, 2, 2},
                        {1, 1, 7, 7, 7, 7, 1, 1},
                        {2, 5, 4, 4, 1, 1, 1, 1},
                        {1, 1, 6, 300, 2, 5, 1, 4},
                        {1, 1, 20, 20, 8, 8, 4, 3},
                        {1, 2, 20, 21, 4, 5, 2, 5},
                        {1, 1, 3, 900, 3, 2, 1, 2},
                        {3, 20, 7, 7, 7, 7, 7, 7},
                        {1, 1, 30, 31, 9, 7, 3, 1},
                        {1, 1, 64, 3, 64, 1, 1, 1}}) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      const Tensor x = numbers(dtype, {p.b, p.c, p.h, p.w});
      for (const Tensor& on : {moved(x), test::strided_twin(moved(x))}) {
        const std::pair<int64_t, int64_t> window(p.kh, p.kw), stride(p.sh, p.sw);
        ASSERT_EQ(on.avg_pool2d(window, stride).to_bytes(), x.avg_pool2d(window, stride).to_bytes())
            << x.describe() << " window " << p.kh << " x " << p.kw;
        ASSERT_EQ(on.max_pool2d(window, stride).to_bytes(), x.max_pool2d(window, stride).to_bytes())
            << x.describe() << " window " << p.kh << " x " << p.kw;
      }
    }
  }
  const float nan = std::nanf("");
  const Tensor special = Tensor::from_vec<float>(
      {nan, 1, -0.0f, -0.0f, 0.0f, -0.0f, 2, 3, -0.0f, -0.0f, -0.0f, -0.0f}, {1, 1, 2, 6});
  const std::vector<float> most = moved(special).max_pool2d({2, 2}).to_vec<float>();
  EXPECT_TRUE(std::isnan(most[0]));
  EXPECT_TRUE(most[1] == 0 && std::signbit(most[1]));
  EXPECT_TRUE(most[2] == 0 && !std::signbit(most[2]));
}

TEST_P(OnDevice, UpsamplingGivesTheBitsOfTheCpu) {
  const std::array<int64_t, 6> sizes[] = {
      {2, 3, 4, 5, 8, 10},  {1, 2, 7, 9, 7, 9},     {1, 1, 3, 3, 10, 11},
      {1, 2, 9, 8, 4, 3},   {2, 1, 1, 1, 5, 6},     {1, 1, 5, 6, 1, 1},
      {1, 1, 2, 2, 3, 301}, {3, 4, 13, 17, 29, 31}, {1, 1, 1, 59, 1, 118}};
  for (const auto& [b, c, h, w, to_h, to_w] : sizes) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      const Tensor x = numbers(dtype, {b, c, h, w});
      for (const Tensor& on : {moved(x), test::strided_twin(moved(x))}) {
        ASSERT_EQ(on.upsample_nearest2d(to_h, to_w).to_bytes(), x.upsample_nearest2d(to_h, to_w).to_bytes())
            << x.describe();
        if (dtype_is_int(dtype)) continue;
        for (const bool align : {false, true})
          ASSERT_EQ(on.upsample_bilinear2d(to_h, to_w, align).to_bytes(),
                    x.upsample_bilinear2d(to_h, to_w, align).to_bytes())
              << x.describe();
        ASSERT_EQ(on.upsample_bilinear2d_with_scale(1.7, 2.3, false).to_bytes(),
                  x.upsample_bilinear2d_with_scale(1.7, 2.3, false).to_bytes());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(test::devices()),
                         [](const testing::TestParamInfo<Device>& info) {
                           return test::test_name(info.param.to_string());
                         });

}  // namespace
}  // namespace beeswax
