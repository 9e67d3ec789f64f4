// SPDX-License-Identifier: Apache-2.0
// Convolutions against their definition, in every dtype, and what they promise besides: the order of
// additions of the matrix product, the same bits for any strides, thread count and instruction-set level.
#include <gtest/gtest.h>

#include <cstring>

#include "support/conv_checks.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

using test::conv_cases;
using test::ConvCase;
using test::expect_close;
using test::expect_close_and_same;
using test::same_bits;
using Inputs = test::ConvInputs;
using test::small_numbers;
using test::tensor_of;

void expect_wrapped(const ConvCase& c, DType dtype, const Tensor& got, const std::vector<uint64_t>& exact) {
  const Tensor wide = got.to_dtype(DType::I64);
  const std::vector<int64_t> values = wide.to_vec<int64_t>();
  ASSERT_EQ(values.size(), exact.size());
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t want = static_cast<int64_t>(exact[i]);
    switch (dtype) {
      case DType::U8:
        want = static_cast<uint8_t>(exact[i]);
        break;
      case DType::U32:
        want = static_cast<uint32_t>(exact[i]);
        break;
      case DType::I16:
        want = static_cast<int16_t>(exact[i]);
        break;
      case DType::I32:
        want = static_cast<int32_t>(exact[i]);
        break;
      default:
        break;
    }
    ASSERT_EQ(values[i], want) << c.describe() << " " << dtype_name(dtype) << " at " << i;
  }
}

TEST(Conv, MatchesTheDefinition) {
  for (const ConvCase& c : conv_cases()) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      if (dtype_is_int(dtype)) {
        const auto x = test::int_inputs(dtype, static_cast<size_t>(c.x_shape().elem_count()), -1000, 1000, 3);
        const auto k =
            test::int_inputs(dtype, static_cast<size_t>(c.kernel_shape().elem_count()), -1000, 1000, 4);
        const Tensor got = c.run(tensor_of(x, c.x_shape(), dtype), tensor_of(k, c.kernel_shape(), dtype));
        ASSERT_EQ(got.shape(), c.out_shape()) << c.describe();
        expect_wrapped(c, dtype, got, c.wrapped(x, k));
      } else {
        const Inputs in(c, dtype, false);
        const Tensor got = c.run(in.x, in.kernel);
        ASSERT_EQ(got.shape(), c.out_shape()) << c.describe();
        ASSERT_EQ(got.dtype(), dtype);
        expect_close(c, dtype, got, c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Conv, EveryWidthAndChannelCount) {
  for (int64_t w = 1; w <= 40; ++w) {
    for (const auto& [h, c_in, c_out, stride] : std::vector<std::array<int64_t, 4>>{
             {1, 1 + w % 9, 1 + w % 7, 1}, {3, 2, 1 + w % 9, 1}, {5, 1 + w % 3, 6 + w % 30, 1 + w % 3}}) {
      for (const bool transposed : {false, true}) {
        const ConvCase c{transposed, h == 1,         1, 1 + w % 2,     c_in, c_out, h,
                         w,          h == 1 ? 1 : 3, 3, {1, stride, 1}};
        const Inputs in(c, DType::F32, false, static_cast<uint32_t>(w));
        expect_close(c, DType::F32, c.run(in.x, in.kernel),
                     c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Large enough for several blocks of rows, pieces of a row, tiles of channels and parts of a group.
std::vector<ConvCase> large_cases() {
  return {
      {false, false, 2, 1, 32, 37, 30, 29, 3, 3, {1, 1, 1}},
      {false, false, 1, 1, 5, 20, 3, 700, 3, 3, {1, 1, 1}},
      {false, true, 1, 1, 3, 2, 1, 9001, 1, 5, {2, 1, 1}},
      {false, false, 1, 2, 40, 250, 7, 7, 3, 3, {1, 1, 1}},
      {true, false, 1, 1, 20, 18, 13, 14, 4, 4, {1, 2, 1}},
      {false, false, 1, 48, 1, 1, 40, 41, 5, 5, {2, 1, 1}},
      {false, false, 2, 1, 3, 24, 64, 64, 7, 7, {3, 2, 1}},
      {true, true, 1, 1, 32, 1, 1, 500, 1, 16, {4, 8, 1}},
      {false, false, 1, 1, 64, 3, 33, 35, 3, 3, {1, 1, 1}},
      {false, false, 2, 1, 130, 70, 9, 9, 1, 1, {0, 2, 1}},
      {true, false, 1, 30, 1, 1, 21, 20, 3, 3, {1, 2, 1, 1, 1}},
      {false, false, 2, 1, 64, 48, 1, 1, 1, 1, {0, 1, 1}},
      {false, false, 1, 1, 90, 17, 20, 29, 3, 3, {1, 1, 1}},  // more than one chain of terms
      {true, false, 1, 1, 50, 9, 7, 8, 4, 4, {1, 2, 1}},
  };
}

TEST(Conv, LargeShapes) {
  for (const ConvCase& c : large_cases()) {
    const Inputs in(c, DType::F32, false);
    expect_close(c, DType::F32, c.run(in.x, in.kernel), c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
    const Inputs half(c, DType::BF16, false);
    expect_close(c, DType::BF16, c.run(half.x, half.kernel),
                 c.exact(half.x.to_doubles(), half.kernel.to_doubles()));
    if (HasFatalFailure()) return;
  }
}

// Every remainder of a tile's rows, columns and steps of k, tables of terms that are filled again, and each
// way of telling what lies in the image, on kernels that make tiles of many channels.
std::vector<ConvCase> tile_cases() {
  return {
      {false, false, 1, 1, 33, 65, 9, 10, 3, 3, {1, 1, 1}},    // more than one table of terms
      {false, false, 2, 1, 70, 128, 6, 6, 3, 3, {1, 1, 1}},    // and more than two
      {false, false, 1, 1, 8, 64, 10, 16, 3, 3, {0, 1, 1}},    // windows inside; packs of outputs
      {false, false, 3, 1, 4, 130, 8, 8, 3, 3, {1, 1, 1}},     // packs over several images
      {false, false, 2, 2, 5, 9, 9, 11, 3, 2, {1, 2, 1}},      // strides; groups of few channels
      {false, false, 1, 3, 7, 70, 5, 9, 1, 3, {1, 1, 3}},      // groups of many; dilation
      {false, true, 2, 1, 11, 67, 1, 129, 1, 3, {1, 1, 1}},    // one axis, a column more than a tile
      {false, true, 1, 1, 3, 6, 1, 90, 1, 17, {8, 1, 1}},      // more columns of taps than bits
      {false, false, 1, 1, 2, 7, 18, 5, 16, 2, {3, 1, 1}},     // more rows
      {false, false, 1, 1, 1, 80, 33, 17, 16, 16, {0, 3, 1}},  // all bits; inside
      {false, true, 1, 1, 40, 5, 1, 70, 1, 20, {19, 1, 2}},    // distances, more than a table of terms
      {false, false, 1, 1, 1, 5, 3, 4, 1, 1, {2, 1, 1}},       // one term; windows of padding alone
      {true, false, 2, 1, 9, 66, 5, 6, 4, 4, {1, 2, 1}},       // classes of taps of one size
      {true, false, 1, 2, 6, 9, 4, 5, 3, 3, {1, 2, 1, 1, 1}},  // and of several
      {true, false, 1, 1, 5, 8, 4, 3, 2, 3, {0, 4, 1}},        // outputs that no tap reaches
      {true, true, 1, 1, 20, 70, 1, 40, 1, 16, {4, 8, 3}},
      {false, true, 1, 1, 2, 6, 1, 3, 1, 17, {9600, 1, 1200}},  // further than distances
  };
}

// Enough groups for a GPU's larger tiles of f32, by rows: few, some and many.
TEST(Conv, LargerTilesOfF32) {
  for (const ConvCase& c : std::vector<ConvCase>{{false, true, 1, 130, 1, 5, 1, 250, 1, 3, {1, 1, 1}},
                                                 {false, true, 1, 190, 1, 64, 1, 129, 1, 2, {0, 1, 1}},
                                                 {false, true, 1, 530, 1, 65, 1, 2, 1, 2, {1, 1, 1}}}) {
    const Inputs in(c, DType::F32, false);
    expect_close(c, DType::F32, c.run(in.x, in.kernel), c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
    if (HasFatalFailure()) return;
  }
}

// Enough outputs for the larger tiles of f16 and bf16, with remainders of rows and columns.
TEST(Conv, LargerTilesOfHalfPrecision) {
  for (const ConvCase& c : std::vector<ConvCase>{{false, true, 2, 1, 11, 130, 1, 851, 1, 3, {1, 1, 1}},
                                                 {false, false, 1, 5, 6, 66, 33, 40, 3, 3, {1, 1, 1}},
                                                 {true, false, 1, 3, 9, 70, 20, 20, 3, 3, {1, 2, 1, 1, 1}}}) {
    for (const DType dtype : {DType::F16, DType::BF16}) {
      const Inputs in(c, dtype, false);
      const Tensor got = c.run(in.x, in.kernel);
      expect_close(c, dtype, got, c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
      if (HasFatalFailure()) return;
      // An image by itself may take smaller ones: the same bits.
      EXPECT_TRUE(same_bits(c.run(in.x.narrow(0, 0, 1), in.kernel), got.narrow(0, 0, 1))) << c.describe();
    }
  }
}

// Groups of one channel: planes in several tiles, several planes in a block, windows that do not fit in one.
std::vector<ConvCase> plane_cases() {
  return {
      {false, false, 1, 2, 1, 1, 75, 90, 3, 3, {1, 1, 1}},   // rows in tiles
      {false, false, 1, 1, 1, 2, 5, 1500, 3, 3, {1, 1, 1}},  // columns too
      {false, true, 2, 3, 1, 3, 1, 5001, 1, 5, {2, 2, 1}},   // one row
      {false, false, 2, 40, 1, 1, 4, 5, 3, 3, {1, 1, 1}},    // many planes in a block
      {false, false, 1, 5, 1, 4, 6, 7, 3, 2, {2, 3, 2}},
      {true, false, 2, 7, 1, 2, 9, 8, 3, 3, {1, 2, 1, 1, 1}},
      {true, true, 1, 6, 1, 1, 1, 30, 1, 7, {2, 3, 2}},
      {false, false, 1, 3, 1, 1, 30, 31, 3, 3, {30, 1, 30}},   // wide windows
      {false, false, 1, 3, 1, 1, 30, 31, 3, 3, {40, 30, 40}},  // and some that do not fit
      {false, false, 1, 2, 1, 2, 20, 21, 17, 17, {8, 1, 1}},   // more weights than fit
      {false, false, 1, 70, 1, 1, 1, 1, 1, 1, {0, 1, 1}},
  };
}

TEST(Conv, PlanesOfOneChannel) {
  for (const ConvCase& c : plane_cases()) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
      expect_close_and_same(c, dtype, Inputs(c, dtype, false));
      if (HasFatalFailure()) return;
    }
    for (const DType dtype : {DType::U8, DType::I64}) {
      const auto x = test::int_inputs(dtype, static_cast<size_t>(c.x_shape().elem_count()), -1000, 1000, 3);
      const auto k = test::int_inputs(dtype, static_cast<size_t>(c.kernel_shape().elem_count()), -9, 9, 4);
      expect_wrapped(c, dtype, c.run(tensor_of(x, c.x_shape(), dtype), tensor_of(k, c.kernel_shape(), dtype)),
                     c.wrapped(x, k));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Conv, TilesOfFloats) {
  for (const ConvCase& c : tile_cases()) {
    for (const DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F8E4M3}) {
      const Inputs in(c, dtype, false);
      const Tensor got = expect_close_and_same(c, dtype, in);
      if (HasFatalFailure()) return;
      if (c.b > 1) {
        EXPECT_TRUE(same_bits(c.run(in.x.narrow(0, 1, 1), in.kernel), got.narrow(0, 1, 1))) << c.describe();
      }
    }
  }
}

// Whole numbers sum exactly: <conv(x, w), y> and <x, conv_transpose(y, w)> are equal.
TEST(Conv, TransposedIsTheAdjoint) {
  for (ConvCase c : conv_cases()) {
    if (c.transposed) continue;
    const Inputs in(c, DType::F64, true);
    const Tensor y = tensor_of(small_numbers(c.out_shape().elem_count(), 9, true), c.out_shape(), DType::F64);
    // A floor in the forward size left input positions unread: output_padding brings them back.
    ConvOptions o = c.options;
    o.groups = c.groups;
    const int64_t left_w = (c.w + 2 * o.padding - o.dilation * (c.kw - 1) - 1) % o.stride;
    const int64_t left_h = (c.h + 2 * o.padding - o.dilation * (c.kh - 1) - 1) % o.stride;
    if (!c.flat && left_w != left_h) continue;  // one option serves both axes
    o.output_padding = left_w;
    const Tensor back = c.flat ? y.conv_transpose1d(in.kernel, o) : y.conv_transpose2d(in.kernel, o);
    ASSERT_EQ(back.shape(), in.x.shape()) << c.describe();
    const auto inner = [](const Tensor& a, const Tensor& b) {
      const std::vector<double> u = a.to_doubles(), v = b.to_doubles();
      double sum = 0;
      for (size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
      return sum;
    };
    EXPECT_EQ(inner(c.run(in.x, in.kernel), y), inner(in.x, back)) << c.describe();
  }
}

// The sum's order is that of the product of the kernel and the matrix of all terms.
TEST(Conv, AddsInTheOrderOfTheMatrixProduct) {
  if (!test::on_cpu()) GTEST_SKIP() << "a promise of the CPU's loops";
  for (const ConvCase& c : conv_cases()) {
    if (c.transposed || c.groups != 1) continue;
    for (const DType dtype : {DType::F32, DType::F64, DType::F16}) {
      const Inputs in(c, dtype, false);
      const int64_t outputs = c.h_out() * c.w_out();
      const std::vector<double> x = in.x.to_doubles();
      for (int64_t n = 0; n < c.b; ++n) {
        std::vector<double> terms(static_cast<size_t>(c.terms() * outputs));
        for (int64_t k = 0; k < c.terms(); ++k)
          for (int64_t o = 0; o < outputs; ++o) {
            const int64_t row = o / c.w_out() * (c.flat ? 1 : c.options.stride) -
                                (c.flat ? 0 : c.options.padding) +
                                k / c.kw % c.kh * (c.flat ? 1 : c.options.dilation);
            const int64_t column =
                o % c.w_out() * c.options.stride - c.options.padding + k % c.kw * c.options.dilation;
            if (row < 0 || row >= c.h || column < 0 || column >= c.w) continue;
            const int64_t channel = n * c.c_in + k / (c.kh * c.kw);
            terms[static_cast<size_t>(k * outputs + o)] =
                x[static_cast<size_t>((channel * c.h + row) * c.w + column)];
          }
        const Tensor product =
            in.kernel.reshape({c.c_out, c.terms()}).matmul(tensor_of(terms, {c.terms(), outputs}, dtype));
        const Tensor got = c.run(in.x, in.kernel).narrow(0, n, 1).reshape({c.c_out, outputs});
        ASSERT_TRUE(same_bits(got, product)) << c.describe() << " " << dtype_name(dtype);
      }
    }
  }
}

TEST(Conv, AnyStridesGiveTheSameBits) {
  for (const ConvCase& c : conv_cases()) {
    for (const DType dtype : {DType::F32, DType::F16, DType::U8, DType::F64}) {
      const Inputs in(c, dtype, dtype_is_int(dtype));
      const Tensor want = c.run(in.x, in.kernel);
      const Tensor x = test::strided_twin(in.x), kernel = test::strided_twin(in.kernel);
      ASSERT_TRUE(same_bits(c.run(x, in.kernel), want)) << c.describe();
      ASSERT_TRUE(same_bits(c.run(in.x, kernel), want)) << c.describe();
      ASSERT_TRUE(same_bits(c.run(x, kernel), want)) << c.describe();
    }
    // Columns dense, other axes not; and one image, channel and weight for all.
    const Inputs in(c, DType::F32, false);
    Shape wider = in.x.shape();
    wider.set(wider.rank() - 1, wider[wider.rank() - 1] + 3);
    const Tensor part =
        tensor_of(small_numbers(wider.elem_count(), 5, false), wider, DType::F32).narrow(-1, 2, in.x.dim(-1));
    ASSERT_TRUE(same_bits(c.run(part, in.kernel), c.run(part.copy(), in.kernel))) << c.describe();
    const Tensor one = in.x.narrow(0, 0, 1).narrow(1, 0, 1).broadcast_as(in.x.shape());
    const Tensor weight = in.kernel.narrow(0, 0, 1).broadcast_as(in.kernel.shape());
    ASSERT_TRUE(same_bits(c.run(one, weight), c.run(one.copy(), weight.copy()))) << c.describe();
    const Tensor padded = in.x.transpose(0, 1).copy().transpose(0, 1);
    ASSERT_TRUE(same_bits(c.run(padded, in.kernel), c.run(in.x, in.kernel))) << c.describe();
  }
}

TEST(Conv, AnyThreadsAndLevelsGiveTheSameBits) {
  std::vector<ConvCase> cases = large_cases();
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::I16}) {
    for (const ConvCase& c : cases) {
      if (dtype != DType::F32 && c.terms() > 400) continue;
      const Inputs in(c, dtype, dtype_is_int(dtype));
      const Tensor want = c.run(in.x, in.kernel);
      with_threads({1, 2, 3, 7}, [&](int count) {
        EXPECT_TRUE(same_bits(c.run(in.x, in.kernel), want)) << c.describe() << " threads " << count;
      });
    }
  }
  for (const DType dtype : test::arithmetic_dtypes()) {
    for (const ConvCase& c : conv_cases()) {
      if (c.b * c.groups * c.c_out * c.h_out() * c.w_out() * c.terms() > 20000) continue;
      const Inputs in(c, dtype, dtype_is_int(dtype));
      const Tensor want = c.run(in.x, in.kernel);
      at_every_level([&](cpu::Isa level) {
        EXPECT_TRUE(same_bits(c.run(in.x, in.kernel), want)) << c.describe() << " " << cpu::isa_name(level);
      });
    }
  }
}

TEST(Conv, ImagesDoNotDependOnTheirBatch) {
  for (const ConvCase& c : conv_cases()) {
    if (c.b == 1) continue;
    const Inputs in(c, DType::F32, false);
    const Tensor all = c.run(in.x, in.kernel);
    for (int64_t n = 0; n < c.b; ++n)
      EXPECT_TRUE(same_bits(c.run(in.x.narrow(0, n, 1), in.kernel), all.narrow(0, n, 1))) << c.describe();
  }
}

TEST(Conv, NanAndInfinityReachTheirWindowsOnly) {
  const auto run = [](DType dtype, int64_t c_out, float special, bool transposed) {
    std::vector<float> x(2 * 6 * 7, 1.0f);
    x[6 * 7 + 2 * 7 + 3] = special;
    const Tensor kernel = Tensor::ones({c_out, 2, 3, 3}, dtype);
    const Tensor input = Tensor::from_vec(x, {1, 2, 6, 7}).to_dtype(dtype);
    const Tensor out = transposed ? input.conv_transpose2d(kernel.transpose(0, 1), {.padding = 1})
                                  : input.conv2d(kernel, {.padding = 1});
    const std::vector<double> got = out.to_doubles();
    for (int64_t i = 0; i < c_out * 42; ++i) {
      const int64_t r = i % 42 / 7, col = i % 7;
      const bool touched = std::abs(r - 2) <= 1 && std::abs(col - 3) <= 1;
      const double value = got[static_cast<size_t>(i)];
      if (!touched) {
        EXPECT_TRUE(std::isfinite(value));
      } else if (std::isnan(special)) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_EQ(value, special);
      }
    }
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (const int64_t c_out : {1, 8, 70})
      for (const float special : {std::nanf(""), HUGE_VALF})
        for (const bool transposed : {false, true}) run(dtype, c_out, special, transposed);
  // Padding is zeros that take part: an infinite weight over it gives NaN, as if x had been padded first.
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    for (const int64_t c_out : {1, 8}) {
      const Tensor x = Tensor::ones({1, 1, 3}, dtype);
      const Tensor kernel =
          Tensor::from_vec<float>({HUGE_VALF, 0, 0}, {1, 1, 3}).broadcast_as({c_out, 1, 3}).to_dtype(dtype);
      const std::vector<double> got = x.conv1d(kernel, {.padding = 1}).to_doubles();
      for (int64_t channel = 0; channel < c_out; ++channel) {
        EXPECT_TRUE(std::isnan(got[static_cast<size_t>(channel * 3)]));
        EXPECT_EQ(got[static_cast<size_t>(channel * 3 + 1)], HUGE_VALF);
      }
    }
  }
}

// The result is that of the input padded first, also where nothing but padding is left.
TEST(Conv, OfPaddingAlone) {
  const float nan = std::nanf("");
  for (const DType dtype : {DType::F32, DType::F16, DType::F64}) {
    const Tensor line = Tensor::zeros({1, 1, 0}, dtype);
    const auto sums = line.conv1d(Tensor::full({1, 1, 3}, nan, dtype), {.padding = 2}).to_doubles();
    ASSERT_EQ(sums.size(), 2u);
    for (const double sum : sums) EXPECT_TRUE(std::isnan(sum));
    EXPECT_EQ(line.conv1d(Tensor::ones({1, 1, 3}, dtype), {.padding = 2}).to_doubles(),
              (std::vector<double>{0, 0}));
    for (const Shape& shape : {Shape{1, 1, 0, 2}, Shape{1, 1, 2, 0}}) {
      const Tensor x = Tensor::zeros(shape, dtype), kernel = Tensor::full({1, 1, 2, 2}, nan, dtype);
      const Tensor padded = x.pad_with_zeros(2, 1, 1).pad_with_zeros(3, 1, 1);
      const Tensor y = x.conv2d(kernel, {.padding = 1});
      EXPECT_EQ(y.shape(), padded.conv2d(kernel).shape());
      for (const double sum : y.to_doubles()) EXPECT_TRUE(std::isnan(sum));
    }
  }
  const Tensor whole = Tensor::zeros({2, 3, 0}, DType::I32);
  EXPECT_EQ(whole.conv1d(Tensor::ones({4, 3, 2}, DType::I32), {.padding = 1}).shape(), (Shape{2, 4, 1}));
}

TEST(Conv, FarTapsTakeLittleMemory) {
  const Tensor x = Tensor::ones({1, 1, 3, 3}, DType::F32);
  const Tensor kernel = Tensor::ones({1, 1, 3, 3}, DType::F32);
  const Tensor out = x.conv2d(kernel, {.padding = 100000, .stride = 7, .dilation = 100000});
  EXPECT_EQ(out.shape(), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(out.to_vec<float>()[0], 1.0f);
  const Tensor far = x.conv_transpose2d(kernel, {.stride = 1, .dilation = 500});
  EXPECT_EQ(far.shape(), (Shape{1, 1, 1003, 1003}));
  double sum = 0;
  for (const double value : far.to_doubles()) sum += value;
  EXPECT_EQ(sum, 81);
  if (!test::on_cpu()) return;  // GPUs take shorter axes
  constexpr int64_t kFar = int64_t{1} << 39;
  const Tensor line = Tensor::zeros({1, 1, 0}, DType::F32);
  EXPECT_EQ(line.conv1d(Tensor::ones({1, 1, 3}, DType::F32), {.padding = kFar, .stride = kFar}).to_doubles(),
            (std::vector<double>{0, 0}));
}

TEST(Conv, EmptyBatchesGiveEmptyResults) {
  const Tensor kernel = Tensor::ones({4, 2, 3, 3}, DType::F32);
  EXPECT_EQ(Tensor::zeros({0, 2, 5, 6}, DType::F32).conv2d(kernel).shape(), (Shape{0, 4, 3, 4}));
  EXPECT_EQ(Tensor::zeros({0, 4, 5, 6}, DType::F32).conv_transpose2d(kernel).shape(), (Shape{0, 2, 7, 8}));
  // No channels to sum over: zeros.
  const Tensor none = Tensor::zeros({1, 0, 5}, DType::F32).conv1d(Tensor::zeros({3, 0, 2}, DType::F32));
  EXPECT_EQ(none.to_vec<float>(), std::vector<float>(12, 0.0f));
  EXPECT_EQ(Tensor::ones({1, 2, 5}, DType::F32).conv1d(Tensor::zeros({0, 2, 2}, DType::F32)).shape(),
            (Shape{1, 0, 4}));
}

TEST(Conv, ErrorsNameWhatWasGiven) {
  const Tensor x = Tensor::ones({2, 4, 5, 6}, DType::F32);
  const Tensor kernel = Tensor::ones({6, 4, 3, 3}, DType::F32);
  EXPECT_ERROR(
      x.conv2d(kernel, {.dilation = 3}), InvalidArgument,
      "[conv2d] the output would be empty: the window of 7 positions is longer than the padded input of 5: "
      "input [2, 4, 5, 6] f32 cpu, kernel [6, 4, 3, 3] f32 cpu, padding 0, stride 1, dilation 3, groups 1");
  EXPECT_ERROR(x.conv2d(kernel, {.stride = 0}), InvalidArgument, "stride must be from 1 to 2^40, got 0");
  EXPECT_ERROR(x.conv2d(kernel, {.dilation = 0}), InvalidArgument, "dilation must be from 1");
  EXPECT_ERROR(x.conv2d(kernel, {.padding = -1}), InvalidArgument, "padding must be from 0");
  EXPECT_ERROR(x.conv2d(kernel, {.padding = INT64_MAX}), InvalidArgument, "padding must be from 0 to 2^40");
  EXPECT_ERROR(x.conv2d(kernel, {.padding = int64_t{1} << 38}), TooLarge, "");
  EXPECT_ERROR(x.conv2d(kernel, {.groups = 0}), InvalidArgument, "groups must be from 1");
  EXPECT_ERROR(x.conv2d(kernel, {.groups = 3}), InvalidArgument,
               "the 4 channels of the input do not divide into 3 groups");
  EXPECT_ERROR(x.conv2d(Tensor::ones({5, 2, 3, 3}, DType::F32), {.groups = 2}), InvalidArgument,
               "the 5 output channels do not divide into 2 groups");
  EXPECT_ERROR(x.conv2d(Tensor::ones({6, 3, 3, 3}, DType::F32)), ShapeMismatch,
               "the kernel's axis 1 must be 4 (the input's channels / groups), got 3");
  EXPECT_ERROR(x.conv_transpose2d(kernel), ShapeMismatch,
               "the kernel's axis 0 must be 4 (the input's channels), got 6");
  EXPECT_ERROR(x.conv2d(Tensor::ones({6, 4, 0, 3}, DType::F32)), InvalidArgument,
               "each axis of the kernel must be from 1");
  EXPECT_ERROR(x.conv2d(kernel, {.output_padding = 1}), InvalidArgument,
               "output_padding is an option of transposed");
  const Tensor back = Tensor::ones({4, 3, 3, 3}, DType::F32);
  EXPECT_ERROR(x.conv_transpose2d(back, {.stride = 2, .output_padding = 2}), InvalidArgument,
               "output_padding must be less than the larger of stride and dilation");
  EXPECT_ERROR(x.conv_transpose2d(back, {.padding = 4}), InvalidArgument, "the output would have size -1");
  EXPECT_ERROR(x.conv1d(kernel), ShapeMismatch,
               "expected input [batch, channels, length] (rank 3), got [2, 4, 5, 6]");
  EXPECT_ERROR(x.conv2d(Tensor::ones({6, 4, 3}, DType::F32)), ShapeMismatch,
               "expected kernel [channels out, channels in / groups, height, width] (rank 4)");
  EXPECT_ERROR(x.conv2d(kernel.to_dtype(DType::F16)), DTypeMismatch, "differ");
}

}  // namespace
}  // namespace beeswax
