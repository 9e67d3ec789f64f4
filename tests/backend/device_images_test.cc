// SPDX-License-Identifier: Apache-2.0
// Constants, ranges, affine maps, choices, random numbers, convolutions, pooling and upsampling on every
// device of BEESWAX_TEST_DEVICES and every dtype: the same bits as on the CPU, whose own tests hold them to
// their definitions. Convolutions promise bounds, not bits; theirs are of small whole numbers, whose sums are
// exact in any order.
#include <gtest/gtest.h>

#include <string>

#include "support/devices.h"
#include "support/numbers.h"
#include "support/raw.h"

namespace beeswax {
namespace {

class DeviceImages : public testing::TestWithParam<std::tuple<Device, DType>> {
 protected:
  void SetUp() override {
    if (device().is_cpu()) GTEST_SKIP() << "the CPU is what others are compared with";
  }
  static Device device() { return std::get<0>(GetParam()); }
  static DType dtype() { return std::get<1>(GetParam()); }
  static bool is_int() { return dtype_is_int(dtype()); }
  // f(there) is what f(the CPU) is.
  template <class F>
  static void expect_same(const F& f, const std::string& what) {
    const Tensor want = f(Device::cpu()), got = f(device()).to_device(Device::cpu());
    ASSERT_EQ(got.shape(), want.shape()) << what;
    ASSERT_EQ(got.dtype(), want.dtype()) << what;
    const test::Raw a = test::raw(got), b = test::raw(want);
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      const double x = got.to_doubles()[i], y = want.to_doubles()[i];
      ASSERT_TRUE(std::isnan(x) && std::isnan(y)) << what << ", element " << i << ": " << x << ", not " << y;
    }
  }
  // All bits; an input of tests by bits.
  static Tensor wild(const Shape& shape, uint64_t seed) {
    test::Random random(seed);
    return test::from_raw(test::random_raw(random, shape.elem_count(), dtype()), shape, dtype());
  }
  // Whole numbers from 0 to 3, and of both signs where the dtype has them.
  static Tensor small(const Shape& shape, uint64_t seed) {
    test::Random random(seed);
    const int least = dtype() == DType::U8 || dtype() == DType::U32 ? 0 : -1;
    std::uniform_int_distribution<int> some(least, 1);
    std::vector<double> values(static_cast<size_t>(shape.elem_count()));
    for (double& v : values) v = some(random);
    return test::tensor_of(values, shape, dtype());
  }
};

TEST_P(DeviceImages, ConstantsAndRanges) {
  expect_same([](const Device& d) { return Tensor::full({3, 70}, 7, dtype(), d); }, "full");
  expect_same(
      [](const Device& d) {
        Tensor x = Tensor::zeros({9, 50}, dtype(), d);
        x.narrow(1, 5, 30).const_set(3);  // through a view: rows apart
        return x;
      },
      "const_set");
  expect_same([](const Device& d) { return Tensor::arange(0, 100, dtype(), d); }, "arange");
  expect_same(
      [](const Device& d) {
        return Tensor::arange_step(is_int() ? Scalar(90) : Scalar(1.1), is_int() ? Scalar(3) : Scalar(-3.0),
                                   is_int() ? Scalar(-7) : Scalar(-0.037), dtype(), d);
      },
      "arange_step");
}

TEST_P(DeviceImages, AffineAndWhere) {
  const Tensor x = wild({37, 53}, 1), y = wild({37, 53}, 2);
  const auto map = [](const Tensor& t) {
    return is_int() ? t.affine(3, 5) : t.affine(Scalar(1.7), Scalar(-0.3));
  };
  expect_same([&](const Device& d) { return map(x.to_device(d)); }, "affine");
  expect_same([&](const Device& d) { return map(x.to_device(d).t().narrow(0, 3, 40)); }, "affine of a view");
  for (const DType chooser : {DType::U8, DType::I16, DType::U32, DType::I64}) {
    std::vector<double> bits(37 * 53);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = i * i % 7 < 3;
    const Tensor c = test::tensor_of(bits, {37, 53}, chooser);
    const std::string what = "where_cond by " + std::string(dtype_name(chooser));
    expect_same([&](const Device& d) { return c.to_device(d).where_cond(x.to_device(d), y.to_device(d)); },
                what);
    expect_same(
        [&](const Device& d) {
          return c.to_device(d).t().where_cond(x.to_device(d).t(), y.to_device(d).narrow(0, 1, 1).t());
        },
        what + ", views");
  }
}

TEST_P(DeviceImages, Random) {
  if (is_int()) return;
  const auto draw = [](const Device& d, bool normal) {
    const uint64_t before = d.seed();
    d.set_seed(17);
    const Tensor first =
        normal ? Tensor::randn({1001}, dtype(), d, 0.5, 2.0) : Tensor::rand({1001}, dtype(), d, -1.5, 2.5);
    const Tensor second = normal ? Tensor::randn({7}, dtype(), d) : Tensor::rand({7}, dtype(), d);
    d.set_seed(before);
    return Tensor::cat({first, second}, 0);
  };
  expect_same([&](const Device& d) { return draw(d, false); }, "rand");
  expect_same([&](const Device& d) { return draw(d, true); }, "randn");
}

TEST_P(DeviceImages, Convolutions) {
  const Tensor x = small({2, 4, 9, 11}, 3), line = small({2, 4, 40}, 4);
  // Few channels of a group are summed by single threads, more by tiles.
  for (const int64_t channels : {1, 2, 40}) {
    const Tensor kernel = small({2 * channels, 2, 3, 2}, 5), flat = small({channels, 4, 5}, 6),
                 transposed = small({4, channels, 3, 3}, 7);
    const ConvOptions strided{.padding = 2, .stride = 2, .dilation = 2, .groups = 2};
    const std::string what = std::to_string(channels) + " channels";
    expect_same([&](const Device& d) { return x.to_device(d).conv2d(kernel.to_device(d), strided); },
                "conv2d to " + what);
    expect_same([&](const Device& d) { return line.to_device(d).conv1d(flat.to_device(d)); },
                "conv1d to " + what);
    expect_same(
        [&](const Device& d) {
          return x.to_device(d).conv_transpose2d(transposed.to_device(d), {.padding = 1, .stride = 2});
        },
        "conv_transpose2d to " + what);
  }
}

TEST_P(DeviceImages, Pooling) {
  const Tensor x = wild({2, 3, 13, 10}, 8);
  for (const auto& [kernel, stride] :
       {std::pair<std::pair<int64_t, int64_t>, int64_t>{{2, 2}, 2}, {{3, 2}, 1}, {{5, 7}, 3}}) {
    const std::pair<int64_t, int64_t> strides{stride, stride};
    expect_same([&](const Device& d) { return x.to_device(d).avg_pool2d(kernel, strides); }, "avg_pool2d");
    expect_same([&](const Device& d) { return x.to_device(d).max_pool2d(kernel, strides); }, "max_pool2d");
  }
}

TEST_P(DeviceImages, Upsampling) {
  const Tensor x = wild({2, 3, 5, 7}, 9);
  expect_same([&](const Device& d) { return x.to_device(d).upsample_nearest2d(11, 6); }, "nearest");
  expect_same([&](const Device& d) { return x.to_device(d).reshape({6, 5, 7}).upsample_nearest1d(20); },
              "nearest of lines");
  if (is_int()) return;
  for (const bool corners : {false, true})
    expect_same([&](const Device& d) { return x.to_device(d).upsample_bilinear2d(9, 15, corners); },
                "bilinear");
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceImages,
                         testing::Combine(testing::ValuesIn(test::devices()),
                                          testing::ValuesIn(test::arithmetic_dtypes())),
                         [](const auto& info) {
                           return test::test_name(std::get<0>(info.param).to_string() + "_" +
                                                  std::string(dtype_name(std::get<1>(info.param))));
                         });

}  // namespace
}  // namespace beeswax
