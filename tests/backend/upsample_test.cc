// SPDX-License-Identifier: Apache-2.0
// Upsampling bit for bit against its documented rule, written out here for one output at a time.
#include <gtest/gtest.h>

#include <numeric>

#include "support/devices.h"
#include "support/expect_error.h"
#include "support/isa_levels.h"
#include "support/numbers.h"

namespace beeswax {
namespace {

using test::tensor_of;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_bytes() == b.to_bytes();
}

template <class T>
Tensor iota(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), T(0));
  return Tensor::from_vec(values, {count});
}

struct Sizes {
  int64_t b, c, h, w, to_h, to_w;
  Shape from() const { return {b, c, h, w}; }
  Shape to() const { return {b, c, to_h, to_w}; }
};

std::vector<Sizes> sizes() {
  std::vector<Sizes> out = {{2, 3, 4, 5, 8, 10},    {1, 2, 7, 9, 7, 9},    {1, 1, 3, 3, 10, 11},
                            {1, 2, 9, 8, 4, 3},     {2, 1, 1, 1, 5, 6},    {1, 1, 5, 6, 1, 1},
                            {1, 3, 6, 50, 6, 100},  {1, 1, 6, 7, 18, 7},   {1, 1, 2, 2, 3, 301},
                            {3, 4, 13, 17, 29, 31}, {1, 1, 2, 3, 500, 200}};
  for (int64_t w = 1; w <= 40; ++w) out.push_back({1, 1, 2, w, 3, 1 + (w * 7) % 41});
  return out;
}

Tensor numbers(const Sizes& s, DType dtype) {
  const auto count = static_cast<size_t>(s.from().elem_count());
  if (dtype_is_int(dtype))
    return tensor_of(test::int_inputs(dtype, count, INT64_MIN, INT64_MAX, 3), s.from(), dtype);
  std::vector<double> values = test::float_inputs(DType::F16, count + 60, -10, 10, 9);
  values.erase(values.begin(), values.begin() + 60);
  return tensor_of(values, s.from(), dtype);
}

TEST(Upsample, NearestMovesBits) {
  for (const Sizes& s : sizes()) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      Tensor x = numbers(s, dtype);
      const size_t bytes = dtype_bytes(dtype, 1);
      std::vector<std::byte> from = x.to_bytes();
      if (from.size() > 3) from[2] = from[3] = std::byte{0xff};  // a NaN with a payload, for floats
      x = Tensor::from_bytes(from, s.from(), dtype);
      const Tensor got = x.upsample_nearest2d(s.to_h, s.to_w);
      ASSERT_EQ(got.shape(), s.to());
      const std::vector<std::byte> to = got.to_bytes();
      for (int64_t i = 0; i < got.elem_count(); ++i) {
        const int64_t row = i / s.to_w % s.to_h * s.h / s.to_h, column = i % s.to_w * s.w / s.to_w;
        const auto at = static_cast<size_t>((i / s.to_w / s.to_h * s.h + row) * s.w + column);
        for (size_t k = 0; k < bytes; ++k)
          ASSERT_EQ(to[static_cast<size_t>(i) * bytes + k], from[at * bytes + k])
              << x.describe() << " at " << i;
      }
      if (s.h == 1) continue;
      const Tensor line = x.narrow(2, 1, 1).squeeze(2);
      ASSERT_TRUE(same_bits(line.upsample_nearest1d(s.to_w),
                            line.unsqueeze(2).upsample_nearest2d(1, s.to_w).squeeze(2)));
      ASSERT_TRUE(same_bits(line.interpolate1d(s.to_w), line.upsample_nearest1d(s.to_w)));
    }
  }
}

// 3 * (1/3 as a double) falls just short of a whole number for some sizes; the rule counts in integers.
TEST(Upsample, NearestPositionsAreExact) {
  for (int64_t in = 1; in < 60; ++in) {
    const Tensor x = iota<int32_t>(in).reshape({1, 1, in});
    for (int64_t out = 1; out < 200; out += 1 + in % 3) {
      const std::vector<int32_t> got = x.upsample_nearest1d(out).to_vec<int32_t>();
      for (int64_t i = 0; i < out; ++i)
        ASSERT_EQ(got[static_cast<size_t>(i)], i * in / out) << in << " to " << out;
    }
  }
  // Products beyond 32 bits, along rows and columns.
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{70'000, 70'004}, {70'001, 69'999}}) {
    const Tensor x = iota<int32_t>(in);
    const std::vector<int32_t> got = x.reshape({1, 1, in}).upsample_nearest1d(out).to_vec<int32_t>();
    EXPECT_EQ(x.reshape({1, 1, in, 1}).upsample_nearest2d(out, 1).to_vec<int32_t>(), got);
    for (int64_t i = 0; i < out; ++i) ASSERT_EQ(got[static_cast<size_t>(i)], i * in / out) << in;
  }
}

// Rows so long that they are written in parts are like columns, which are not.
TEST(Upsample, LongRows) {
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{7, 600'001}, {300'000, 600'000}, {600'001, 300'003}}) {
    const Tensor x = iota<float>(2 * in).reshape({2, in});
    const Tensor rows = x.reshape({2, 1, 1, in}), columns = x.reshape({2, 1, in, 1});
    const Shape to{2, 1, 1, out};
    EXPECT_TRUE(same_bits(rows.upsample_nearest2d(1, out), columns.upsample_nearest2d(out, 1).reshape(to)));
    for (const bool align : {false, true})
      EXPECT_TRUE(same_bits(rows.upsample_bilinear2d(1, out, align),
                            columns.upsample_bilinear2d(out, 1, align).reshape(to)))
          << in << " to " << out << " align " << align;
    const Tensor narrow = rows.to_dtype(DType::BF16);
    EXPECT_TRUE(same_bits(narrow.upsample_bilinear2d(1, out, false),
                          narrow.transpose(2, 3).upsample_bilinear2d(out, 1, false).reshape(to)));
  }
}

// The rule for one output; T is the compute type.
template <class T>
struct Rule {
  static void place(int64_t i, int64_t in, int64_t out, bool align, double factor, int64_t* low,
                    int64_t* high, T* weight) {
    double at = 0;
    if (align) {
      at =
          out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) * static_cast<double>(i) : 0.0;
    } else {
      const double scale = factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
      at = scale * (static_cast<double>(i) + 0.5) - 0.5;
      at = at > 0 ? at : 0;
    }
    *low = std::min(static_cast<int64_t>(at), in - 1);
    *high = std::min(*low + 1, in - 1);
    const double fraction = at - static_cast<double>(*low);
    *weight = *low == *high ? T(0) : static_cast<T>(fraction < 1 ? fraction : 1.0);
  }
  static T blend(T a, T b, T w) {
    const T rest = T(1) - w;
    if (w == 0) return a;
    if (rest == 0) return b;
    const T left = rest * a, right = w * b;
    return left + right;
  }
};

template <class T>
std::vector<double> bilinear(const Sizes& s, const std::vector<double>& x, bool align, double factor_h,
                             double factor_w) {
  std::vector<double> out;
  for (int64_t i = 0; i < s.to().elem_count(); ++i) {
    int64_t top, bottom, left, right;
    T down, across;
    Rule<T>::place(i / s.to_w % s.to_h, s.h, s.to_h, align, factor_h, &top, &bottom, &down);
    Rule<T>::place(i % s.to_w, s.w, s.to_w, align, factor_w, &left, &right, &across);
    const int64_t plane = i / s.to_w / s.to_h * s.h;
    const auto at = [&](int64_t r, int64_t c) {
      return static_cast<T>(x[static_cast<size_t>((plane + r) * s.w + c)]);
    };
    const T upper = Rule<T>::blend(at(top, left), at(top, right), across);
    const T lower = Rule<T>::blend(at(bottom, left), at(bottom, right), across);
    out.push_back(static_cast<double>(Rule<T>::blend(upper, lower, down)));
  }
  return out;
}

std::vector<DType> float_dtypes() {
  std::vector<DType> out;
  for (const DType dtype : test::arithmetic_dtypes())
    if (dtype_is_float(dtype)) out.push_back(dtype);
  return out;
}

TEST(Upsample, BilinearFollowsTheRule) {
  for (const Sizes& s : sizes()) {
    for (const DType dtype : float_dtypes()) {
      for (const bool align : {false, true}) {
        const Tensor x = numbers(s, dtype);
        const std::vector<double> values = x.to_doubles();
        const std::vector<double> want = dtype == DType::F64 ? bilinear<double>(s, values, align, 0, 0)
                                                             : bilinear<float>(s, values, align, 0, 0);
        ASSERT_TRUE(same_bits(x.upsample_bilinear2d(s.to_h, s.to_w, align), tensor_of(want, s.to(), dtype)))
            << x.describe() << " to " << s.to().to_string() << " align " << align;
      }
    }
  }
}

TEST(Upsample, BilinearWithFactors) {
  for (const auto& [fh, fw] :
       std::vector<std::pair<double, double>>{{2, 2}, {1.5, 2.7}, {0.6, 1}, {1.2, 1.1}, {3.999, 0.34}}) {
    for (const bool align : {false, true}) {
      const Sizes s{2, 2, 5, 7, static_cast<int64_t>(5 * fh), static_cast<int64_t>(7 * fw)};
      const Tensor x = numbers(s, DType::F32);
      const Tensor got = x.upsample_bilinear2d_with_scale(fh, fw, align);
      ASSERT_EQ(got.shape(), s.to());
      EXPECT_TRUE(
          same_bits(got, tensor_of(bilinear<float>(s, x.to_doubles(), align, fh, fw), s.to(), DType::F32)));
    }
  }
}

// Values known from PyTorch's documentation of the rule: a ramp of 1 to 4.
TEST(Upsample, BilinearKnownValues) {
  const Tensor x = Tensor::from_vec<float>({1, 2, 3, 4}, {1, 1, 2, 2});
  EXPECT_EQ(x.upsample_bilinear2d(4, 4, false).to_vec<float>(),
            (std::vector<float>{1, 1.25f, 1.75f, 2, 1.5f, 1.75f, 2.25f, 2.5f, 2.5f, 2.75f, 3.25f, 3.5f, 3,
                                3.25f, 3.75f, 4}));
  const std::vector<float> aligned = x.upsample_bilinear2d(3, 3, true).to_vec<float>();
  EXPECT_EQ(aligned, (std::vector<float>{1, 1.5f, 2, 2, 2.5f, 3, 3, 3.5f, 4}));
}

TEST(Upsample, BilinearOfIntegersIsRounded) {
  for (const Sizes& s : sizes())
    for (const DType dtype : {DType::U8, DType::I16, DType::U32, DType::I32, DType::I64})
      for (const bool align : {false, true}) {
        const Tensor x = numbers(s, dtype);
        const std::vector<double> values = x.to_doubles();
        std::vector<double> want = dtype_bits(dtype) > 16 ? bilinear<double>(s, values, align, 0, 0)
                                                          : bilinear<float>(s, values, align, 0, 0);
        for (double& value : want) value = std::round(value);
        ASSERT_EQ(x.upsample_bilinear2d(s.to_h, s.to_w, align).to_doubles(),
                  tensor_of(want, s.to(), dtype).to_doubles())
            << x.describe() << " to " << s.to().to_string() << " align " << align;
      }
  const Tensor ramp = Tensor::from_vec<uint8_t>({1, 2, 3, 4}, {1, 1, 2, 2});
  EXPECT_EQ(ramp.upsample_bilinear2d(4, 4, false).to_vec<uint8_t>(),
            (std::vector<uint8_t>{1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 3, 3, 4, 4}));
  EXPECT_EQ(Tensor::from_vec<int64_t>({-3, -2}, {1, 1, 1, 2})
                .upsample_bilinear2d_with_scale(1, 1.5, true)
                .to_vec<int64_t>(),
            (std::vector<int64_t>{-3, -3, -2}))
      << "halves go away from zero";
}

TEST(Upsample, NeighboursOfNoWeightStayOut) {
  const Tensor x = Tensor::from_vec<float>({1, HUGE_VALF, std::nanf(""), 4}, {1, 1, 1, 4});
  EXPECT_TRUE(same_bits(x.upsample_bilinear2d(1, 4, false), x));
  EXPECT_TRUE(same_bits(x.upsample_bilinear2d(1, 4, true), x));
  const std::vector<float> twice = x.upsample_bilinear2d(3, 7, true).to_vec<float>();
  EXPECT_EQ(twice[0], 1);
  EXPECT_EQ(twice[1], HUGE_VALF);
  EXPECT_EQ(twice[2], HUGE_VALF);
  EXPECT_TRUE(std::isnan(twice[3]));
  EXPECT_EQ(twice[6], 4);
}

TEST(Upsample, AnyStridesThreadsAndLevelsGiveTheSameBits) {
  std::vector<Sizes> all = sizes();
  all.push_back({2, 8, 40, 33, 80, 66});
  for (const Sizes& s : all) {
    for (const DType dtype : test::arithmetic_dtypes()) {
      const Tensor x = numbers(s, dtype);
      const auto run = [&](const Tensor& input) {
        std::vector<Tensor> out = {input.upsample_nearest2d(s.to_h, s.to_w)};
        if (dtype_is_float(dtype)) {
          out.push_back(input.upsample_bilinear2d(s.to_h, s.to_w, false));
          out.push_back(input.upsample_bilinear2d(s.to_h, s.to_w, true));
        }
        return out;
      };
      const std::vector<Tensor> want = run(x);
      const auto check = [&](const Tensor& input, const char* what) {
        const std::vector<Tensor> got = run(input);
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_TRUE(same_bits(got[i], want[i]))
              << what << " " << x.describe() << " to " << s.to().to_string();
      };
      check(test::strided_twin(x), "strides");
      check(x.transpose(0, 1).copy().transpose(0, 1), "strides");
      at_every_level([&](cpu::Isa) { check(x, "level"); });
      if (s.b * s.c >= 16) with_threads({1, 2, 3}, [&](int) { check(x, "threads"); });
      if (HasFatalFailure()) return;
    }
  }
}

// A view with an offset and gaps, upsampled to its own size, is the view's elements and not the storage's.
TEST(Upsample, UnchangedSizeHonoursTheLayout) {
  const Tensor x = iota<float>(2 * 3 * 6 * 8).reshape({2, 3, 6, 8});
  const Tensor view = x.narrow(3, 2, 4).narrow(2, 1, 3).transpose(2, 3);
  EXPECT_TRUE(same_bits(view.upsample_nearest2d(4, 3), view.copy()));
  EXPECT_TRUE(same_bits(view.upsample_bilinear2d(4, 3, false), view.copy()));
  EXPECT_TRUE(same_bits(view.upsample_bilinear2d(4, 3, true), view.copy()));
  EXPECT_TRUE(same_bits(view.narrow(3, 1, 1).squeeze(3).upsample_nearest1d(4),
                        view.narrow(3, 1, 1).squeeze(3).copy()));
}

// PyTorch too copies then, though its factors alone would move the positions; and floats would round
// integers.
TEST(Upsample, UnchangedSizeIsTheInputWhateverTheFactors) {
  const Tensor x = iota<float>(2 * 3).reshape({1, 1, 2, 3});
  EXPECT_TRUE(same_bits(x.upsample_bilinear2d_with_scale(1.4, 1.3, false), x));
  EXPECT_FALSE(same_bits(x.upsample_bilinear2d_with_scale(1.4, 1.4, false).narrow(3, 0, 3), x));
  const Tensor large = Tensor::from_vec(std::vector<int64_t>{(int64_t{1} << 53) + 1, 5}, {1, 1, 1, 2});
  EXPECT_TRUE(same_bits(large.upsample_bilinear2d(1, 2, true), large));
}

TEST(Upsample, EmptyInputsAndErrors) {
  EXPECT_EQ(Tensor::zeros({0, 3, 4, 4}, DType::F32).upsample_nearest2d(5, 6).shape(), (Shape{0, 3, 5, 6}));
  EXPECT_EQ(Tensor::zeros({0, 3, 4, 4}, DType::F32).upsample_bilinear2d(5, 6, true).shape(),
            (Shape{0, 3, 5, 6}));
  const Tensor x = Tensor::zeros({1, 2, 3, 4}, DType::F32);
  EXPECT_ERROR(x.upsample_nearest2d(0, 4), InvalidArgument,
               "[upsample_nearest2d] each side of the output must be at least 1: input [1, 2, 3, 4] f32 cpu, "
               "output height 0, width 4");
  EXPECT_ERROR(Tensor::ones({1, 2, 3}, DType::F32).upsample_nearest1d(0), InvalidArgument,
               "[upsample_nearest1d] each side of the output must be at least 1: input [1, 2, 3] f32 cpu, "
               "output length 0");
  EXPECT_ERROR(x.upsample_bilinear2d(-1, 4, false), InvalidArgument, "[upsample_bilinear2d]");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(0.2, 1, false), InvalidArgument, "output height 0, width 4");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(-1, 1, false), InvalidArgument,
               "scales must be positive and finite");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(1, std::nan(""), false), InvalidArgument,
               "scales must be positive");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(1, HUGE_VAL, false), InvalidArgument,
               "scales must be positive");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(1, 1e12, false), TooLarge, "less than 2^31");
  EXPECT_ERROR(x.upsample_bilinear2d_with_scale(1, 1e20, false), TooLarge,
               "scales must make each side less than 2^31, got 1");
  EXPECT_ERROR(Tensor::zeros({1, 2, 0, 4}, DType::F32).upsample_nearest2d(2, 2), EmptyTensor,
               "each side of the input must be at least 1");
  EXPECT_ERROR(x.upsample_nearest1d(4), ShapeMismatch, "expected input [batch, channels, length] (rank 3)");
  EXPECT_ERROR(x.to_dtype(DType::F8E8M0).upsample_bilinear2d(4, 4, false), UnsupportedDType,
               "accepted dtypes: u8, u32");
}

}  // namespace
}  // namespace beeswax
