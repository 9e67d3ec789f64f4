// SPDX-License-Identifier: Apache-2.0
// Operations of users: the same body on the CPU, by its function, and on GPUs, by its kernel.
#include "beeswax/custom_op.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/os/folders.h"
#include "support/devices.h"
#include "support/expect_error.h"

namespace beeswax {
namespace {

// Nothing compiled by an earlier run: the cache lies in a folder of this one.
const os::TemporaryFolder kCache;
const int kCacheIsNamed = setenv("BEESWAX_CODE_CACHE", kCache.path().c_str(), 1);

// out[i][j] = x[i] * y[j] + 1, in whole numbers.
CustomOp outer_plus_one() {
  CustomOpParts parts;
  parts.output = [](std::span<const Tensor> inputs) {
    return OutputSpec{{inputs[0].dim(0), inputs[1].dim(0)}, DType::I64};
  };
  parts.cpu = [](const CpuCall& call) {
    const auto x = call.input<int32_t>(0), y = call.input<int32_t>(1);
    const auto out = call.output<int64_t>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = int64_t{x[i / y.size()]} * y[i % y.size()] + 1;
  };
  parts.source = R"(
    #include <cstdint>
    __global__ void outer(const int32_t* x, const int32_t* y, int64_t* out, int rows, int columns) {
      const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < rows && j < columns) out[i * columns + j] = static_cast<int64_t>(x[i]) * y[j] + 1;
    })";
  parts.kernel = "outer";
  parts.launch = [](const Kernel& kernel, std::span<const Tensor> in, const Tensor& out) {
    const auto rows = static_cast<int>(out.dim(0)), columns = static_cast<int>(out.dim(1));
    kernel.launch(
        {.grid = {(static_cast<uint32_t>(columns) + 15) / 16, (static_cast<uint32_t>(rows) + 15) / 16},
         .block = {16, 16}},
        in[0], in[1], output(out), rows, columns);
  };
  return {"outer_plus_one", std::move(parts)};
}

class CustomOps : public testing::Test {
 protected:
  void SetUp() override {
    if (device_.is_cpu()) return;
    try {
      Kernel::compile(device_, "extern \"C\" __global__ void nothing() {}", "nothing");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      GTEST_SKIP() << error.what();
    }
  }
  const Device device_ = test::devices().front();
};

TEST_F(CustomOps, AreOperations) {
  const CustomOp op = outer_plus_one();
  EXPECT_EQ(op.name(), "outer_plus_one");
  for (const int64_t rows : {1, 7, 16, 33})
    for (const int64_t columns : {1, 15, 40}) {
      std::vector<int32_t> x, y;
      for (int64_t i = 0; i < rows; ++i) x.push_back(static_cast<int32_t>(100000 * i - 70000));
      for (int64_t j = 0; j < columns; ++j) y.push_back(static_cast<int32_t>(50000 * j - 30000));
      const Tensor out = op({Tensor::from_vec(x, {rows}), Tensor::from_vec(y, {columns})});
      EXPECT_EQ(out.describe(),
                "[" + std::to_string(rows) + ", " + std::to_string(columns) + "] i64 " + device_.to_string());
      const std::vector<int64_t> got = out.to_vec<int64_t>();
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], int64_t{x[i / y.size()]} * y[i % y.size()] + 1)
            << rows << " x " << columns << " at " << i;
    }
}

TEST_F(CustomOps, StayOperationsWhenMoved) {
  CustomOp op = outer_plus_one();
  const CustomOp moved = std::move(op);    // NOLINT(performance-move-const-arg): moving copies
  EXPECT_EQ(op.name(), "outer_plus_one");  // NOLINT(bugprone-use-after-move)
  const Tensor one = Tensor::from_vec<int32_t>({3}, {1});
  EXPECT_EQ(op({one, one}).to_vec<int64_t>(), moved({one, one}).to_vec<int64_t>());
}

// Views come as dense tensors, and an empty result calls nothing.
TEST_F(CustomOps, TakeViewsAndNothing) {
  const CustomOp op = outer_plus_one();
  const Tensor grid = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(op({grid.get_on_dim(1, 1), grid.narrow(1, 1, 2).get(1)}).to_vec<int64_t>(),
            (std::vector<int64_t>{11, 13, 26, 31}));
  EXPECT_EQ(op({Tensor::zeros({0}, DType::I32), grid.get(0)}).describe(),
            "[0, 3] i64 " + device_.to_string());
}

TEST_F(CustomOps, RunFromManyThreads) {
  const CustomOp op = outer_plus_one();
  std::vector<std::thread> threads;
  std::vector<int64_t> results(6);
  for (size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::from_vec(std::vector<int32_t>{static_cast<int32_t>(t)}, {1}, device_);
      results[t] = op({x, x}).to_vec<int64_t>()[0];
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < results.size(); ++t) EXPECT_EQ(results[t], static_cast<int64_t>(t * t + 1));
}

TEST_F(CustomOps, SayWhatIsWrong) {
  const CustomOp op = outer_plus_one();
  const Tensor x = Tensor::of({1, 2});
  EXPECT_ERROR(op(std::span<const Tensor>()), InvalidArgument,
               "[outer_plus_one] it takes at least one tensor");
  EXPECT_ERROR(op({x, Tensor()}), InvalidArgument, "an input refers to no tensor");
  if (!device_.is_cpu()) EXPECT_ERROR(op({x, x.to_device(Device::cpu())}), DeviceMismatch, "outer_plus_one");
  const CustomOp nothing("nothing", {});
  EXPECT_ERROR(
      nothing({x}), Unsupported,
      device_.is_cpu() ? "it has no function for the CPU" : "it has no kernel for " + device_.to_string());
  if (device_.is_cpu()) {
    EXPECT_ERROR(op({x.to_dtype(DType::F32), x}), DTypeMismatch, "takes i32, and got [2] f32 cpu");
    CustomOpParts parts;
    parts.cpu = [](const CpuCall& call) { (void)call.input<int32_t>(1); };
    EXPECT_ERROR(CustomOp("second", parts)({x}), InvalidArgument, "asks for input 1, and the call has 1");
  }
}

}  // namespace
}  // namespace beeswax
