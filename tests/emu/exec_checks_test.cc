// SPDX-License-Identifier: Apache-2.0
// Each kind of fault, planted in a kernel and found, with the place that the report must name.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"(
#define KERNEL extern "C" __global__ void
KERNEL copy(const int* a, int* c, int n) {
  int i = global_x();
  if (i < n) c[i] = a[i];
}
KERNEL lds_beyond(int* c, int at) {
  extern __shared__ int s[];
  s[thread_x() + at] = 1;
  barrier();
  c[thread_x()] = s[thread_x() + at];
}
KERNEL lds_unwritten(int* c, int n) {
  __shared__ int s[64];
  if (thread_x() < n) s[thread_x()] = 5;
  barrier();
  c[thread_x()] = s[thread_x()];
}
KERNEL lds_race(int* c, int with_barrier) {
  __shared__ int s[128];
  s[thread_x()] = -1;
  barrier();
  s[thread_x()] = thread_x();
  if (with_barrier) barrier();
  c[thread_x()] = s[thread_x() ^ 64];
}
KERNEL global_race(int* c, int spread) {
  c[block_x() * spread] = block_x();
}
KERNEL last_group(int* partial, int* count, int* c, int groups) {
  if (thread_x() != 0) return;
  partial[block_x()] = block_x() + 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  if (__hip_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) == groups - 1) {
    int sum = 0;
    for (int i = 0; i < groups; ++i) sum += partial[i];
    c[0] = sum;
  }
}
KERNEL divergent(int* c, int limit) {
  if (thread_x() < limit) { c[thread_x()] = 1; __builtin_amdgcn_s_barrier(); }
}
KERNEL register_unwritten(int* c) {
  int x;
  asm volatile("v_add_nc_u32 %0, v77, v77" : "=v"(x));
  c[thread_x()] = x;
}
KERNEL no_wait(const int* a, int* c) {
  int x;
  asm volatile("global_load_b32 %0, %1, off\n\tv_add_nc_u32 %0, 1, %0" : "=&v"(x) : "v"(a + thread_x()));
  c[thread_x()] = x;
}
KERNEL with_wait(const int* a, int* c) {
  int x;
  asm volatile("global_load_b32 %0, %1, off\n\ts_waitcnt vmcnt(0)\n\tv_add_nc_u32 %0, 1, %0" : "=&v"(x) : "v"(a + thread_x()));
  c[thread_x()] = x;
}
KERNEL not_implemented(int* c, int go) {
  if (go) asm volatile("s_ttracedata_imm 0\n\timage_sample v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D" ::: "v0", "v1", "v2", "v3");
  c[thread_x()] = 1;
}
KERNEL misaligned(int* c) {
  asm volatile("global_atomic_add_u32 %0, %1, off" : : "v"((char*)c + 2), "v"(1) : "memory");
}
KERNEL trap(int* c, int go) {
  if (go) __builtin_trap();
  c[thread_x()] = 1;
}
)";

class ExecChecks : public testing::Test {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    static const std::vector<std::byte> object = compile(kSource, "gfx1100");
    device = std::make_unique<Device>("gfx1100", object);
    device->options.threads = 1;
  }
  Fault fault(const std::function<void()>& launch) {
    try {
      launch();
    } catch (const Fault& found) {
      return found;
    }
    ADD_FAILURE() << "no fault was found";
    return Fault(Fault::Kind::Unsupported, "none");
  }
  std::unique_ptr<Device> device;
};

TEST_F(ExecChecks, ReadOutsideTheAllocation) {
  const int* a = device->upload(std::vector<int>(100, 1));
  int* c = device->allocate<int>(256);
  const Fault f = fault([&] { device->run("copy", {.grid = 2, .block = 64}, a, c, 101); });
  EXPECT_EQ(f.kind, Fault::Kind::OutOfBounds) << f.what();
  EXPECT_EQ(f.kernel, "copy");
  EXPECT_EQ(f.group[0], 1u);
  EXPECT_EQ(f.wave, 1);
  EXPECT_EQ(f.lane, 4);
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(a + 100));
  EXPECT_NE(f.instruction.find("global_load_b32"), std::string::npos) << f.instruction;
}

TEST_F(ExecChecks, WriteOutsideTheAllocation) {
  const int* a = device->upload(std::vector<int>(128, 1));
  int* c = device->allocate<int>(120);
  const Fault f = fault([&] { device->run("copy", {.grid = 2, .block = 64}, a, c, 128); });
  EXPECT_EQ(f.kind, Fault::Kind::OutOfBounds) << f.what();
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c + 120));
  EXPECT_NE(f.instruction.find("global_store_b32"), std::string::npos) << f.instruction;
}

TEST_F(ExecChecks, UseAfterFree) {
  int* a = device->upload(std::vector<int>(64, 1));
  int* c = device->allocate<int>(64);
  device->memory().release(a);
  const Fault f =
      fault([&] { device->run("copy", {.grid = 1, .block = 64}, static_cast<const int*>(a), c, 64); });
  EXPECT_EQ(f.kind, Fault::Kind::UseAfterFree) << f.what();
}

TEST_F(ExecChecks, MemoryThatWasNeverWritten) {
  const int* a = device->allocate<int>(64);
  int* c = device->allocate<int>(64);
  const Fault f = fault([&] { device->run("copy", {.grid = 1, .block = 64}, a, c, 64); });
  EXPECT_EQ(f.kind, Fault::Kind::Uninitialized) << f.what();
  EXPECT_EQ(f.lane, 0);
  device->options.check = Check::None;
  EXPECT_NO_THROW(device->run("copy", {.grid = 1, .block = 64}, a, c, 64));
}

TEST_F(ExecChecks, RegisterThatWasNeverWritten) {
  int* c = device->allocate<int>(64);
  const Fault f = fault([&] { device->run("register_unwritten", {.grid = 1, .block = 32}, c); });
  EXPECT_EQ(f.kind, Fault::Kind::Uninitialized) << f.what();
}

TEST_F(ExecChecks, LdsBeyondItsEnd) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("lds_beyond", {.grid = 1, .block = 64, .dynamic_lds = 256}, c, 0));
  const Fault f =
      fault([&] { device->run("lds_beyond", {.grid = 1, .block = 64, .dynamic_lds = 256}, c, 1); });
  EXPECT_EQ(f.kind, Fault::Kind::LdsOutOfRange) << f.what();
  EXPECT_EQ(f.wave, 1);
  EXPECT_EQ(f.lane, 31);
  EXPECT_EQ(f.address, 256u);
}

TEST_F(ExecChecks, LdsThatWasNeverWritten) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("lds_unwritten", {.grid = 1, .block = 64}, c, 64));
  const Fault f = fault([&] { device->run("lds_unwritten", {.grid = 1, .block = 64}, c, 60); });
  EXPECT_EQ(f.kind, Fault::Kind::Uninitialized) << f.what();
  EXPECT_EQ(f.wave, 1);
  EXPECT_EQ(f.lane, 28);
}

TEST_F(ExecChecks, RaceInLds) {
  int* c = device->allocate<int>(128);
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("lds_race", {.grid = 1, .block = 128}, c, 1));
  for (const uint64_t seed : {0, 3}) {
    device->options.seed = seed;
    const Fault f = fault([&] { device->run("lds_race", {.grid = 1, .block = 128}, c, 0); });
    EXPECT_EQ(f.kind, Fault::Kind::DataRace) << f.what();
  }
}

TEST_F(ExecChecks, RaceBetweenGroups) {
  int* c = device->upload(std::vector<int>(64, 0));
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("global_race", {.grid = 8, .block = 1}, c, 1));
  const Fault f = fault([&] { device->run("global_race", {.grid = 8, .block = 1}, c, 0); });
  EXPECT_EQ(f.kind, Fault::Kind::DataRace) << f.what();
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c));
}

TEST_F(ExecChecks, HandOverByAtomicIsNoRace) {
  int *partial = device->allocate<int>(16), *count = device->upload(std::vector<int>(1, 0)),
      *c = device->allocate<int>(1);
  device->options.check = Check::Race;
  device->options.threads = 2;
  EXPECT_NO_THROW(device->run("last_group", {.grid = 16, .block = 64}, partial, count, c, 16));
  EXPECT_EQ(c[0], 16 * 17 / 2);
}

TEST_F(ExecChecks, DivergentBarrier) {
  int* c = device->allocate<int>(64);
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("divergent", {.grid = 1, .block = 64}, c, 64));
  const Fault lanes = fault([&] { device->run("divergent", {.grid = 1, .block = 64}, c, 40); });
  EXPECT_EQ(lanes.kind, Fault::Kind::DivergentBarrier) << lanes.what();
  const Fault waves = fault([&] { device->run("divergent", {.grid = 1, .block = 64}, c, 32); });
  EXPECT_EQ(waves.kind, Fault::Kind::DivergentBarrier) << waves.what();
}

TEST_F(ExecChecks, MissingWait) {
  const int* a = device->upload(std::vector<int>(32, 4));
  int* c = device->allocate<int>(32);
  EXPECT_NO_THROW(device->run("no_wait", {.grid = 1, .block = 32}, a, c));
  device->options.check = Check::Strict;
  EXPECT_NO_THROW(device->run("with_wait", {.grid = 1, .block = 32}, a, c));
  const Fault f = fault([&] { device->run("no_wait", {.grid = 1, .block = 32}, a, c); });
  EXPECT_EQ(f.kind, Fault::Kind::MissingWait) << f.what();
  EXPECT_NE(f.instruction.find("v_add_nc_u32"), std::string::npos) << f.instruction;
}

TEST_F(ExecChecks, UnknownInstructionWhenReached) {
  int* c = device->allocate<int>(32);
  EXPECT_NO_THROW(device->run("not_implemented", {.grid = 1, .block = 32}, c, 0));
  const Fault f = fault([&] { device->run("not_implemented", {.grid = 1, .block = 32}, c, 1); });
  EXPECT_EQ(f.kind, Fault::Kind::UnknownInstruction) << f.what();
  EXPECT_NE(f.instruction.find("image_sample"), std::string::npos) << f.instruction;
  EXPECT_NE(f.code_offset, 0u);
}

TEST_F(ExecChecks, MisalignedAtomic) {
  int* c = device->upload(std::vector<int>(32, 0));
  const Fault f = fault([&] { device->run("misaligned", {.grid = 1, .block = 32}, c); });
  EXPECT_EQ(f.kind, Fault::Kind::Misaligned) << f.what();
}

TEST_F(ExecChecks, Trap) {
  int* c = device->allocate<int>(32);
  const Fault f = fault([&] { device->run("trap", {.grid = 1, .block = 32}, c, 1); });
  EXPECT_EQ(f.kind, Fault::Kind::Trap) << f.what();
}

TEST_F(ExecChecks, Counters) {
  const int* a = device->upload(std::vector<int>(64, 1));
  int* c = device->allocate<int>(64);
  device->run("copy", {.grid = 2, .block = 32}, a, c, 64);
  EXPECT_EQ(device->counters.waves, 2u);
  EXPECT_EQ(device->counters.global_read_bytes, 256u);
  EXPECT_EQ(device->counters.global_write_bytes, 256u);
  EXPECT_EQ(device->counters.vmem, 4u);
  EXPECT_EQ(device->counters.cache_lines, 4u);
  EXPECT_GT(device->counters.valu, 4u);
  EXPECT_GT(device->counters.smem, 2u);
}

}  // namespace
}  // namespace emu::test
