// SPDX-License-Identifier: Apache-2.0
// Cooperative launches: groups that wait for the whole grid, both ways of the device library (global wave
// sync, and a counter in memory); what does not fit, who never comes, and what the barrier orders.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "emu/hip/device.h"
#include "emu/hip/properties.h"
#include "emu/hip/runtime.h"
#include "emu/support/compile.h"
#include "emu/support/hip.h"

using namespace emu::test;

namespace {

const Environment kEnvironment("gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1201", "strict",
                               kThreadsOfRacyKernels);
const std::vector<std::string> kChips = {"gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"};

constexpr const char* kSource = R"(
#define KERNEL extern "C" __global__ void
#if defined(__gfx942__) || defined(__GFX11__) || defined(__GFX12__)
#define IN_MEMORY 1
#else
#define IN_MEMORY 0
#endif
#define AGENT __HIP_MEMORY_SCOPE_AGENT
template <class T> static __device__ inline T hidden(int offset) {
  return *(const __attribute__((address_space(4))) T*)((const __attribute__((address_space(4))) char*)
                                                           __builtin_amdgcn_implicitarg_ptr() + offset);
}
static __device__ inline int groups() { return hidden<int>(0); }
// As the device library's.
static __device__ inline void grid_sync() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __builtin_amdgcn_s_barrier();
  if (thread_x() == 0) {
#if IN_MEMORY
    char* info = hidden<char*>(88);
    unsigned* counter = (unsigned*)(info + 32);
    const unsigned members = *(unsigned*)(info + 40), before = __hip_atomic_fetch_add(counter, 1, __ATOMIC_RELAXED, AGENT);
    if ((before & 0xffff) == members - 1)
      __hip_atomic_fetch_add(counter, 0x10000 - members, __ATOMIC_RELAXED, AGENT);
    else
      while (((__hip_atomic_load(counter, __ATOMIC_RELAXED, AGENT) ^ before) & ~0xffff) == 0) __builtin_amdgcn_s_sleep(1);
#else
    __builtin_amdgcn_ds_gws_barrier(groups() - 1, 0);
#endif
  }
  __builtin_amdgcn_s_barrier();
}
// Values go round: each item takes that of another group's item and adds one.
KERNEL relay(int* values, int rounds, int skipped) {
  const int n = groups() * block_size_x();
  for (int r = 0; r < rounds; ++r) {
    const int x = values[(global_x() + block_size_x() + 1) % n];
    if (skipped != 1) grid_sync();
    values[global_x()] = x + 1;
    if (skipped != 2) grid_sync();
  }
}
KERNEL leaves(int* c, int who) {
  if (block_x() == who) return;
  grid_sync();
  c[global_x()] = 1;
}
KERNEL valid(unsigned long long* c) { c[0] = hidden<unsigned long long>(88); }
#if !IN_MEMORY
// Another resource, which the kernel makes ready itself; its waves come one by one, every lane of them.
KERNEL other_resource(int* values) {
  if (global_x() == 0) __builtin_amdgcn_ds_gws_init(groups() - 1, 5);
  grid_sync();
  int x = values[(block_x() + 1) % groups()];
  asm volatile("" : "+v"(x));
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __builtin_amdgcn_ds_gws_barrier(groups() - 1, 5);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  if (thread_x() == 0) values[block_x()] = x + 1;
  __builtin_amdgcn_ds_gws_barrier(groups() - 1, 5);
}
#endif
)";

const std::vector<std::byte>& code(const std::string& chip) { return compile(kSource, chip); }

class Cooperative : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    HIP_OK(hipSetDevice(GetParam()));
    HIP_OK(hipModuleLoadData(&module_, code(chip()).data()));
  }
  void TearDown() override {
    if (module_ == nullptr) return;
    EXPECT_EQ(hipModuleUnload(module_), hipSuccess);
    EXPECT_EQ(hipDeviceReset(), hipSuccess);
  }
  hipFunction_t function(const char* name) const {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module_, name), hipSuccess);
    return found;
  }
  template <class... A>
  int launch(const char* name, unsigned groups, unsigned block, A... arguments) const {
    void* params[] = {&arguments...};
    return hipModuleLaunchCooperativeKernel(function(name), groups, 1, 1, block, 1, 1, 0, nullptr, params);
  }
  template <class... A>
  int run(const char* name, unsigned groups, unsigned block, A... arguments) const {
    const int launched = launch(name, groups, block, arguments...);
    return launched != hipSuccess ? launched : hipDeviceSynchronize();
  }
  std::string fault(const std::function<int()>& body) const {
    testing::internal::CaptureStderr();
    const int code = body();
    testing::internal::GetCapturedStderr();
    EXPECT_NE(code, hipSuccess);
    return emu::hip::Runtime::get().device(GetParam()).last_report();
  }
  int* numbers(int count) {
    void*& block = blocks_.emplace_back();
    EXPECT_EQ(hipMalloc(&block, static_cast<size_t>(count) * sizeof(int)), hipSuccess);
    std::vector<int> values(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = 1000 * i;
    EXPECT_EQ(hipMemcpy(block, values.data(), values.size() * sizeof(int), hipMemcpyHostToDevice),
              hipSuccess);
    return static_cast<int*>(block);
  }
  static void expect_relayed(const int* values, int n, int step, int rounds) {
    for (int i = 0; i < n; ++i) ASSERT_EQ(values[i], 1000 * ((i + rounds * step) % n) + rounds) << i;
  }
  std::string chip() const { return kChips[static_cast<size_t>(GetParam())]; }
  bool in_memory() const {
    return chip() == "gfx942" || chip().starts_with("gfx11") || chip().starts_with("gfx12");
  }

 private:
  hipModule_t module_ = nullptr;
  std::vector<void*> blocks_;
};

TEST_P(Cooperative, GroupsWaitForEachOther) {
  for (const unsigned groups : {1u, 2u, 7u, 60u})
    for (const unsigned block : {1u, 64u, 200u}) {
      const int n = static_cast<int>(groups * block);
      int* values = numbers(n);
      HIP_OK(run("relay", groups, block, values, 5, 0));
      expect_relayed(values, n, static_cast<int>(block) + 1, 5);
    }
}

// As many as there can be, and one more.
TEST_P(Cooperative, TheWholeDevice) {
  int blocks = 0, multiprocessors = 0;
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("relay"), 1024, 0));
  HIP_OK(hipDeviceGetAttribute(&multiprocessors, emu::hip::kMultiprocessorCount, GetParam()));
  const auto most = static_cast<unsigned>(blocks * multiprocessors);
  ASSERT_GT(most, 10u);
  const int n = static_cast<int>(most * 1024);
  int* values = numbers(n);
  HIP_OK(run("relay", most, 1024, values, 1, 0));
  expect_relayed(values, n, 1025, 1);
  EXPECT_EQ(launch("relay", most + 1, 1024, values, 1, 0), hipErrorCooperativeLaunchTooLarge);
  HIP_OK(hipDeviceSynchronize());
}

TEST_P(Cooperative, WhoWaitsForAGroupThatEndedIsFound) {
  const std::string text = fault([&] { return run("leaves", 9, 64, numbers(9 * 64), 4); });
  EXPECT_NE(text.find("barrier that not every wave reaches in kernel leaves"), text.npos) << text;
  EXPECT_NE(text.find("group (4, 0, 0) has ended without it"), text.npos) << text;
  EXPECT_EQ(text.find("work-group   (4, 0, 0)"), text.npos) << text;
}

// Either barrier of a round is needed: the one orders reads before writes, the other writes before reads.
TEST_P(Cooperative, WhatTheBarrierOrders) {
  for (const int skipped : {1, 2}) {
    const std::string text = fault([&] { return run("relay", 8, 64, numbers(8 * 64), 3, skipped); });
    EXPECT_NE(text.find("data race in kernel relay"), text.npos) << text;
    HIP_OK(hipDeviceReset());
  }
}

TEST_P(Cooperative, OtherLaunchesAreNot) {
  auto* c = reinterpret_cast<uint64_t*>(numbers(2));
  HIP_OK(run("valid", 1, 1, c));
  EXPECT_NE(c[0], 0u);
  void* params[] = {&c};
  HIP_OK(hipModuleLaunchKernel(function("valid"), 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(c[0], 0u);
  int one = 1, none = 0;
  int* values = numbers(64);
  void* relay[] = {&values, &one, &none};
  const std::string text = fault([&] {
    hipModuleLaunchKernel(function("relay"), 1, 1, 1, 64, 1, 1, 0, nullptr, relay, nullptr);
    return hipDeviceSynchronize();
  });
  EXPECT_NE(text.find(in_memory() ? "a null pointer" : "need a cooperative launch"), text.npos) << text;
}

TEST_P(Cooperative, InAGraph) {
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  int* values = numbers(256);
  int rounds = 1, none = 0;
  void* params[] = {&values, &rounds, &none};
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, 0));
  HIP_OK(hipModuleLaunchCooperativeKernel(function("relay"), 4, 1, 1, 64, 1, 1, 0, stream, params));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  expect_relayed(values, 256, 65, 3);
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipStreamDestroy(stream));
}

TEST_P(Cooperative, ResourcesOfTheKernelsOwn) {
  if (in_memory()) GTEST_SKIP() << "no global wave sync";
  int* values = numbers(6);
  HIP_OK(run("other_resource", 6, 32, values));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i], 1000 * ((i + 1) % 6) + 1);
}

TEST_P(Cooperative, TheDeviceSaysSo) {
  int one = 0, several = 1;
  HIP_OK(hipDeviceGetAttribute(&one, emu::hip::kCooperativeLaunch, GetParam()));
  HIP_OK(hipDeviceGetAttribute(&several, emu::hip::kCooperativeLaunch + 1, GetParam()));
  EXPECT_EQ(one, 1);
  EXPECT_EQ(several, 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, Cooperative, testing::Range(0, 6),
                         [](const auto& info) { return kChips[static_cast<size_t>(info.param)]; });

}  // namespace
