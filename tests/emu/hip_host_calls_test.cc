// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the host: printing both ways, stopping, calling functions, allocating. The device's
// side of the calls is written here after ROCm's, because no device library is needed to build this.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "emu/hip/device.h"
#include "emu/hip/runtime.h"
#include "emu/support/compile.h"
#include "emu/support/hip.h"

using namespace emu::test;

namespace {

const Environment kEnvironment("gfx906,gfx90a,gfx942,gfx1030,gfx1100,gfx1201", "strict",
                               kThreadsOfRacyKernels);
const std::vector<std::string> kChips = {"gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"};

constexpr const char* kLibrary = R"(
using u64 = unsigned long long;
#define SYSTEM __HIP_MEMORY_SCOPE_SYSTEM
#define DEVICE_CALL static __device__ __attribute__((noinline))
struct Header { u64 next, lanes; unsigned service, ready; };
struct Calls { Header* headers; u64 (*slots)[64][8]; u64 doorbell, free, ready, mask; };
struct Signal { long long kind, value; u64 mailbox; unsigned event; };
struct Two { u64 a, b; };
static __device__ inline u64 hidden(int offset) {
  return *(const __attribute__((address_space(4))) u64*)((const __attribute__((address_space(4))) char*)
                                                             __builtin_amdgcn_implicitarg_ptr() + offset);
}
static __device__ inline unsigned lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
static __device__ inline void push(Calls* calls, u64* stack, u64 packet) {
  u64 top = __hip_atomic_load(stack, __ATOMIC_RELAXED, SYSTEM);
  do {
    calls->headers[packet & calls->mask].next = top;
  } while (!__hip_atomic_compare_exchange_strong(stack, &top, packet, __ATOMIC_RELEASE, __ATOMIC_RELAXED, SYSTEM));
}
static __device__ inline u64 uniform(u64 x) {
  return (u64)__builtin_amdgcn_readfirstlane(x >> 32) << 32 | (unsigned)__builtin_amdgcn_readfirstlane(x);
}
DEVICE_CALL Two call_host(unsigned service, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5, u64 a6, u64 a7) {
  Calls* calls = (Calls*)hidden(80);
  unsigned lane = lane_id();
  asm volatile("" : "+v"(lane));
  const bool first = lane == __builtin_amdgcn_readfirstlane(lane);
  u64 packet = 0;
  if (first) {
    packet = __hip_atomic_load(&calls->free, __ATOMIC_ACQUIRE, SYSTEM);
    while (!__hip_atomic_compare_exchange_strong(
        &calls->free, &packet,
        __hip_atomic_load(&calls->headers[packet & calls->mask].next, __ATOMIC_RELAXED, SYSTEM),
        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, SYSTEM))
      __builtin_amdgcn_s_sleep(1);
  }
  packet = uniform(packet);
  Header* header = calls->headers + (packet & calls->mask);
  u64* slot = calls->slots[packet & calls->mask][lane];
  const u64 lanes = __builtin_amdgcn_read_exec();
  if (first) { header->lanes = lanes; header->service = service; header->ready = 1; }
  slot[0] = a0; slot[1] = a1; slot[2] = a2; slot[3] = a3; slot[4] = a4; slot[5] = a5; slot[6] = a6; slot[7] = a7;
  if (first) {
    push(calls, &calls->ready, packet);
    Signal* bell = (Signal*)calls->doorbell;
    __hip_atomic_fetch_add(&bell->value, 1, __ATOMIC_RELEASE, SYSTEM);
    if (bell->mailbox) {
      __hip_atomic_store((u64*)bell->mailbox, (u64)bell->event, __ATOMIC_RELEASE, SYSTEM);
      __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(bell->event) & 0xff);
    }
  }
  for (;;) {
    unsigned ready = 1;
    if (first) ready = __hip_atomic_load(&header->ready, __ATOMIC_ACQUIRE, SYSTEM) & 1;
    if (__builtin_amdgcn_readfirstlane(ready) == 0) break;
    __builtin_amdgcn_s_sleep(1);
  }
  const Two result = {slot[0], slot[1]};
  if (first) {
    const u64 next = packet + calls->mask + 1;
    push(calls, &calls->free, next == 0 ? calls->mask + 1 : next);
  }
  return result;
}
extern "C" __device__ u64 __ockl_printf_append_args(u64 head, unsigned count, u64 a, u64 b, u64 c, u64 d, u64 e,
                                                    u64 f, u64 g, unsigned last) {
  return call_host(2, (head & ~0xe0ull) | count << 5 | (last ? 2 : 0), a, b, c, d, e, f, g).a;
}
extern "C" __device__ u64 __ockl_printf_begin(u64 to) { return __ockl_printf_append_args(1, 1, to, 0, 0, 0, 0, 0, 0, 0); }
extern "C" __device__ u64 __ockl_printf_append_string_n(u64 head, const char* text, u64 size, unsigned last) {
  if (text == nullptr) return __ockl_printf_append_args(head, 1, 0, 0, 0, 0, 0, 0, 0, last);
  do {
    u64 words[7] = {};
    const unsigned part = size < 56 ? size : 56;
    for (unsigned i = 0; i < part; ++i) words[i / 8] |= (u64)(unsigned char)text[i] << i % 8 * 8;
    size -= part;
    text += part;
    head = __ockl_printf_append_args(head, (part + 7) / 8, words[0], words[1], words[2], words[3], words[4],
                                     words[5], words[6], last && size == 0);
  } while (size != 0);
  return head;
}
// For -mprintf-kind=buffered.
extern "C" __device__ void* __printf_alloc(unsigned bytes) {
  unsigned* head = (unsigned*)hidden(72);
  unsigned taken = __hip_atomic_load(head, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    if (bytes > head[1] - taken) return nullptr;
  } while (!__hip_atomic_compare_exchange_strong(head, &taken, taken + bytes, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT));
  return (char*)(head + 2) + taken;
}
extern "C" __device__ int printf(const char*, ...);
)";

constexpr const char* kPrinting = R"(
KERNEL hello(const char* who, int n) {
  if (thread_x() % 3 == 0)
    printf("%s %d of %d: %.2f %c %llx and a text that takes more than one packet\n", who, (int)global_x(), n,
           global_x() * 0.5, 'a' + thread_x(), 1ull << 40 | thread_x());
}
KERNEL many(int a, double x, const char* f) {
  printf("%d %d %d %d %d %d %d %d %d %d %s %g %hhd %%\n", a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, -9,
         "in the middle", x, (char)a);
  printf(f, a, x);
}
// Two texts of every lane, the second after the first.
KERNEL in_order(int* returned) {
  returned[global_x()] = printf("first %d\n", (int)global_x());
  printf("second %d\n", (int)global_x());
}
)";

constexpr const char* kCalls = R"(
KERNEL to_stderr(int n) {
  u64 head = __ockl_printf_begin(1);
  head = __ockl_printf_append_string_n(head, "no %d\n", 7, 0);
  __ockl_printf_append_args(head, 1, n, 0, 0, 0, 0, 0, 0, 1);
}
KERNEL stop(int* c, int from) {
  if (global_x() >= from) __builtin_trap();
  c[global_x()] = 1;
}
KERNEL call_function(u64 f, u64* c) {
  const Two two = call_host(1, f, global_x(), 7, 0, 0, 0, 0, 0);
  c[2 * global_x()] = two.a;
  c[2 * global_x() + 1] = two.b;
}
KERNEL no_service() { call_host(99, 1, 2, 3, 4, 5, 6, 7, 8); }
KERNEL no_message() { __ockl_printf_append_args(5 << 8, 1, 0, 0, 0, 0, 0, 0, 0, 1); }

// The library's names are served by handlers, these bodies never run.
extern "C" __device__ __attribute__((noinline)) void* __ockl_dm_alloc(u64 bytes) {
  if (bytes == 0) return nullptr;
  return (void*)(call_host(3, 0, bytes, 0, 0, 0, 0, 0, 0).a + 1);
}
extern "C" __device__ __attribute__((noinline)) void __ockl_dm_dealloc(u64 block) { if (block) __builtin_trap(); }
// The service alone.
static __device__ void* take(u64 bytes) { return (void*)call_host(3, 0, bytes, 0, 0, 0, 0, 0, 0).a; }
static __device__ void give(void* block) { call_host(3, (u64)block, 0, 0, 0, 0, 0, 0, 0); }

KERNEL allocate(int** c, int bytes, int written) {
  int* mine = (int*)__ockl_dm_alloc(bytes);
  for (int i = 0; i < written; ++i) mine[i] = global_x() + i;
  c[global_x()] = mine;
}
KERNEL use(int** c, int* sums, int read, int free) {
  int* mine = c[global_x()];
  int sum = 0;
  for (int i = 0; i < read; ++i) sum += mine[i];
  sums[global_x()] = sum;
  if (free) __ockl_dm_dealloc((u64)mine);
}
KERNEL from_service(int** c, int bytes) {
  int* mine = (int*)take(bytes);
  if (mine != nullptr) mine[bytes / 4 - 1] = global_x();
  c[global_x()] = mine;
}
KERNEL to_service(int** c) { give(c[global_x()]); }
// Waves of one group pass blocks to each other without a barrier between.
KERNEL pass(int** c, int with_barrier) {
  int* mine = (int*)__ockl_dm_alloc(8);
  mine[0] = thread_x();
  __hip_atomic_store(c + thread_x(), mine, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  int* other = __hip_atomic_load(c + (thread_x() ^ 64), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  other[0] = 1;
  if (with_barrier) barrier();
  mine[0] = 2;
}
)";

const std::vector<std::byte>& code(const std::string& chip, const char* source,
                                   const std::string& options = "") {
  return compile(std::string("#define KERNEL extern \"C\" __global__ void\n") + kLibrary + source, chip,
                 options);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

class HostCalls : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    HIP_OK(hipSetDevice(GetParam()));
  }
  void TearDown() override {
    std::fflush(stdout);
    for (const hipModule_t module : modules_) EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    if (has_clang()) {
      EXPECT_EQ(hipDeviceReset(), hipSuccess);
    }
  }
  hipFunction_t function(const char* source, const char* name, const std::string& options = "") {
    hipModule_t module = nullptr;
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleLoadData(&module, code(chip(), source, options).data()), hipSuccess);
    modules_.push_back(module);
    EXPECT_EQ(hipModuleGetFunction(&found, module, name), hipSuccess);
    return found;
  }
  template <class... A>
  int run(hipFunction_t function, unsigned groups, unsigned block, A... arguments) {
    void* params[] = {&arguments..., nullptr};
    const int launched =
        hipModuleLaunchKernel(function, groups, 1, 1, block, 1, 1, 0, nullptr, params, nullptr);
    return launched != hipSuccess ? launched : hipDeviceSynchronize();
  }
  std::string printed_by(const std::function<int()>& launch, int expected = hipSuccess) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(launch(), expected) << report();
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
  }
  // The report of the fault that this launch ends with.
  std::string fault(const std::function<int()>& launch) {
    testing::internal::CaptureStderr();
    const int code = launch();
    said_ = testing::internal::GetCapturedStderr();
    EXPECT_NE(code, hipSuccess);
    return report();
  }
  std::string report() const { return emu::hip::Runtime::get().device(GetParam()).last_report(); }
  std::string chip() const { return kChips[static_cast<size_t>(GetParam())]; }
  template <class T>
  T* block_of(size_t count) {
    void*& block = blocks_.emplace_back();
    EXPECT_EQ(hipMalloc(&block, count * sizeof(T)), hipSuccess);
    return static_cast<T*>(block);
  }
  const char* pinned(const char* text) {
    void*& block = blocks_.emplace_back();
    EXPECT_EQ(hipHostMalloc(&block, std::strlen(text) + 1, 0), hipSuccess);
    return std::strcpy(static_cast<char*>(block), text);
  }
  std::string said_;  // on standard error

 private:
  std::vector<hipModule_t> modules_;
  std::vector<void*> blocks_;
};

const char* const kKinds[] = {"-mprintf-kind=hostcall", "-mprintf-kind=buffered"};

TEST_P(HostCalls, PrintsEveryLanesText) {
  const char* who = pinned("lane");
  for (const char* kind : kKinds) {
    const auto hello = function(kPrinting, "hello", kind);
    auto lines = lines_of(printed_by([&] { return run(hello, 3, 100, who, 300); }));
    std::vector<std::string> expected;
    for (int i = 0; i < 300; ++i) {
      if (i % 100 % 3 != 0) continue;
      std::array<char, 200> text;
      std::snprintf(text.data(), text.size(),
                    "lane %d of 300: %.2f %c %llx and a text that takes more than one packet", i, i * 0.5,
                    'a' + i % 100, 1ull << 40 | unsigned(i % 100));
      expected.emplace_back(text.data());
    }
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(lines, expected) << kind;
  }
}

TEST_P(HostCalls, PrintsManyArgumentsAndFormatsOfTheProgram) {
  const char* format = pinned("%05d|%-8.3f|\n");
  for (const char* kind : kKinds) {
    const auto many = function(kPrinting, "many", kind);
    EXPECT_EQ(printed_by([&] { return run(many, 1, 1, 40, 2.5, format); }),
              "40 41 42 43 44 45 46 47 48 -9 in the middle 2.5 40 %\n00040|2.500   |\n")
        << kind;
  }
}

TEST_P(HostCalls, ALanesTextsKeepTheirOrder) {
  constexpr unsigned kGroups = 6, kBlock = 256, kLanes = kGroups * kBlock;
  int* returned = block_of<int>(kLanes);
  for (const char* kind : kKinds) {
    const auto in_order = function(kPrinting, "in_order", kind);
    const auto lines = lines_of(printed_by([&] { return run(in_order, kGroups, kBlock, returned); }));
    ASSERT_EQ(lines.size(), 2 * kLanes) << kind;
    std::vector<int> seen(kLanes);
    for (const std::string& line : lines) {
      const auto lane = static_cast<size_t>(std::stoi(line.substr(line.find(' '))));
      ASSERT_LT(lane, kLanes);
      EXPECT_EQ(line.substr(0, line.find(' ')), seen[lane]++ == 0 ? "first" : "second");
    }
    // The buffered way says 0 for done.
    for (unsigned i = 0; i < kLanes; ++i) {
      ASSERT_EQ(returned[i], kind == kKinds[1] ? 0 : i < 10 ? 8 : i < 100 ? 9 : i < 1000 ? 10 : 11);
    }
  }
}

// What does not fit is lost, and nothing else.
TEST_P(HostCalls, ABufferHoldsWholeTexts) {
  size_t size = 0;
  HIP_OK(hipDeviceGetLimit(&size, 1));
  EXPECT_EQ(size, size_t{1} << 20);
  HIP_OK(hipDeviceSetLimit(1, 200));
  const auto in_order = function(kPrinting, "in_order", kKinds[1]);
  const auto lines = lines_of(printed_by([&] { return run(in_order, 1, 64, block_of<int>(64)); }));
  EXPECT_EQ(lines.size(), 10u);  // of 20 bytes each
  HIP_OK(hipDeviceSetLimit(1, size));
  EXPECT_NE(hipDeviceSetLimit(7, 1), hipSuccess);
}

TEST_P(HostCalls, PrintsToStandardError) {
  const auto to_stderr = function(kCalls, "to_stderr");
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(to_stderr, 1, 2, 5), hipSuccess);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "no 5\nno 5\n");
}

TEST_P(HostCalls, AStopSaysWhere) {
  int* c = block_of<int>(256);
  const std::string text = fault([&] { return run(function(kCalls, "stop"), 2, 128, c, 128 + 100); });
  EXPECT_NE(text.find("trap in kernel stop"), text.npos) << text;
  EXPECT_NE(text.find("work-group   (1, 0, 0)"), text.npos) << text;
  EXPECT_NE(text.find(chip().starts_with("gfx9") ? "wave, lane   1, 36" : "wave, lane   3, 4"), text.npos)
      << text;
}

void sum_and_difference(uint64_t* out, const uint64_t* in) {
  out[0] = in[0] + in[1];
  out[1] = in[1] - in[0];
}

TEST_P(HostCalls, CallsFunctionsOfTheProgram) {
  auto* c = block_of<uint64_t>(2 * 192);
  HIP_OK(run(function(kCalls, "call_function"), 2, 96, reinterpret_cast<uint64_t>(&sum_and_difference), c));
  for (uint64_t i = 0; i < 192; ++i) {
    ASSERT_EQ(c[2 * i], i + 7);
    ASSERT_EQ(c[2 * i + 1], 7 - i);
  }
}

TEST_P(HostCalls, WhatCannotBeAnswered) {
  std::string text = fault([&] { return run(function(kCalls, "no_service"), 1, 1); });
  EXPECT_NE(text.find("asks the host for service 99"), text.npos) << text;
  HIP_OK(hipDeviceReset());
  text = fault([&] { return run(function(kCalls, "no_message"), 1, 1); });
  EXPECT_NE(text.find("without its beginning"), text.npos) << text;
  HIP_OK(hipDeviceReset());
  // The next run has a buffer that works.
  EXPECT_EQ(lines_of(printed_by([&] {
              return run(function(kPrinting, "in_order", kKinds[0]), 1, 64, block_of<int>(64));
            })).size(),
            128u);
}

TEST_P(HostCalls, AllocatesBlocks) {
  size_t free_before = 0, free_within = 0, free_after = 0, total = 0;
  int** c = block_of<int*>(128);
  int* sums = block_of<int>(128);
  const auto allocate = function(kCalls, "allocate"), use = function(kCalls, "use");
  HIP_OK(hipMemGetInfo(&free_before, &total));
  HIP_OK(run(allocate, 2, 64, c, 400, 100));
  HIP_OK(hipMemGetInfo(&free_within, &total));
  EXPECT_EQ(free_before - free_within, 128u * 400);
  HIP_OK(run(use, 2, 64, c, sums, 100, 1));
  for (int i = 0; i < 128; ++i) ASSERT_EQ(sums[i], 100 * i + 4950);
  HIP_OK(hipMemGetInfo(&free_after, &total));
  EXPECT_EQ(free_before, free_after);
  // Nothing, for no bytes.
  HIP_OK(run(allocate, 1, 64, c, 0, 0));
  for (int i = 0; i < 64; ++i) ASSERT_EQ(c[i], nullptr);
  HIP_OK(run(use, 1, 64, c, sums, 0, 1));
  // Nothing either when there is no memory, which is no fault.
  HIP_OK(run(allocate, 1, 1, c, 1 << 30, 0));
  EXPECT_EQ(c[0], nullptr);
}

TEST_P(HostCalls, BlocksThatWereLeftGoWithAReset) {
  const auto allocate = function(kCalls, "allocate");
  size_t before = 0, after = 0, total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  HIP_OK(run(allocate, 1, 64, block_of<int*>(64), 1000, 0));
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, 64u * 1000 + 64 * sizeof(int*));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
}

TEST_P(HostCalls, FaultsInBlocksOfKernels) {
  struct Case {
    int bytes, written, read;
    const char* what;
  };
  for (const Case& wrong : {Case{40, 10, 11, "right past the end of an allocation of 40 bytes"},
                            Case{40, 9, 10, "36 bytes inside an allocation of 40 bytes"}}) {
    int** c = block_of<int*>(64);
    int* sums = block_of<int>(64);
    HIP_OK(run(function(kCalls, "allocate"), 1, 64, c, wrong.bytes, wrong.written));
    const std::string text =
        fault([&] { return run(function(kCalls, "use"), 1, 64, c, sums, wrong.read, 0); });
    EXPECT_NE(text.find(wrong.what), text.npos) << text;
    HIP_OK(hipDeviceReset());
  }
  // After free: read, and freed again.
  for (const bool again : {false, true}) {
    int** c = block_of<int*>(64);
    int* sums = block_of<int>(64);
    HIP_OK(run(function(kCalls, "allocate"), 1, 64, c, 40, 10));
    HIP_OK(run(function(kCalls, "use"), 1, 64, c, sums, 10, 1));
    const std::string text =
        fault([&] { return run(function(kCalls, "use"), 1, 64, c, sums, again ? 0 : 1, again ? 1 : 0); });
    EXPECT_NE(text.find(again ? "free of no block in kernel use" : "use after free in kernel use"), text.npos)
        << text;
    EXPECT_NE(text.find("a freed allocation of 40 bytes"), text.npos) << text;
    EXPECT_NE(text.find("wave, lane   "), text.npos) << text;
    HIP_OK(hipDeviceReset());
  }
  // The program's own block.
  int** c = block_of<int*>(1);
  c[0] = reinterpret_cast<int*>(c);
  const auto device = emu::hip::Runtime::get().device(GetParam()).memory().base();
  ASSERT_GE(reinterpret_cast<uint64_t>(c), device);
  emu::hip::Runtime::get().device(GetParam()).memory().mark_initialized(reinterpret_cast<uint64_t>(c), 8);
  const std::string text =
      fault([&] { return run(function(kCalls, "use"), 1, 1, c, block_of<int>(1), 0, 1); });
  EXPECT_NE(text.find("free of no block"), text.npos) << text;
}

TEST_P(HostCalls, BlocksAreLookedAtForRaces) {
  int** c = block_of<int*>(128);
  HIP_OK(run(function(kCalls, "pass"), 1, 128, c, 1));
  const std::string text = fault([&] { return run(function(kCalls, "pass"), 1, 128, c, 0); });
  EXPECT_NE(text.find("data race in kernel pass"), text.npos) << text;
}

TEST_P(HostCalls, TheServiceAllocatesToo) {
  int** c = block_of<int*>(64);
  const auto from = function(kCalls, "from_service"), to = function(kCalls, "to_service");
  HIP_OK(run(from, 1, 64, c, 10000));
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(c[i][2499], i);
    EXPECT_EQ(reinterpret_cast<uint64_t>(c[i]) % 4096, 0u);
  }
  HIP_OK(run(to, 1, 64, c));
  // The device library finds the head of its slabs by their alignment.
  HIP_OK(run(from, 1, 2, c, 2 << 20));
  EXPECT_EQ(reinterpret_cast<uint64_t>(c[1]) % (2 << 20), 0u);
  HIP_OK(run(to, 1, 2, c));
  const std::string text = fault([&] { return run(to, 1, 2, c); });
  EXPECT_NE(text.find("free of no block in kernel to_service"), text.npos) << text;
  EXPECT_NE(text.find("wave, lane   0, 0"), text.npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Chips, HostCalls, testing::Range(0, 6),
                         [](const auto& info) { return kChips[static_cast<size_t>(info.param)]; });

}  // namespace
