// SPDX-License-Identifier: Apache-2.0
// Convolutions through the vendor's library (BEESWAX_DNN=vendor) on the device under test, against their
// definition: cuDNN on cuda:N, MIOpen on rocm:N, and on emu:ARCH the stand-in of tests/fake_dnn. Where there
// is no library the tests are skipped.
#include <gtest/gtest.h>

#include <iostream>

#include "backends/gpu/dnn/conv.h"
#include "beeswax/graph.h"
#include "support/devices.h"
#include "support/fake_dnn.h"

namespace beeswax {
namespace {

using test::ConvCase;
using test::ConvInputs;
using test::expect_conv;

class VendorConv : public testing::Test {
 protected:
  void SetUp() override {
    if (test::on_cpu()) GTEST_SKIP() << "the CPU has no vendor's library";
    const DeviceKind kind = Device::default_device().kind();
    ::setenv("BEESWAX_DNN", "vendor", 1);
    if (kind == DeviceKind::Emu) {
      static fake_dnn::Control& stand_in = test::use_stand_in("BEESWAX_MIOPEN_LIBRARY", test::kFakeMiopen,
                                                              BW_BINARY_DIR "/bin/libbeeswax_emu.so");
      stand_in_ = &stand_in;
      stand_in = {};
    }
    const gpu::dnn::LibraryState& state = gpu::dnn::library_for(kind);
    if (state.library == nullptr) GTEST_SKIP() << state.reason;
    ASSERT_EQ(gpu::dnn::choice().mode, gpu::VendorMode::Vendor);
    RecordProperty("library", state.library->title());
  }
  void TearDown() override {
    if (stand_in_ == nullptr) return;
    EXPECT_EQ(stand_in_->misuses, 0) << stand_in_->misuse;
  }
  static gpu::Gpu& gpu() { return gpu::Gpu::of(Device::default_device()); }
  static int64_t runs() { return gpu::dnn::statistics(gpu()).runs; }

  fake_dnn::Control* stand_in_ = nullptr;
};

TEST_F(VendorConv, MatchesTheDefinition) {
  int64_t cases = 0, plain = 0;
  const int64_t before = runs();
  for (const ConvCase& c : test::conv_cases()) {
    // What the stand-in does, as MIOpen's documentation has it: not groups with dilation; and no library's
    // gradient has output padding.
    const bool led_back = !c.transposed || c.options.output_padding < c.options.stride;
    plain += led_back && (c.groups == 1 || c.options.dilation == 1) ? 3 : 0;
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      expect_conv(c, dtype);
      ++cases;
      if (HasFatalFailure()) return;
    }
  }
  const int64_t done = runs() - before;
  RecordProperty("through_the_library", std::to_string(done) + " of " + std::to_string(cases));
  std::cout << done << " of " << cases << " through "
            << gpu::dnn::library_for(gpu().device().kind()).library->title() << "\n";
  EXPECT_GT(done, 0);
  if (stand_in_ != nullptr) {
    EXPECT_EQ(done, plain);
    EXPECT_EQ(stand_in_->runs, done);
    EXPECT_GT(stand_in_->transposed, 0);
    EXPECT_GT(stand_in_->in_workspace, 0);
  }
}

TEST_F(VendorConv, LargerShapes) {
  const int64_t before = runs();
  for (const ConvCase& c : std::vector<ConvCase>{
           {false, false, 2, 1, 32, 37, 30, 29, 3, 3, {1, 1, 1}},
           {false, true, 1, 1, 3, 2, 1, 3001, 1, 5, {2, 1, 1}},
           {false, false, 2, 1, 3, 24, 40, 41, 7, 7, {3, 2, 1}},
           {true, false, 1, 1, 20, 18, 13, 14, 4, 4, {1, 2, 1}},
           {false, false, 2, 1, 64, 70, 9, 9, 1, 1, {0, 1, 1}},
           {false, false, 1, 48, 1, 1, 20, 21, 5, 5, {2, 1, 1}},
       }) {
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
      expect_conv(c, dtype);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(runs(), before);
}

// Views are laid out densely for the length of the call.
TEST_F(VendorConv, AnyStridesGiveTheSameBits) {
  const ConvCase c{false, false, 2, 1, 3, 5, 5, 7, 3, 3, {1, 1, 1}};
  for (const DType dtype : {DType::F32, DType::F16}) {
    const ConvInputs in(c, dtype);
    const auto want = c.run(in.x, in.kernel).to_bytes();
    const int64_t before = runs();
    EXPECT_EQ(c.run(test::strided_twin(in.x), in.kernel).to_bytes(), want);
    EXPECT_EQ(c.run(in.x, test::strided_twin(in.kernel)).to_bytes(), want);
    EXPECT_EQ(c.run(in.x.t().contiguous().t(), in.kernel.t().contiguous().t()).to_bytes(), want);
    const Tensor one = in.x.narrow(0, 1, 1);  // dense, but not where vectors may be loaded
    EXPECT_EQ(c.run(one, in.kernel).to_bytes(), c.run(one.copy(), in.kernel).to_bytes());
    EXPECT_GT(runs(), before);
  }
}

TEST_F(VendorConv, ResultsRepeatBitForBit) {
  for (const bool transposed : {false, true}) {
    const ConvCase c{transposed, false, 2, 1, 20, 18, 13, 14, 4, 4, {1, 2, 1}};
    for (const DType dtype : {DType::F32, DType::F16}) {
      const ConvInputs in(c, dtype);
      const auto want = c.run(in.x, in.kernel).to_bytes();
      for (int i = 0; i < 3; ++i) EXPECT_EQ(c.run(in.x, in.kernel).to_bytes(), want) << c.describe();
    }
  }
}

// What libraries do not take is ours: dtypes, output padding beyond the stride, no terms.
TEST_F(VendorConv, TheRestIsOurs) {
  const int64_t before = runs();
  const ConvCase padded{true, false, 1, 1, 2, 3, 4, 5, 3, 3, {1, 1, 3, 1, 2}};
  const ConvCase plain{false, false, 1, 1, 2, 3, 6, 5, 3, 3, {1, 1, 1}};
  expect_conv(padded, DType::F32);
  expect_conv(plain, DType::F64);
  const Tensor whole = Tensor::ones({1, 2, 6, 5}, DType::I32), taps = Tensor::ones({3, 2, 3, 3}, DType::I32);
  EXPECT_EQ(whole.conv2d(taps).to_vec<int32_t>(), std::vector<int32_t>(36, 18));
  EXPECT_EQ(runs(), before);
}

// While a graph is recorded our kernels do it, which must have run before like any other.
TEST_F(VendorConv, GraphsRecordOurKernels) {
  // Output padding beyond the stride is ours, and takes the same kernel.
  expect_conv(ConvCase{true, false, 1, 1, 3, 16, 4, 5, 3, 3, {1, 1, 3, 1, 2}}, DType::F32);
  const ConvCase c{false, false, 1, 1, 3, 16, 8, 9, 3, 3, {1, 1, 1}};
  const ConvInputs in(c, DType::F32);
  Tensor y;
  const auto step = [&] { y = c.run(in.x, in.kernel); };
  int64_t before = runs();
  step();
  EXPECT_EQ(runs(), before + 1);
  y = Tensor();
  before = runs();
  const Graph graph = Graph::capture(Device::default_device(), step);
  graph.replay();
  expect_conv(c, DType::F32, y, c.exact(in.x.to_doubles(), in.kernel.to_doubles()));
  EXPECT_EQ(runs(), before);
}

}  // namespace
}  // namespace beeswax
