// SPDX-License-Identifier: Apache-2.0
// Launches over tensors of many small rows, on fake drivers, which compute nothing but refuse what the real
// ones refuse: on AMD's a grid of 2^32 threads or more along one axis, on NVIDIA's one of 2^31 blocks. Memory
// of this size is asked for, but never touched.
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "beeswax/tensor.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

std::set<std::string> launched;
void note(const fake::Submitted& work) { launched.insert(work.what); }

constexpr int64_t kRows = (int64_t{1} << 24) + 1;  // with 256 threads each, more than 2^32

class GpuLaunches : public testing::TestWithParam<FakeGpu> {
 protected:
  // `work` makes launches that the driver takes.
  static void expect_taken(const Shape& shape, DType dtype, const std::function<void(const Tensor&)>& work) {
    run_apart([&] {
      fake::Control& control = GetParam().control();
      control.memory_bytes = size_t{1} << 36;
      work(Tensor::empty(shape, dtype, GetParam().device()));
      EXPECT_GT(control.launches, 0);
      EXPECT_EQ(control.misuses, 0) << control.misuse;
      return "";
    });
  }
};

TEST_P(GpuLaunches, ReductionsOfManyRows) {
  expect_taken({kRows, 2, 16}, DType::U8, [](const Tensor& x) { x.sum(1); });
  expect_taken({kRows, 2, 16}, DType::U8, [](const Tensor& x) { x.argmax(1); });
  expect_taken({kRows, 60}, DType::U8, [](const Tensor& x) { x.max(1); });
  expect_taken({kRows, 30}, DType::F16, [](const Tensor& x) { x.softmax(1); });
  expect_taken({kRows, 30}, DType::U8, [](const Tensor& x) { x.cumsum(1); });
}

TEST_P(GpuLaunches, ModulesAreLoadedOnceWhoeverIsFirst) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    const Tensor x = Tensor::ones({64, 64}, DType::F32, device);
    std::latch start(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        x.exp().matmul(x).sum_all();
        x.argmax(1);
        x.softmax(1);
      });
    for (std::thread& thread : threads) thread.join();
    const int loaded = gpu::Gpu::of(device).modules_loaded();
    EXPECT_GE(loaded, 5);
    EXPECT_EQ(control.loads, loaded);
    EXPECT_EQ(control.modules, loaded);
    EXPECT_EQ(control.misuses, 0) << control.misuse;
    return "";
  });
}

TEST_P(GpuLaunches, SmallMatrices) {
  expect_taken({kRows, 8, 8}, DType::U8, [](const Tensor& x) { x.t().contiguous(); });
  expect_taken({kRows, 1, 1}, DType::F16, [](const Tensor& x) { x.matmul(x); });
}

// By few columns, and by tiles.
TEST_P(GpuLaunches, TallProducts) {
  constexpr int64_t kTall = (int64_t{1} << 28) + 1;
  expect_taken({kTall, 8}, DType::F16, [](const Tensor& x) { x.matmul(x.narrow(0, 0, 8).narrow(1, 0, 1)); });
  expect_taken({4 * kTall, 2}, DType::I16,
               [](const Tensor& x) { x.matmul(x.narrow(0, 0, 2).narrow(1, 0, 2)); });
  expect_taken({4 * kTall, 2}, DType::I16,
               [](const Tensor& x) { x.narrow(0, 0, 2).matmul(x.transpose(0, 1)); });
}

TEST_P(GpuLaunches, ReductionsOfManyColumns) {
  constexpr int64_t kColumns = int64_t{1} << 29;
  expect_taken({kColumns + 16}, DType::U8, [](const Tensor& x) { x.unfold(0, kColumns, 16).argmax(0); });
  expect_taken({1, kColumns}, DType::F64, [](const Tensor& x) { x.broadcast_as({17, kColumns}).sum(0); });
}

// However long the other side is, a side of eight is worth tiles.
TEST_P(GpuLaunches, TurnedCopiesStayTurned) {
  for (const int64_t rows : {int64_t{1} << 26, (int64_t{1} << 28) + 1})
    expect_taken({rows, 8}, DType::U8, [](const Tensor& x) {
      fake::Control& control = GetParam().control();
      control.submitted = note;
      x.t().contiguous();
      EXPECT_EQ(launched, (std::set<std::string>{"transpose_1"}));
    });
}

TEST_P(GpuLaunches, SortsOfManyRows) {
  expect_taken({kRows, 20}, DType::U8, [](const Tensor& x) { x.topk(1); });
}

// And waves of 64, whose blocks are fewer columns.
std::vector<FakeGpu> gpus() {
  std::vector<FakeGpu> out = fake_gpus();
  const FakeGpu wide = fake_hip("gfx90a");
  if (gpu::Bundle::embedded().target_for(wide.arch).has_value()) out.push_back(wide);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Drivers, GpuLaunches, testing::ValuesIn(gpus()),
                         [](const auto& info) { return info.param.arch; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuLaunches);

}  // namespace
}  // namespace beeswax::test
