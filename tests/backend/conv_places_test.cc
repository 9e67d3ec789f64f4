// SPDX-License-Identifier: Apache-2.0
// Convolutions whose channels fill Hopper's units, on images whose zeros stand between rows. Every device
// keeps the bounds; on Hopper its own kernels make them.
#include <gtest/gtest.h>

#include <cmath>

#include "beeswax/graph.h"
#include "beeswax/system.h"
#include "support/conv_checks.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/launch_recorder.h"
#include "support/reduced_precision.h"

namespace beeswax::test {
namespace {

bool on_cuda() { return Device::default_device().kind() == DeviceKind::Cuda; }
bool on_hopper() { return on_cuda() && device_info(Device::default_device()).arch == "sm_90"; }

/// Expects launches of kernels with this in their names, on Hopper.
class Launched {
 public:
  explicit Launched(std::string_view part) : part_(part) { recorder_.names.clear(); }
  void expect(int64_t least) const {
    if (!on_hopper()) return;
    EXPECT_GE(recorder_.count(part_), least) << part_;
  }

 private:
  std::string_view part_;
  LaunchRecorder& recorder_ = LaunchRecorder::instance();
};

// Remainders of channels, outputs and steps of k, windows inside and over every edge, taps forward and back,
// neighbours that are several rows and columns apart, classes of taps, groups.
std::vector<ConvCase> place_cases() {
  std::vector<ConvCase> cases = {
      {false, false, 3, 1, 64, 64, 14, 14, 3, 3, {1, 1, 1}},
      {false, false, 2, 1, 72, 120, 9, 20, 3, 3, {1, 1, 1}},
      {false, false, 2, 1, 61, 128, 8, 9, 3, 2, {0, 1, 1}},
      {false, false, 1, 1, 64, 96, 20, 23, 3, 3, {2, 1, 2}},
      {false, false, 1, 1, 93, 122, 12, 11, 3, 3, {1, 1, 1}},
      {false, false, 1, 1, 32, 64, 24, 21, 5, 3, {1, 1, 1}},
      {false, true, 2, 1, 100, 127, 1, 301, 1, 3, {1, 1, 1}},
      {false, false, 2, 1, 130, 50, 7, 7, 1, 1, {1, 1, 1}},
      {false, false, 2, 1, 64, 128, 15, 18, 3, 3, {1, 2, 1}},
      {false, false, 2, 1, 62, 70, 17, 13, 5, 4, {3, 3, 2}},
      {false, false, 2, 1, 96, 64, 12, 11, 2, 2, {0, 3, 1}},  // positions that no window sees
      {false, true, 3, 1, 64, 64, 1, 130, 1, 7, {2, 4, 3}},
      {false, true, 2, 1, 96, 200, 1, 127, 1, 16, {5, 5, 1}},
      {true, false, 2, 1, 64, 70, 10, 11, 3, 3, {1, 1, 1}},
      {true, false, 2, 1, 64, 70, 10, 11, 3, 3, {1, 2, 1}},
      {true, false, 3, 1, 128, 64, 9, 11, 4, 4, {1, 2, 1}},
      {true, false, 2, 1, 64, 64, 19, 20, 4, 4, {1, 2, 1}},
      {true, false, 2, 1, 96, 130, 7, 8, 6, 3, {1, 3, 1, 1, 1}},
      {true, true, 2, 1, 70, 64, 1, 40, 1, 8, {2, 4, 1}},
      {true, false, 2, 1, 70, 64, 5, 6, 10, 10, {3, 5, 1}},  // more classes than go together
      {true, false, 1, 1, 130, 40, 9, 7, 4, 5, {2, 3, 1}},
      {true, false, 1, 1, 60, 64, 9, 9, 2, 4, {0, 1, 1}},
      {false, false, 2, 4, 64, 64, 14, 14, 3, 3, {1, 1, 1}},
      {false, false, 2, 3, 48, 64, 12, 11, 3, 3, {1, 2, 1}},
      {false, true, 2, 2, 72, 100, 1, 90, 1, 5, {2, 1, 1}},
      {true, false, 2, 2, 64, 64, 10, 11, 3, 3, {1, 1, 1}},
      {false, false, 2, 3, 61, 64, 9, 9, 3, 3, {1, 1, 1}},   // whose channels are no whole packs
      {true, false, 2, 2, 64, 64, 10, 11, 4, 4, {1, 2, 1}},  // of several classes
  };
  if (on_cuda()) return cases;
  std::vector<ConvCase> some;  // other devices' kernels have conv_test.cc
  for (size_t i = 0; i < cases.size(); i += 4) some.push_back(cases[i]);
  return some;
}
// Of these, those that Hopper makes from places of f32, and has tiles of cut; and from places of narrower
// operands; at least.
constexpr int64_t kOfF32 = 12, kCut = 10, kOfNarrow = 22;

TEST(ConvPlaces, OfNarrowFloats) {
  for (const DType dtype : {DType::F16, DType::BF16, DType::F8E4M3}) {
    const Launched units("conv_wgmma_");
    for (const ConvCase& c : place_cases()) {
      const ConvInputs in(c, dtype, false);
      const Tensor got = expect_close_and_same(c, dtype, in);
      if (HasFatalFailure()) return;
      EXPECT_TRUE(same_bits(c.run(in.x.narrow(0, 0, 1), in.kernel), got.narrow(0, 0, 1))) << c.describe();
    }
    units.expect(3 * kOfNarrow);
  }
}

TEST(ConvPlaces, OfF32) {
  const Launched lines("conv_lines_"), joins("conv_lines_join_");
  for (const ConvCase& c : place_cases()) {
    expect_close_and_same(c, DType::F32, ConvInputs(c, DType::F32, false));
    if (HasFatalFailure()) return;
  }
  lines.expect(2 * (kOfF32 + kCut));  // with what joins tiles; each case runs twice
  joins.expect(2 * kCut);
}

// Where it is allowed, each operand is rounded to 11 bits on Hopper; the CPU does not change.
TEST(ConvPlaces, OfReducedPrecision) {
  const Launched units("conv_wgmma_tf32");
  for (const ConvCase& c : place_cases()) {
    const ConvInputs in(c, DType::F32, false);
    const Tensor exactly = c.run(in.x, in.kernel);
    const ReducedPrecision allowed(true);
    const Tensor got = c.run(in.x, in.kernel);
    if (on_cpu()) {
      EXPECT_TRUE(same_bits(got, exactly)) << c.describe();
    }
    const ConvCase::Exact exact = c.exact(in.x.to_doubles(), in.kernel.to_doubles());
    const long double units_of_sum = static_cast<long double>(c.terms()) * 0x1p-23L;
    const long double gamma = units_of_sum / (1 - units_of_sum);
    const std::vector<double> values = got.to_doubles();
    for (size_t i = 0; i < values.size(); ++i) {
      const long double rounding = (0x1p-10L + 0x1p-22L) * exact.magnitude[i];
      ASSERT_LE(std::fabs(values[i] - exact.sum[i]), rounding + gamma * (exact.magnitude[i] + rounding))
          << c.describe() << " at " << i;
    }
  }
  units.expect(kOfNarrow);
}

// Zeros beside and behind numbers that are infinite: only what a window sees gets into its sum. They are in
// the last row of the last channel, or of the second group's first one.
TEST(ConvPlaces, KeepInfinitiesApart) {
  const auto expect_apart = [](int64_t channels, int64_t groups, int64_t stride, DType dtype) {
    const ConvCase c = {false, false, 2, groups, channels, 64, 16, 16, 3, 3, {1, stride, 1}};
    const size_t row = 16, end = static_cast<size_t>(groups == 1 ? channels : channels + 1) * 16 * 16;
    std::vector<double> x = small_numbers(c.x_shape().elem_count(), 1, true);
    for (size_t column = 0; column < row; ++column) x[end - row + column] = INFINITY;
    const std::vector<double> ones(static_cast<size_t>(c.kernel_shape().elem_count()), 1);
    const Tensor got = c.run(tensor_of(x, c.x_shape(), dtype), tensor_of(ones, c.kernel_shape(), dtype));
    const std::vector<double> values = got.to_doubles();
    const auto rows = static_cast<size_t>(c.h_out()), columns = static_cast<size_t>(c.w_out());
    const size_t group = 64 * rows * columns, seeing = groups == 1 ? 0 : 1;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool sees = i / group == seeing && i / columns % rows * static_cast<size_t>(stride) + 1 >= 15;
      ASSERT_EQ(std::isinf(values[i]), sees) << i;
      ASSERT_FALSE(std::isnan(values[i])) << i;
    }
  };
  for (const auto& [channels, groups] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{70, 1}, {96, 1}, {96, 2}, {104, 3}}) {
    for (const int64_t stride : {1, 2}) {
      for (const DType dtype : {DType::F32, DType::BF16, DType::F16})
        expect_apart(channels, groups, stride, dtype);
      const ReducedPrecision allowed(true);
      expect_apart(channels, groups, stride, DType::F32);
    }
  }
}

// Many tiles, which blocks share unevenly: whole numbers sum exactly in any order.
TEST(ConvPlaces, ManyTiles) {
  if (!on_cuda()) GTEST_SKIP() << "for the speed of a GPU";
  const Launched lines("conv_lines_"), joins("conv_lines_join_"), units("conv_wgmma_");
  const std::vector<ConvCase> cases = {{false, false, 40, 1, 96, 250, 30, 31, 3, 3, {1, 1, 1}},
                                       {false, false, 40, 1, 96, 200, 59, 62, 3, 3, {1, 2, 1}},
                                       {false, false, 40, 1, 128, 256, 14, 14, 3, 3, {1, 1, 1}},
                                       {false, false, 16, 1, 128, 256, 14, 14, 3, 3, {1, 1, 1}},
                                       {true, false, 40, 1, 96, 128, 30, 31, 4, 4, {1, 2, 1}}};
  for (const ConvCase& c : cases) {
    const Tensor x = tensor_of(small_numbers(c.x_shape().elem_count(), 1, true), c.x_shape(), DType::F32);
    const Tensor kernel =
        tensor_of(small_numbers(c.kernel_shape().elem_count(), 2, true), c.kernel_shape(), DType::F32);
    const Tensor want = c.run(x.to_dtype(DType::F64), kernel.to_dtype(DType::F64));
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
      EXPECT_TRUE(same_bits(c.run(x.to_dtype(dtype), kernel.to_dtype(dtype)), want.to_dtype(dtype)))
          << c.describe() << " " << dtype_name(dtype);
  }
  lines.expect(2 * std::ssize(cases) - 1);
  joins.expect(std::ssize(cases) - 1);
  units.expect(2 * std::ssize(cases));
}

// The order of channels last, as strides.
TEST(ConvPlaces, ChannelsLast) {
  for (const int64_t stride : {1, 2}) {
    for (const DType dtype : {DType::F32, DType::F16}) {
      const ConvCase c = {false, false, 2, 1, 96, 64, 19, 17, 3, 3, {1, stride, 1}};
      const ConvInputs in(c, dtype, false);
      const auto last = [](const Tensor& x) {
        return x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
      };
      EXPECT_TRUE(same_bits(c.run(last(in.x), last(in.kernel)), c.run(in.x, in.kernel))) << c.describe();
    }
  }
}

TEST(ConvPlaces, GraphsKeepWhatTheyNeed) {
  if (!on_cuda()) GTEST_SKIP() << "Hopper's kernels, and tensor maps in their arguments";
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const ConvCase c = {false, false, 2, 1, 64, 64, 20, 20, 3, 3, {1, 1, 1}};
    const ConvInputs in(c, dtype, false), others(c, dtype, false, 7);
    Tensor x = in.x.copy(), y;
    const auto work = [&] { y = c.run(x, in.kernel); };
    work();
    y = Tensor();
    const Graph graph = Graph::capture(Device::default_device(), work);
    for (const Tensor& next : {in.x, others.x}) {
      x.slice_set(next, 0, 0);
      const Tensor between = next.affine(2, 1).exp();  // takes memory that was free
      graph.replay();
      EXPECT_TRUE(same_bits(y, c.run(next, in.kernel)));
    }
  }
}

// Padding and steps whose products are no 64-bit numbers.
TEST(ConvPlaces, AxesTooLongToCount) {
  const ReducedPrecision allowed(true);
  const Tensor x = Tensor::ones({1, 128, 1, 1}, DType::F32),
               kernel = Tensor::ones({32, 128, 3, 3}, DType::F32);
  constexpr int64_t kFar = (int64_t{1} << 32) - 1;
  const auto far = [&] { return x.conv2d(kernel, {.padding = kFar, .dilation = kFar}); };
  const auto wide = [&] {
    return x.conv2d(kernel.narrow(2, 0, 1).narrow(3, 0, 1), {.padding = kFar / 2 + 1, .stride = kFar + 1});
  };
  if (on_cpu()) {
    EXPECT_EQ(far().to_doubles(), std::vector<double>(32, 128));
    EXPECT_EQ(wide().to_doubles(), std::vector<double>(32 * 4, 0));
  } else {
    EXPECT_ERROR(far(), TooLarge, "take no side that is longer");
    EXPECT_ERROR(wide(), TooLarge, "take no side that is longer");
  }
}

}  // namespace
}  // namespace beeswax::test
