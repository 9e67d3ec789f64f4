// SPDX-License-Identifier: Apache-2.0
// hipDeviceReset: "the state of current device is discarded and updated to a fresh state".
#include <cstring>
#include <string>
#include <vector>

#include "emu/support/compile.h"
#include "emu/support/hip.h"

using namespace emu::test;

extern "C" {
int hipMemPoolSetAttribute(hipMemPool_t, int, void*);
int hipDeviceSetMemPool(int, hipMemPool_t);
int hipDeviceGetMemPool(hipMemPool_t*, int);
void** register_binary(const void*) asm("__hipRegisterFatBinary");
void register_variable(void**, void*, char*, const char*, int, size_t, int, int) asm("__hipRegisterVar");
void register_managed(void*, void**, void*, const char*, size_t, unsigned) asm("__hipRegisterManagedVar");
void unregister_binary(void**) asm("__hipUnregisterFatBinary");
int hipMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
int hipMemcpyFromSymbol(void*, const void*, size_t, size_t, int);
}

namespace {

const Environment kEnvironment("gfx1100,gfx90a,gfx1030");
enum PoolAttribute { kFollowEvents = 1, kThreshold = 4, kUsedNow = 7, kUsedHigh = 8 };

constexpr const char* kSource = R"(
__device__ int counter = 5;
__device__ int zeros[100];
__constant__ int table[4] = {1, 2, 3, 4};
static __device__ int hidden = 9;
__device__ int* shared_by_both;  // as of a managed variable
extern "C" __global__ void count(int* out) {
  if (global_x() != 0) return;
  out[0] = counter++;
  out[1] = zeros[99]++;
  out[2] = table[out[4]];
  out[3] = hidden++;
}
)";

class Reset : public testing::Test {
 protected:
  void SetUp() override { HIP_OK(hipSetDevice(0)); }
  void TearDown() override {
    EXPECT_EQ(hipSetDevice(0), hipSuccess);
    EXPECT_EQ(hipDeviceReset(), hipSuccess);
    hipGetLastError();
  }
};

uint64_t number(hipMemPool_t pool, PoolAttribute which) {
  uint64_t value = 77;
  EXPECT_EQ(hipMemPoolGetAttribute(pool, which, &value), hipSuccess);
  return value;
}

TEST_F(Reset, Pools) {
  hipMemPool_t usual = nullptr, mine = nullptr, other_device = nullptr, now = nullptr;
  const hipMemPoolProps properties{1, 0, 1, 0, nullptr, {}}, of_other{1, 0, 1, 1, nullptr, {}};
  HIP_OK(hipDeviceGetDefaultMemPool(&usual, 0));
  HIP_OK(hipMemPoolCreate(&mine, &properties));
  HIP_OK(hipMemPoolCreate(&other_device, &of_other));
  void *a = nullptr, *b = nullptr;
  HIP_OK(hipMallocAsync(&a, 1000, nullptr));
  HIP_OK(hipDeviceSetMemPool(0, mine));
  HIP_OK(hipMallocAsync(&b, 3000, nullptr));
  uint64_t threshold = 1 << 20;
  int off = 0;
  HIP_OK(hipMemPoolSetAttribute(usual, kThreshold, &threshold));
  HIP_OK(hipMemPoolSetAttribute(usual, kFollowEvents, &off));
  EXPECT_EQ(number(usual, kUsedNow), 1000u);
  EXPECT_EQ(number(mine, kUsedHigh), 3000u);

  HIP_OK(hipDeviceReset());
  EXPECT_EQ(number(usual, kUsedNow), 0u);
  EXPECT_EQ(number(usual, kUsedHigh), 0u);
  EXPECT_EQ(number(usual, kThreshold), 0u);
  HIP_OK(hipMemPoolGetAttribute(usual, kFollowEvents, &off));
  EXPECT_EQ(off, 1);
  HIP_OK(hipDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, usual);
  EXPECT_EQ(hipMallocFromPoolAsync(&b, 64, mine, nullptr), hipErrorInvalidHandle) << "it is gone";
  EXPECT_NE(hipFree(a), hipSuccess);
  EXPECT_EQ(number(other_device, kUsedNow), 0u) << "other devices' stay";
  HIP_OK(hipMallocAsync(&a, 500, nullptr));
  EXPECT_EQ(number(usual, kUsedHigh), 500u);
  HIP_OK(hipFree(a));
  EXPECT_EQ(number(usual, kUsedNow), 0u);
  HIP_OK(hipMemPoolDestroy(other_device));
}

// "... until the access is disabled using hipDeviceDisablePeerAccess or device is reset".
TEST_F(Reset, Peers) {
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  HIP_OK(hipDeviceEnablePeerAccess(2, 0));
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipDeviceEnablePeerAccess(0, 0));
  HIP_OK(hipSetDevice(0));
  HIP_OK(hipDeviceReset());
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  HIP_OK(hipDeviceEnablePeerAccess(2, 0));
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipDeviceDisablePeerAccess(0));  // the other device's own access stayed
}

TEST_F(Reset, LimitsOfDevices) {
  size_t before = 0, after = 0;
  HIP_OK(hipDeviceGetLimit(&before, 1));
  HIP_OK(hipDeviceSetLimit(1, 4096));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipDeviceGetLimit(&after, 1));
  EXPECT_EQ(after, before);
}

TEST_F(Reset, KernelsMayNotTouchPeersAnyMore) {
  EMU_NEEDS_CLANG();
  hipModule_t module = nullptr;
  hipFunction_t count = nullptr;
  void* far = nullptr;
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipMalloc(&far, 64));
  HIP_OK(hipMemset(far, 0, 64));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipSetDevice(0));
  HIP_OK(hipModuleLoadData(&module, compile(kSource, "gfx1100").data()));
  HIP_OK(hipModuleGetFunction(&count, module, "count"));
  void* params[] = {&far};
  const auto run = [&] {
    EXPECT_EQ(hipModuleLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), hipSuccess);
    return hipDeviceSynchronize();
  };
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(run(), hipSuccess);
  HIP_OK(hipDeviceReset());
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(), hipErrorIllegalAddress);
  testing::internal::GetCapturedStderr();
  HIP_OK(hipDeviceReset());
  HIP_OK(hipModuleUnload(module));
}

TEST_F(Reset, VariablesOfModules) {
  EMU_NEEDS_CLANG();
  hipModule_t module = nullptr;
  hipFunction_t count = nullptr;
  HIP_OK(hipModuleLoadData(&module, compile(kSource, "gfx1100").data()));
  HIP_OK(hipModuleGetFunction(&count, module, "count"));
  const auto run = [&] {
    std::vector<int> values(5, 2);
    void* out = nullptr;
    void* params[] = {&out};
    EXPECT_EQ(hipMalloc(&out, 20), hipSuccess);
    EXPECT_EQ(hipMemcpy(out, values.data(), 20, hipMemcpyHostToDevice), hipSuccess);
    EXPECT_EQ(hipModuleLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), hipSuccess);
    EXPECT_EQ(hipMemcpy(values.data(), out, 20, hipMemcpyDeviceToHost), hipSuccess);
    EXPECT_EQ(hipFree(out), hipSuccess);
    return values;
  };
  void* table = nullptr;
  size_t bytes = 0;
  const int other[4] = {10, 20, 30, 40};
  HIP_OK(hipModuleGetGlobal(&table, &bytes, module, "table"));
  HIP_OK(hipMemcpy(table, other, sizeof other, hipMemcpyHostToDevice));
  EXPECT_EQ(run(), (std::vector<int>{5, 0, 30, 9, 2}));
  EXPECT_EQ(run(), (std::vector<int>{6, 1, 30, 10, 2}));
  HIP_OK(hipDeviceReset());
  EXPECT_EQ(run(), (std::vector<int>{5, 0, 3, 9, 2}));
  HIP_OK(hipModuleUnload(module));
}

// What the compiler makes of a program's variables.
TEST_F(Reset, VariablesOfPrograms) {
  EMU_NEEDS_CLANG();
  const struct {
    uint32_t magic = 0x48495046, version = 1;
    const void* binary;
    void* unused = nullptr;
  } wrapper{.binary = compile(kSource, "gfx1100").data()};
  int host_counter = 0, value = 0, initial = 3;
  void *managed = nullptr, *on_device = nullptr;
  char name[] = "counter";
  void** binary = register_binary(&wrapper);
  register_variable(binary, &host_counter, name, "counter", 0, 4, 0, 0);
  register_managed(binary, &managed, &initial, "shared_by_both", sizeof initial, 4);
  HIP_OK(hipMemcpyFromSymbol(&value, &host_counter, 4, 0, hipMemcpyDeviceToHost));
  EXPECT_EQ(value, 5);
  value = 50;
  HIP_OK(hipMemcpyToSymbol(&host_counter, &value, 4, 0, hipMemcpyHostToDevice));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipMemcpyFromSymbol(&value, &host_counter, 4, 0, hipMemcpyDeviceToHost));
  EXPECT_EQ(value, 5);
  HIP_OK(hipMemcpyFromSymbol(&on_device, &managed, sizeof(void*), 0, hipMemcpyDeviceToHost));
  EXPECT_EQ(on_device, managed) << "a managed variable's place is known again";
  unregister_binary(binary);
}

}  // namespace
