// SPDX-License-Identifier: Apache-2.0
// Modules and launches through the exported API: loading, wrong targets, bundles, arguments, globals,
// occupancy, faults.
#include <cstring>
#include <string>
#include <vector>

#include "emu/chips.h"
#include "emu/support/compile.h"
#include "emu/support/hip.h"

using namespace emu::test;

namespace {

const Environment kEnvironment("gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1151,gfx1200,gfx1201");
const std::vector<std::string> kChips = {"gfx906",  "gfx90a",  "gfx942",  "gfx1030",
                                         "gfx1100", "gfx1151", "gfx1200", "gfx1201"};

constexpr const char* kSource = R"(
__device__ int weights[4] = {10, 20, 30, 40};
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = global_x();
  if (i < n) c[i] = a[i] + b[i];
}
// Everything a launch hands over, one number for each.
struct Pair { short a; double b; };
extern "C" __global__ void tell(int* out, char x, Pair pair, int y) {
  if (global_x() != 0) return;
  out[0] = x; out[1] = pair.a; out[2] = (int)pair.b; out[3] = y;
  out[4] = block_size_x();
  out[5] = __builtin_amdgcn_grid_size_x();
  out[6] = weights[2];
}
extern "C" __global__ __launch_bounds__(64) void small(int* out) { out[thread_x()] = block_x(); }
extern "C" __global__ void dynamic(int* out) {
  extern __shared__ int staged[];
  staged[thread_x()] = thread_x();
  barrier();
  out[thread_x()] = staged[block_size_x() - 1 - thread_x()];
}
extern "C" __global__ void both(int* out) {
  __shared__ int fixed[256];
  fixed[thread_x()] = out[thread_x()];
  barrier();
  out[thread_x()] = fixed[255 - thread_x()];
}
)";

struct Loaded {
  hipModule_t module = nullptr;
  ~Loaded() {
    if (module != nullptr) {
      EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    }
  }
  hipFunction_t function(const char* name) const {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module, name), hipSuccess);
    return found;
  }
};

const std::vector<std::byte>& code(const std::string& chip) { return compile(kSource, chip); }

class OnDevice : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    HIP_OK(hipSetDevice(GetParam()));
    HIP_OK(hipModuleLoadData(&loaded.module, code(kChips[static_cast<size_t>(GetParam())]).data()));
  }
  Loaded loaded;
};

TEST_P(OnDevice, VectorAdd) {
  constexpr int n = 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[static_cast<size_t>(i)] = static_cast<float>(i);
    b[static_cast<size_t>(i)] = 0.5f;
  }
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  for (float** block : {&da, &db, &dc}) HIP_OK(hipMalloc(reinterpret_cast<void**>(block), n * 4));
  HIP_OK(hipMemcpy(da, a.data(), n * 4, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(db, b.data(), n * 4, hipMemcpyHostToDevice));
  int count = n;
  void* params[] = {&da, &db, &dc, &count};
  HIP_OK(hipModuleLaunchKernel(loaded.function("add"), 4, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr));
  HIP_OK(hipMemcpy(c.data(), dc, n * 4, hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[static_cast<size_t>(i)], static_cast<float>(i) + 0.5f) << i;
  for (float* block : {da, db, dc}) HIP_OK(hipFree(block));
}

TEST_P(OnDevice, ArgumentsBothWays) {
  int* out = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&out), 64));
  char x = -3;
  struct {
    short a;
    double b;
  } pair = {-7, 1234.0};
  int y = 99;
  void* params[] = {&out, &x, &pair, &y};
  // The same by hand: offsets 0, 8, 16 and 32.
  std::vector<char> buffer(36);
  std::memcpy(buffer.data(), &out, 8);
  std::memcpy(buffer.data() + 8, &x, 1);
  std::memcpy(buffer.data() + 16, &pair, 16);
  std::memcpy(buffer.data() + 32, &y, 4);
  size_t size = buffer.size();
  void* extra[] = {reinterpret_cast<void*>(1), buffer.data(), reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  const hipFunction_t tell = loaded.function("tell");
  for (const bool by_extra : {false, true}) {
    HIP_OK(hipMemset(out, 0, 64));
    HIP_OK(hipModuleLaunchKernel(tell, 3, 1, 1, 40, 1, 1, 0, nullptr, by_extra ? nullptr : params,
                                 by_extra ? extra : nullptr));
    int told[7];
    HIP_OK(hipMemcpy(told, out, sizeof told, hipMemcpyDeviceToHost));
    const int expected[7] = {-3, -7, 1234, 99, 40, 120, 30};
    for (int i = 0; i < 7; ++i) EXPECT_EQ(told[i], expected[i]) << i << " " << by_extra;
  }
  EXPECT_EQ(hipModuleLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra), hipErrorInvalidValue);
  extra[3] = nullptr;
  EXPECT_EQ(hipModuleLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
  extra[3] = &size;
  size = 35;
  EXPECT_EQ(hipModuleLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
  HIP_OK(hipFree(out));
}

TEST_P(OnDevice, DynamicSharedMemoryAndGraphs) {
  int* out = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&out), 1024));
  void* params[] = {&out};
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipStreamBeginCapture(stream, 0));
  HIP_OK(
      hipModuleLaunchKernel(loaded.function("dynamic"), 1, 1, 1, 256, 1, 1, 1024, stream, params, nullptr));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 2; ++round) {
    HIP_OK(hipMemsetAsync(out, 0, 1024, stream));
    HIP_OK(hipGraphLaunch(exec, stream));
    std::vector<int> back(256);
    HIP_OK(hipMemcpyAsync(back.data(), out, 1024, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipStreamSynchronize(stream));
    for (int i = 0; i < 256; ++i) ASSERT_EQ(back[static_cast<size_t>(i)], 255 - i);
  }
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipFree(out));
}

TEST_P(OnDevice, GlobalsFunctionsAndSizes) {
  void* address = nullptr;
  size_t bytes = 0;
  HIP_OK(hipModuleGetGlobal(&address, &bytes, loaded.module, "weights"));
  EXPECT_EQ(bytes, 16u);
  int weights[4];
  HIP_OK(hipMemcpy(weights, address, 16, hipMemcpyDeviceToHost));
  EXPECT_EQ(weights[3], 40);
  EXPECT_EQ(hipModuleGetGlobal(&address, &bytes, loaded.module, "none"), hipErrorNotFound);
  hipFunction_t none = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&none, loaded.module, "none"), hipErrorNotFound);
  int value = 0;
  HIP_OK(hipFuncGetAttribute(&value, 0, loaded.function("small")));
  EXPECT_EQ(value, 64);
  int* out = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&out), 1024));
  void* params[] = {&out};
  const hipFunction_t small = loaded.function("small");
  EXPECT_EQ(hipModuleLaunchKernel(small, 0, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr),
            hipErrorInvalidConfiguration);
  int most = 0;
  HIP_OK(hipDeviceGetAttribute(&most, 30, GetParam()));
  EXPECT_EQ(most, 65535);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 65536, 1, 64, 1, 1, 0, nullptr, params, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 1, 1, 2048, 1, 1, 0, nullptr, params, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 1, 1, 65, 1, 1, 0, nullptr, params, nullptr),
            hipErrorLaunchFailure);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 1, 1, 64, 1, 1, 65537, nullptr, params, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess) << "a refused launch stops nothing";
  HIP_OK(hipFree(out));
}

TEST_P(OnDevice, Occupancy) {
  int blocks = 0, block = 0;
  const hipFunction_t dynamic = loaded.function("dynamic");
  const bool rdna = GetParam() >= 3;
  // By LDS alone: half of it, and nearly all of it.
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, 32768));
  EXPECT_EQ(blocks, rdna ? 4 : 2);
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, 60000));
  EXPECT_EQ(blocks, rdna ? 2 : 1);
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64, 70000));
  EXPECT_EQ(blocks, 0);
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, loaded.function("both"), 64,
                                                            UINT32_MAX - 15));
  EXPECT_EQ(blocks, 0) << "with the 1024 bytes that it has";
  // By wave slots alone: 4 SIMDs (of a pair of units on RDNA: 2 each) with so many slots each, 1024 threads
  // at a time.
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 1024, 0));
  EXPECT_EQ(blocks, GetParam() == 0 ? 4 * 10 / 16 : rdna ? 4 * 16 / 32 : 4 * 8 / 16);
  HIP_OK(hipModuleOccupancyMaxPotentialBlockSize(&blocks, &block, loaded.function("small"), 0, 0));
  EXPECT_EQ(block, 64);
}

INSTANTIATE_TEST_SUITE_P(Chips, OnDevice, testing::Range(0, 8),
                         [](const auto& info) { return kChips[static_cast<size_t>(info.param)]; });

TEST(Modules, WrongOrBrokenImages) {
  EMU_NEEDS_CLANG();
  HIP_OK(hipSetDevice(4));
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, code("gfx90a").data()), hipErrorNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(&module, compile(kSource, "gfx1101").data()), hipErrorNoBinaryForGpu);
  EXPECT_EQ(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  const std::vector<char> text(200, 'x');
  EXPECT_EQ(hipModuleLoadData(&module, text.data()), hipErrorInvalidImage);
  EXPECT_EQ(hipModuleLoad(&module, "no/such/file"), hipErrorFileNotFound);
  EXPECT_EQ(hipModuleLoad(&module, "/"), hipErrorFileNotFound) << "a folder";
  const TemporaryFile file(".hsaco", code("gfx1100"));
  HIP_OK(hipModuleLoad(&module, file.path().c_str()));
  hipFunction_t add = nullptr;
  HIP_OK(hipModuleGetFunction(&add, module, "add"));
  HIP_OK(hipModuleUnload(module));
  EXPECT_EQ(hipModuleUnload(module), hipErrorInvalidHandle);
  void* params[] = {nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), hipErrorInvalidHandle);
}

// Offload bundles, plain and compressed, as clang makes them.
TEST(Modules, Bundles) {
  EMU_NEEDS_CLANG();
  const std::string targets = "gfx90a:xnack- --offload-arch=gfx1100";
  for (const char* option : {"--gpu-bundle-output", "--gpu-bundle-output --offload-compress"}) {
    const auto bundle = compile(kSource, targets, option);
    for (const int device : {1, 4}) {
      HIP_OK(hipSetDevice(device));
      Loaded loaded;
      HIP_OK(hipModuleLoadData(&loaded.module, bundle.data())) << option;
      EXPECT_NE(loaded.function("add"), nullptr);
    }
    HIP_OK(hipSetDevice(2));
    hipModule_t module = nullptr;
    EXPECT_EQ(hipModuleLoadData(&module, bundle.data()), hipErrorNoBinaryForGpu);
  }
}

// The last test: it stops a device.
TEST(Zfaults, StopTheDeviceUntilReset) {
  EMU_NEEDS_CLANG();
  HIP_OK(hipSetDevice(4));
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoadData(&module, code("gfx1100").data()));
  hipFunction_t small = nullptr;
  HIP_OK(hipModuleGetFunction(&small, module, "small"));
  int* out = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&out), 63 * 4));
  void* params[] = {&out};
  std::vector<int> before, after;
  const auto note = [](hipStream_t, int status, void* list) {
    static_cast<std::vector<int>*>(list)->push_back(status);
  };
  bool host_ran = false;
  testing::internal::CaptureStderr();
  Gate gate;
  gate.close_on(nullptr);
  HIP_OK(hipStreamAddCallback(nullptr, note, &before, 0));
  HIP_OK(hipModuleLaunchKernel(small, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr));
  HIP_OK(hipStreamAddCallback(nullptr, note, &after, 0));
  HIP_OK(hipLaunchHostFunc(nullptr, [](void* ran) { *static_cast<bool*>(ran) = true; }, &host_ran));
  gate.open();
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(before, std::vector<int>{hipSuccess});
  EXPECT_EQ(after, std::vector<int>{hipErrorIllegalAddress}) << "called once, with the error";
  EXPECT_FALSE(host_ran);
  for (const char* part : {"kernel small", "gfx1100", "past the end of an allocation of 252 bytes",
                           "work-group   (0, 0, 0)", "instruction", "store"})
    EXPECT_NE(report.find(part), std::string::npos) << part << "\n" << report;
  void* other = nullptr;
  EXPECT_EQ(hipMalloc(&other, 4), hipErrorIllegalAddress);
  EXPECT_EQ(hipModuleLaunchKernel(small, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr),
            hipErrorIllegalAddress);
  HIP_OK(hipSetDevice(1));
  HIP_OK(hipMalloc(&other, 4));  // other devices go on
  HIP_OK(hipFree(other));
  HIP_OK(hipSetDevice(4));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipMalloc(&other, 4));
  HIP_OK(hipFree(other));
  HIP_OK(hipModuleUnload(module));
}

}  // namespace
