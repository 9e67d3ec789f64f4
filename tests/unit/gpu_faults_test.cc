// SPDX-License-Identifier: Apache-2.0
// The GPU layer over drivers that fail on request: every failure is an Error that says what and where,
// nothing leaks, and the device goes on wherever a real one could.
#include <gtest/gtest.h>

#include "beeswax/graph.h"
#include "beeswax/kernel.h"
#include "beeswax/stream.h"
#include "beeswax/tensor.h"
#include "support/expect_error.h"
#include "support/fake_faults.h"

namespace beeswax::test {
namespace {

// Tensors from the host, an elementwise operation, a product, a sum, and the way back.
void small_program(const Device& device) {
  const std::vector<float> values(256, 1.0F);
  const Tensor a = Tensor::from_vec(values, {16, 16}, device);
  const Tensor b = Tensor::from_vec(values, {16, 16}, device);
  const Tensor sum = a.add(b).matmul(b).sum_all();
  EXPECT_EQ(sum.to_vec<float>().size(), 1u);
}

class GpuFaults : public testing::TestWithParam<FakeGpu> {};

TEST_P(GpuFaults, ASmallProgramLeavesNothing) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    small_program(GetParam().device());
    EXPECT_GE(control.launches, 3);
    expect_nothing_leaks(GetParam(), control);
    return "";
  });
}

TEST_P(GpuFaults, AnyCallFails) { expect_any_call_may_fail(GetParam(), small_program); }

TEST_P(GpuFaults, ALostDeviceStaysLost) {
  for_every_call(GetParam(), [&](fake::Control& control, int64_t n) {
    set_fault(control, "", n, 719, true);
    for (int run = 0; run < 2; ++run) {
      ErrorKind kind{};
      const std::string text = failure_of([] { small_program(GetParam().device()); }, &kind);
      if (control.failed[0] == 0) return;
      if (text.empty()) {
        EXPECT_TRUE(run == 0 && may_pass(control.failed, 719))
            << control.failed << " failed and nobody noticed";
      } else {
        EXPECT_EQ(kind, ErrorKind::Device);
        EXPECT_TRUE(closes_driver(control.failed) || has(text, "lost to the process, start it again"))
            << text;
      }
    }
  });
}

TEST_P(GpuFaults, MessagesNameTheKernelAndSayWhatToDo) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    const bool cuda = GetParam().name == "cuda:0";
    small_program(device);
    const Tensor x = Tensor::zeros({64}, DType::F32, device);
    set_fault(control, cuda ? "cuLaunchKernel" : "hipModuleLaunchKernel", 1, 701);
    EXPECT_ERROR(x.exp(), Device, "launching the kernel unary_exp_f32 of exp on " + GetParam().name);
    const Tensor y = x.exp();  // the device goes on
    set_fault(control, cuda ? "cuStreamSynchronize" : "hipStreamSynchronize", 1, 700, true);
    EXPECT_ERROR(
        y.to_vec<float>(), Device,
        "waiting for the device " + GetParam().name + " (the last kernel was unary_exp_f32 of exp): ");
    EXPECT_ERROR(x.add(y), Device, "this device is lost to the process, start it again");
    return "";
  });
}

TEST_P(GpuFaults, KeptMemoryIsGivenBackBeforeMemoryIsOut) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    gpu::Pool& pool = gpu::Gpu::of(device).pool();
    constexpr int64_t kMiB = 1 << 20;
    control.memory_bytes = 8 * kMiB + 4096;  // and the slot for errors
    {
      const Tensor first = Tensor::empty({3 * kMiB}, DType::U8, device);
      const Tensor second = Tensor::empty({4 * kMiB}, DType::U8, device);
      EXPECT_ERROR(Tensor::empty({2 * kMiB}, DType::U8, device), OutOfMemory,
                   "2097152 bytes on " + GetParam().name + ": ");
      EXPECT_ERROR(Tensor::empty({2 * kMiB}, DType::U8, device), OutOfMemory,
                   "7340032 bytes are in use here, and the device has 1048576 free of 8392704");
    }
    EXPECT_EQ(pool.statistics().kept_bytes, size_t{7 * kMiB});
    const Tensor large = Tensor::empty({8 * kMiB}, DType::U8, device);  // only with what was kept
    EXPECT_EQ(pool.statistics().kept_bytes, 0u);
    EXPECT_EQ(control.allocations, 1);
    return "";
  });
}

TEST_P(GpuFaults, KeptMemoryMakesRoomForCodeStreamsAndGraphs) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    const bool cuda = GetParam().name == "cuda:0";
    const gpu::Pool& pool = gpu::Gpu::of(device).pool();
    Tensor x = Tensor::zeros({64}, DType::F32, device);
    const auto with_kept_memory = [&](const char* call, const std::function<void()>& program) {
      SCOPED_TRACE(call);
      program();
      (void)Tensor::empty({1 << 20}, DType::U8, device);
      ASSERT_GT(pool.statistics().kept_bytes, 0u);
      set_fault(control, call, 1, 2);
      program();
      EXPECT_EQ(control.failed, std::string(call));
      EXPECT_LT(pool.statistics().kept_bytes, size_t{1} << 20);
      control.fail_nth = 0, control.failed[0] = 0;
    };
    int used = 0;
    with_kept_memory(cuda ? "cuModuleLoadData" : "hipModuleLoadData",
                     [&] { used++ == 0 ? x.exp() : x.sum_all(); });
    std::vector<float> values(1 << 15);
    std::vector<Tensor> uploaded;
    const auto upload = [&] {  // through a larger buffer of pinned memory each time
      values.resize(values.size() * 2);
      uploaded.push_back(Tensor::from_vec(values, {static_cast<int64_t>(values.size())}, device));
    };
    with_kept_memory(cuda ? "cuMemHostAlloc" : "hipHostMalloc", upload);
    with_kept_memory(cuda ? "cuEventCreate" : "hipEventCreateWithFlags", upload);
    std::vector<Stream> held;
    with_kept_memory(cuda ? "cuStreamCreate" : "hipStreamCreateWithFlags",
                     [&] { held.push_back(Stream::make(device)); });
    x.const_set(2);  // whose kernel is loaded before it is recorded
    with_kept_memory(cuda ? "cuGraphInstantiateWithFlags" : "hipGraphInstantiate",
                     [&] { Graph::capture(device, [&] { x.const_set(2); }).replay(); });
    return "";
  });
}

TEST_P(GpuFaults, ACompiledProgramThatFailsIsUnloaded) {
  run_apart([] {
    fake::Control& control = GetParam().control();
    const Device device = GetParam().device();
    ::setenv("BEESWAX_CODE_CACHE", (testing::TempDir() + "gpu_faults_code").c_str(), 1);
    const auto compile = [&] {
      return Kernel::compile(device, "__global__ void fill(float* y) { y[threadIdx.x] = 1; }", "fill",
                             {.compiler = KernelCompiler::Clang});
    };
    small_program(device);
    const int64_t loaded = control.modules;
    set_fault(control, GetParam().name == "cuda:0" ? "cuModuleGetFunction" : "hipModuleGetFunction", 1, 2);
    EXPECT_ERROR(compile(), OutOfMemory, "looking for the kernel fill");
    EXPECT_EQ(control.modules, loaded);
    EXPECT_EQ(compile().name(), "fill");
    EXPECT_EQ(control.modules, loaded + 1);
    return "";
  });
}

// A function's limit of dynamic shared memory is one for all threads that launch it, and counts what the code
// declares.
TEST_P(GpuFaults, ProgramsLaunchWithAllSharedMemoryFromManyThreads) {
  if (GetParam().name != "cuda:0") GTEST_SKIP() << "the limit is CUDA's";
  run_apart([] {
    fake::Control& control = GetParam().control();
    control.static_shared = 8 << 10;
    const Device device = GetParam().device();
    ::setenv("BEESWAX_CODE_CACHE", (testing::TempDir() + "gpu_faults_code").c_str(), 1);
    const Kernel fill = Kernel::compile(device, "__global__ void fill(float* y) { y[threadIdx.x] = 1; }",
                                        "fill", {.compiler = KernelCompiler::Clang});
    const Tensor y = Tensor::zeros({32}, DType::F32, device);
    const auto launch = [&](uint32_t shared) {
      fill.launch({.block = {32}, .shared_bytes = shared}, output(y));
    };
    std::vector<std::thread> threads;
    for (const uint32_t kilobytes : {0u, 40u, 41u, 48u, 64u, 219u})
      threads.emplace_back([&, kilobytes] {
        for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(launch(kilobytes << 10)) << kilobytes;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_ERROR(launch((219 << 10) + 1), InvalidArgument,
                 "shared_bytes is 224257 beside the 8192 that the kernel declares, and a block on ");
    return "";
  });
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuFaults, testing::ValuesIn(fake_gpus()),
                         [](const auto& info) { return info.param.name.substr(0, 4); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuFaults);

}  // namespace
}  // namespace beeswax::test
