// SPDX-License-Identifier: Apache-2.0
// A system that can make no more threads: streams that would need one say so, and kernels run on the threads
// that there are.
#include <pthread.h>

#include <system_error>
#include <thread>
#include <vector>

#include "emu/support/compile.h"
#include "emu/support/hip.h"

using namespace emu::test;

namespace {

const Environment kEnvironment("gfx90a", "bounds", "4");

constexpr const char* kSource = R"(
extern "C" __global__ void add(int* x) { x[global_x()] += 1; }
// Every group waits for all others.
extern "C" __global__ void meet(int* x, int groups) {
  __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
  x[global_x()] += 1;
}
)";

// While one lives, no thread can be made: its stack would be larger than the address space.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 50);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(Threads, AStreamWithoutOneSaysSo) {
  hipStream_t stream = nullptr;
  void* block = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipMalloc(&block, 64));
  {
    const NoMoreThreads none;
    EXPECT_EQ(hipMemsetAsync(block, 1, 64, stream), hipErrorOutOfMemory);
    EXPECT_EQ(hipMemset(block, 1, 64), hipErrorOutOfMemory);
    HIP_OK(hipStreamSynchronize(stream));  // nothing was asked of it
    HIP_OK(hipDeviceSynchronize());
    EXPECT_EQ(hipStreamQuery(stream), hipSuccess);
  }
  hipGetLastError();
  char byte = 0;
  HIP_OK(hipMemsetAsync(block, 7, 64, stream));
  HIP_OK(hipMemcpyAsync(&byte, block, 1, hipMemcpyDeviceToHost, stream));
  EXPECT_EQ(byte, 7) << "it works again";
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipFree(block));
}

TEST(Threads, KernelsRunOnFewer) {
  EMU_NEEDS_CLANG();
  constexpr unsigned kGroups = 600, kItems = kGroups * 64;  // more than one thread begins with by itself
  hipModule_t module = nullptr;
  hipFunction_t add = nullptr, meet = nullptr;
  int* block = nullptr;
  HIP_OK(hipModuleLoadData(&module, compile(kSource, "gfx90a").data()));
  HIP_OK(hipModuleGetFunction(&add, module, "add"));
  HIP_OK(hipModuleGetFunction(&meet, module, "meet"));
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&block), kItems * sizeof(int)));
  HIP_OK(hipMemset(block, 0, kItems * sizeof(int)));
  HIP_OK(hipDeviceSynchronize());  // the null stream has its thread
  int groups = kGroups;
  void* params[] = {&block, &groups};
  {
    const NoMoreThreads none;
    HIP_OK(hipModuleLaunchKernel(add, kGroups, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
    HIP_OK(hipModuleLaunchCooperativeKernel(meet, kGroups, 1, 1, 64, 1, 1, 0, nullptr, params));
    HIP_OK(hipDeviceSynchronize());
  }
  std::vector<int> values(kItems);
  HIP_OK(hipMemcpy(values.data(), block, kItems * sizeof(int), hipMemcpyDeviceToHost));
  EXPECT_EQ(values, std::vector<int>(kItems, 2));
  HIP_OK(hipModuleUnload(module));
  HIP_OK(hipFree(block));
}

}  // namespace
