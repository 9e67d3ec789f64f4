// SPDX-License-Identifier: Apache-2.0
// The shared library as others load it: opened under AMD's names, used, closed and opened again; counters at
// the end.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "emu/support/compile.h"

using namespace emu::test;

namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void triple(int* x) { x[global_x()] *= 3; }
)";
// It takes a while to decode.
constexpr const char* kLongSource = R"(
extern "C" __global__ void triple(int* x) {
  asm volatile(".rept 100000\n s_nop 0\n .endr");
  x[global_x()] *= 3;
}
)";

// It ends when another value is written, which nobody does.
constexpr const char* kEndlessSource = R"(
extern "C" __global__ void triple(volatile int* x) { while (x[global_x()] == 7) {} }
)";

class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen((std::string(BW_BINARY_DIR) + "/lib-hip/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    void* function = dlsym(handle_, name);
    if (function == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  }

 private:
  void* handle_;
};

// Submits the kernel with 128 sevens, and returns where they are.
int* launch_triple(const Library& hip, const std::vector<std::byte>& code, void* stream = nullptr) {
  void *module = nullptr, *function = nullptr;
  int* block = nullptr;
  const std::vector<int> values(128, 7);
  EXPECT_EQ(hip.call("hipModuleLoadData", &module, static_cast<const void*>(code.data())), 0);
  EXPECT_EQ(hip.call("hipModuleGetFunction", &function, module, "triple"), 0);
  EXPECT_EQ(hip.call("hipMalloc", &block, size_t{512}), 0);
  EXPECT_EQ(hip.call("hipMemcpy", static_cast<void*>(block), static_cast<const void*>(values.data()),
                     size_t{512}, 1),
            0);
  void* params[] = {&block};
  EXPECT_EQ(hip.call("hipModuleLaunchKernel", function, 2u, 1u, 1u, 64u, 1u, 1u, 0u, stream, &params[0],
                     static_cast<void**>(nullptr)),
            0);
  return block;
}

int run_triple(const Library& hip) {
  const int* block = launch_triple(hip, compile(kSource, "gfx1030"));
  std::vector<int> values(128);
  EXPECT_EQ(hip.call("hipMemcpy", static_cast<void*>(values.data()), static_cast<const void*>(block),
                     size_t{512}, 2),
            0);
  // Nothing is freed: the end of the process ends everything.
  return values[127];
}

// What a program does that loads the library under this name. Returns when it has ended, with its exit code.
int in_a_process(const std::string& name, const std::string& major, const std::string& counters,
                 const std::string& launched) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("BEESWAX_EMU_DEVICES", "gfx1030", 1);
    setenv("BEESWAX_EMU_COUNTERS", counters.c_str(), 1);
    setenv("BEESWAX_EMU_LAUNCHED", launched.c_str(), 1);
    const Library hip(name);
    int version = 0;
    EXPECT_EQ(hip.call("hipRuntimeGetVersion", &version), 0);
    EXPECT_EQ(std::to_string(version / 10000000), major) << "whose conventions: by the name it was opened by";
    void* found = nullptr;
    EXPECT_EQ(
        hip.call("hipGetProcAddress", "hipMalloc", &found, 600, uint64_t{0}, static_cast<int*>(nullptr)), 0);
    EXPECT_NE(found, nullptr);
    // What kind of memory an address is: the numbers changed with ROCm 6, which also knows "unregistered".
    struct {
      int type = -1, device = -1;
      void *device_pointer = nullptr, *host_pointer = nullptr;
      int managed = -1;
      unsigned flags = 0;
    } what;
    void *pinned = nullptr, *device = nullptr;
    const bool old = major == "5";
    EXPECT_EQ(hip.call("hipHostMalloc", &pinned, size_t{16}, 0u), 0);
    EXPECT_EQ(hip.call("hipMalloc", &device, size_t{16}), 0);
    EXPECT_EQ(hip.call("hipPointerGetAttributes", &what, static_cast<const void*>(device)), 0);
    EXPECT_EQ(what.type, old ? 1 : 2);
    EXPECT_EQ(hip.call("hipPointerGetAttributes", &what, static_cast<const void*>(pinned)), 0);
    EXPECT_EQ(what.type, old ? 0 : 1);
    EXPECT_EQ(hip.call("hipPointerGetAttributes", &what, static_cast<const void*>(&what)), old ? 1 : 0);
    if (!old) {
      EXPECT_EQ(what.type, 0);
    }
    EXPECT_EQ(run_triple(hip), 21);
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(Load, UnderEachName) {
  EMU_NEEDS_CLANG();
  for (const std::string major : {"5", "6", "7"}) {
    const TemporaryFile counters(".json", {}), launched(".txt", {});
    ASSERT_EQ(in_a_process("libamdhip64.so." + major, major, counters.path(), launched.path()), 0);
    std::ifstream kernels(launched.path());
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>(kernels), {}}), "gfx1030 triple\n");
    std::ifstream file(counters.path());
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    // Two groups of 64 work-items, each of two waves of 32; a load and a store in each.
    for (const char* part :
         {"\"chip\": \"gfx1030\", \"kernel\": \"triple\"", "\"launches\": 1", "\"groups\": 2", "\"waves\": 4",
          "\"global_read_bytes\": 512", "\"global_write_bytes\": 512"})
      EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
    EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
  }
}

// Sanitizers take no exit() in children of a process with threads: the search for leaks hangs now and then.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(Load, AForkedChildIsRefusedAndEnds) {
  std::fflush(nullptr);
  const pid_t parent = fork();
  if (parent == 0) {
    setenv("BEESWAX_EMU_DEVICES", "gfx1030", 1);
    const Library hip("libamdhip64.so");
    void *block = nullptr, *stream = nullptr;
    EXPECT_EQ(hip.call("hipStreamCreate", &stream), 0);
    EXPECT_EQ(hip.call("hipMalloc", &block, size_t{16}), 0);
    EXPECT_EQ(hip.call("hipMemset", block, 1, size_t{16}), 0);
    EXPECT_EQ(hip.call("hipMemsetAsync", block, 1, size_t{16}, stream), 0);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // rather than to hang
      EXPECT_EQ(hip.call("hipMemset", block, 1, size_t{16}), 3) << "not initialized";
      EXPECT_EQ(hip.call("hipDeviceSynchronize"), 3);
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(hip.call("hipDeviceSynchronize"), 0) << "the parent goes on";
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

// Runs a program, and returns its status as waitpid gives it.
template <class Program>
int status_of(Program program) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // rather than to hang
    setenv("BEESWAX_EMU_DEVICES", "gfx1030", 1);
    program();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Load, AProcessEndsThoughAKernelDoesNot) {
  EMU_NEEDS_CLANG();
  const auto code = compile(kEndlessSource, "gfx1030");
  const auto alone = [&] {
    const Library hip("libamdhip64.so");
    launch_triple(hip, code);
    usleep(20000);
  };
  EXPECT_EQ(status_of(alone), 0);
  const auto while_a_thread_waits = [&] {
    const Library hip("libamdhip64.so");
    launch_triple(hip, code);
    std::thread([&] { hip.call("hipDeviceSynchronize"); }).detach();
    usleep(20000);
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EQ(status_of(while_a_thread_waits), 0);
  const auto in_the_threads_own_stream = [&] {
    const Library hip("libamdhip64.so");
    launch_triple(hip, code, reinterpret_cast<void*>(2));
    usleep(20000);
  };
  EXPECT_EQ(status_of(in_the_threads_own_stream), 0);
}

TEST(Load, AProcessEndsThoughAHostFunctionDoesNot) {
  const auto program = [] {
    const Library hip("libamdhip64.so");
    void *stream = nullptr, *block = nullptr, *null = nullptr;
    void (*const endless)(void*) = [](void*) {
      for (;;) pause();
    };
    EXPECT_EQ(hip.call("hipMalloc", &block, size_t{16}), 0);
    EXPECT_EQ(hip.call("hipStreamCreate", &stream), 0);
    EXPECT_EQ(hip.call("hipLaunchHostFunc", stream, endless, null), 0);
    EXPECT_EQ(hip.call("hipMemsetAsync", block, 1, size_t{16}, null), 0) << "the null stream waits for it";
    usleep(20000);
  };
  EXPECT_EQ(status_of(program), 0);
}

TEST(Load, AProcessMayEndDuringItsFirstKernel) {
  EMU_NEEDS_CLANG();
  const auto code = compile(kLongSource, "gfx1030");
  for (int i = 0; i < 20; ++i) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      setenv("BEESWAX_EMU_DEVICES", "gfx1030", 1);
      const Library hip("libamdhip64.so");
      launch_triple(hip, code);
      usleep(static_cast<useconds_t>(2000 * i));
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "it ended by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
}

}  // namespace
