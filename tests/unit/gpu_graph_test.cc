// SPDX-License-Identifier: Apache-2.0
// Graphs over fake drivers: what is submitted when, every call failing in turn, nothing that a driver refuses
// to record.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "beeswax/graph.h"
#include "beeswax/tensor.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

std::vector<std::string> launched;
void note(const fake::Launch& launch) { launched.emplace_back(launch.kernel); }
size_t ptx_argument_bytes(const char* kernel) {
  const gpu::Bundle& bundle = gpu::Bundle::embedded();
  return bundle.find(*bundle.target_for("sm_80"), kernel)->argument_bytes;
}

void graph_program(const Device& device, const std::function<void()>& before_the_end) {
  Tensor x = Tensor::ones({16, 16}, DType::F32, device);
  Tensor y;
  const auto step = [&] { y = x.matmul(x).exp().sum_all(); };
  step();
  y = Tensor();
  const Graph graph = Graph::capture(device, step);
  x.const_set(2);
  graph.replay();
  graph.replay();
  EXPECT_EQ(y.to_vec<float>().size(), 1u);
  before_the_end();
}

class GpuGraphs : public testing::TestWithParam<FakeGpu> {
 protected:
  fake::Control& control() const {
    fake::Control& control = GetParam().control();
    if (GetParam().name == "cuda:0") control.argument_bytes = ptx_argument_bytes;
    return control;
  }
};

TEST_P(GpuGraphs, OneThreadAtATimeReplays) {
  run_apart([this] {
    const fake::Control& fake = control();
    const Device device = GetParam().device();
    const Tensor x = Tensor::ones({8}, DType::F32, device);
    x.exp();
    const Graph graph = Graph::capture(device, [&] { x.exp(); });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int replay = 0; replay < 10; ++replay) graph.replay();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(fake.misuses, 0) << fake.misuse;
    return "";
  });
}

TEST_P(GpuGraphs, AReplaySubmitsWhatWasRecorded) {
  run_apart([this] {
    fake::Control& fake = control();
    fake.run = note;
    const Tensor x = Tensor::ones({8}, DType::F32, GetParam().device());
    x.exp().sin();
    {
      const Graph graph = Graph::capture(GetParam().device(), [&] { x.exp().sin(); });
      launched.clear();
      graph.replay();
      graph.replay();
      EXPECT_EQ(launched, (std::vector<std::string>{"unary_exp_f32", "unary_sin_f32", "unary_exp_f32",
                                                    "unary_sin_f32"}));
      EXPECT_EQ(fake.instances, 1);
      EXPECT_EQ(graph.memory_bytes(), size_t{3 * 512});  // x and two results, in the pool's smallest blocks
    }
    EXPECT_EQ(fake.instances, 0);
    return "";
  });
}

TEST_P(GpuGraphs, AnyCallFails) {
  const FakeGpu fake = GetParam();
  expect_any_call_may_fail(fake, [&](const Device& device) {
    fake::Control& control = this->control();
    graph_program(device, [&] { control.fail_nth = 0; });
  });
}

// Nobody hears of failures where a graph goes, so nothing may be left behind.
TEST_P(GpuGraphs, FailuresAtTheEndLeaveNothing) {
  for (int64_t n = 1; n <= 2; ++n)
    run_apart([&] {
      fake::Control& fake = control();
      graph_program(GetParam().device(), [&] { set_fault(fake, "", n, 1); });
      EXPECT_NE(fake.failed[0], 0);
      clear_fault(fake);
      expect_nothing_leaks(GetParam(), fake);
      return "";
    });
}

TEST_P(GpuGraphs, ALostDeviceWhileCapturing) {
  run_apart([this] {
    fake::Control& fake = control();
    const Device device = GetParam().device();
    const Tensor x = Tensor::ones({8}, DType::F32, device);
    x.exp();
    EXPECT_ERROR(Graph::capture(device,
                                [&] {
                                  set_fault(fake, "", 1, 719, true);
                                  x.exp();
                                }),
                 Device, "launching the kernel unary_exp_f32 of exp");
    EXPECT_ERROR(Graph::capture(device, [] {}), Device, "lost to the process");
    return "";
  });
}

TEST_P(GpuGraphs, NothingReachesTheDriverThatItRefusesToRecord) {
  run_apart([this] {
    fake::Control& fake = control();
    const Device device = GetParam().device();
    const Tensor x = Tensor::ones({8}, DType::F32, device);
    x.exp();
    for (const auto& operations : std::vector<std::function<void()>>{
             [&] { x.to_vec<float>(); }, [&] { Tensor::of<float>({1}, device); },
             [&] { device.synchronize(); }, [&] { Tensor::empty({1 << 20}, DType::F32, device); },
             [&] { x.erf(); }, [&] { gpu::Gpu::of(device).pool().trim(); }}) {
      const Graph graph = Graph::capture(device, [&] {
        EXPECT_THROW(operations(), Error);
        x.exp();  // the recording is as good as before
      });
      graph.replay();
    }
    EXPECT_EQ(fake.misuses, 0) << fake.misuse;
    return "";
  });
}

TEST_P(GpuGraphs, OtherDevicesRunAsAlways) {
  run_apart([this] {
    fake::Control& fake = control();
    fake.devices = 2;
    const Device device = GetParam().device();
    const std::string& name = GetParam().name;
    const Device second = Device::parse(name.substr(0, name.find(':')) + ":1");
    const Tensor x = Tensor::ones({8}, DType::F32, device);
    x.exp();
    const auto elsewhere = [&] {
      const Tensor y = Tensor::of<float>({1, 2}, second);  // opens it, the first time
      EXPECT_EQ(y.exp().to_vec<float>().size(), 2u);
      second.synchronize();
    };
    Graph::capture(device, [&] {
      elsewhere();
      x.exp();
      elsewhere();
    }).replay();
    EXPECT_THROW(Graph::capture(device,
                                [&] {
                                  elsewhere();
                                  throw std::runtime_error("the caller's own");
                                }),
                 std::runtime_error);
    Graph::capture(device, [&] { x.exp(); }).replay();
    EXPECT_EQ(fake.misuses, 0) << fake.misuse;
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuGraphs, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuGraphs);

}  // namespace
}  // namespace beeswax::test
