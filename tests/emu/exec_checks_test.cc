// SPDX-License-Identifier: Apache-2.0
// Each kind of fault, planted in a kernel and found, with the place that the report must name: on chips with
// waves of 64 and of 32 lanes, and of every generation's assembly.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"hip(
#if defined(__GFX9__)
#define LOAD "global_load_dword"
#define ATOMIC_ADD "global_atomic_add"
#define ADD "v_add_u32"
#else
#define LOAD "global_load_b32"
#define ATOMIC_ADD "global_atomic_add_u32"
#define ADD "v_add_nc_u32"
#endif
#if defined(__GFX10__)
#undef LOAD
#undef ATOMIC_ADD
#define LOAD "global_load_dword"
#define ATOMIC_ADD "global_atomic_add"
#endif
#if defined(__GFX12__)
#define WAIT "s_wait_loadcnt 0x0"
#else
#define WAIT "s_waitcnt vmcnt(0)"
#endif
// Masks of lanes: a register or two.
#if defined(__GFX9__)
#define BITS "b64"
#define EXEC "exec"
#define AND_NOT "s_andn2_b64"
#define MASK0 "s[40:41]"
#define MASK1 "s[42:43]"
#define MASK2 "s[44:45]"
#else
#define BITS "b32"
#define EXEC "exec_lo"
#if defined(__GFX10__)
#define AND_NOT "s_andn2_b32"
#else
#define AND_NOT "s_and_not1_b32"
#endif
#define MASK0 "s40"
#define MASK1 "s41"
#define MASK2 "s42"
#endif
#define KERNEL extern "C" __global__ void
KERNEL copy(const int* a, int* c, int n) {
  int i = global_x();
  if (i < n) c[i] = a[i];
}
KERNEL hole(int* c, int at) {
  int i = thread_x();
  c[i == at ? 0 : i] = 1;
}
KERNEL copy_uniform(const int* a, int* c) { c[thread_x()] = a[block_x()] + 1; }
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
  asm volatile(ADD " %0, v77, v77" : "=v"(x));
  c[thread_x()] = x;
}
KERNEL no_wait(const int* a, int* c) {
  int x;
  asm volatile(LOAD " %0, %1, off\n\t" ADD " %0, 1, %0" : "=&v"(x) : "v"(a + thread_x()));
  c[thread_x()] = x;
}
KERNEL with_wait(const int* a, int* c) {
  int x;
  asm volatile(LOAD " %0, %1, off\n\t" WAIT "\n\t" ADD " %0, 1, %0" : "=&v"(x) : "v"(a + thread_x()));
  c[thread_x()] = x;
}
KERNEL not_implemented(int* c, int go) {
#if defined(__GFX9__)
  if (go) asm volatile("ds_gws_sema_v gds");
#elif defined(__GFX12__)
  if (go) asm volatile("image_sample v[0:3], [v0, v1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D" ::: "v0", "v1", "v2", "v3");
#else
  if (go) asm volatile("image_sample v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D" ::: "v0", "v1", "v2", "v3");
#endif
  c[thread_x()] = 1;
}
KERNEL misaligned(int* c) {
  asm volatile(ATOMIC_ADD " %0, %1, off" : : "v"((char*)c + 2), "v"(1) : "memory");
}
KERNEL misaligned_lds(int* c) {
  extern __shared__ int s[];
  s[thread_x()] = s[thread_x() + 32] = 0;
  barrier();
  asm volatile("ds_add_u32 %0, %1" : : "v"(thread_x() * 4 + 2), "v"(1) : "memory");
  c[thread_x()] = s[thread_x()];
}
// Waves of one group write the same places, with no barrier between them.
KERNEL race_in_group(int* c, int with_barrier) {
  if (thread_x() < 64) c[thread_x()] = 1;
  if (with_barrier) barrier();
  if (thread_x() >= 64) c[thread_x() - 64] = 2;
}
KERNEL read_race(const int* from, int* to, int spread) {
  to[global_x()] = from[global_x() + spread] + 1;
}
// Who comes last wins: groups in c[0], waves of a group in c[1].
KERNEL last_wins(int* c) {
  c[0] = block_x();
  c[1] = thread_x() / 64;
}
KERNEL any_order(int* c) {
  extern __shared__ int s[];
  s[thread_x()] = thread_x() + 1;
  barrier();
  int sum = 0;
  for (int i = 0; i < block_size_x(); ++i) sum += s[i];
  __hip_atomic_fetch_add(c, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// As the exits of a loop are compiled: a lane's bit is merged into a mask of which the bits of the lanes that are
// off were never written.
KERNEL mask_of_inactive_lanes(int* c, int limit) {
  int x = thread_x(), result = 0;
  if (x < limit)
    asm volatile(
        AND_NOT " " MASK0 ", " MASK0 ", " EXEC "\n\t"
        "v_cmp_lt_u32 " MASK1 ", 3, %1\n\t"
        "s_and_" BITS " " MASK1 ", " MASK1 ", " EXEC "\n\t"
        "s_or_" BITS " " MASK0 ", " MASK0 ", " MASK1 "\n\t"
        "s_and_saveexec_" BITS " " MASK2 ", " MASK0 "\n\t"
        "v_mov_b32 %0, 1\n\t"
        "s_mov_" BITS " " EXEC ", " MASK2
        : "+v"(result) : "v"(x) : "s40", "s41", "s42", "s43", "s44", "s45", "scc");
  c[x] = result;
}
// And a mask that lanes which are on never wrote.
KERNEL mask_unwritten(int* c) {
  int result = 0;
  asm volatile("s_and_saveexec_" BITS " " MASK2 ", " MASK0 "\n\tv_mov_b32 %0, 1\n\ts_mov_" BITS " " EXEC ", " MASK2
               : "+v"(result) : : "s40", "s41", "s44", "s45", "scc");
  c[thread_x()] = result;
}
// Keys as in a histogram: every lane leaves the loop at its own time, some by the other exit.
KERNEL two_exits(const int* keys, int* c, int n) {
  int found = -1;
  for (int i = 0; i < n; ++i) {
    if (keys[i] == thread_x()) { found = i; break; }
    if (keys[i] > 2 * thread_x() + 40) { found = -2; break; }
  }
  c[thread_x()] = found;
}
KERNEL stack_beyond(int* c, int at) {
  volatile int mine[8];
  for (int i = 0; i < 8; ++i) mine[i] = i;
  c[thread_x()] = mine[at];
}
// The function saves v40, which nobody wrote.
static __device__ __attribute__((noinline)) int with_saved_register(int x) {
  asm volatile("v_mov_b32 v40, %0\n\tv_or_b32 %0, 1, v40" : "+v"(x) : : "v40");
  return x;
}
KERNEL saves(int* c) { c[thread_x()] = with_saved_register(thread_x()); }
// Of v[50:51] only one word was written.
#define SHIFT(name, written, shift, read)                                                         \
  KERNEL name(int* c) {                                                                           \
    int x;                                                                                        \
    asm volatile("v_mov_b32 " written ", %1\n\t" shift "\n\tv_mov_b32 %0, " read                  \
                 : "=v"(x) : "v"(thread_x()) : "v50", "v51", "v52", "v53", "s40");                 \
    c[thread_x()] = x;                                                                            \
  }
SHIFT(shift_down_32_low, "v51", "v_lshrrev_b64 v[52:53], 32, v[50:51]", "v52")
SHIFT(shift_down_32_high, "v50", "v_lshrrev_b64 v[52:53], 32, v[50:51]", "v53")
SHIFT(shift_up_40_high, "v50", "s_mov_b32 s40, 40\n\tv_lshlrev_b64 v[52:53], s40, v[50:51]", "v53")
SHIFT(shift_down_8_high, "v51", "v_lshrrev_b64 v[52:53], 8, v[50:51]", "v53")
SHIFT(shift_down_8_low, "v51", "v_lshrrev_b64 v[52:53], 8, v[50:51]", "v52")
SHIFT(shift_up_8_high, "v50", "v_lshlrev_b64 v[52:53], 8, v[50:51]", "v53")
SHIFT(shift_sign_40_high, "v50", "v_ashrrev_i64 v[52:53], 40, v[50:51]", "v53")
KERNEL trap(int* c, int go) {
  if (go) __builtin_trap();
  c[thread_x()] = 1;
}
KERNEL debug_trap(int* c) {
  __builtin_debugtrap();
  c[thread_x()] = 1;
}
)hip";

class ExecChecks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
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
  // The place in a group of blocks of any size, as the report has it.
  int wave_of(int item) const { return item / lanes(); }
  int lane_of(int item) const { return item % lanes(); }
  int lanes() const { return std::string(GetParam()).starts_with("gfx9") ? 64 : 32; }
  // Where the fault was: item is the work-item in its group, -1 where one wave as a whole did it.
  void expect_at(const Fault& f, Fault::Kind kind, const std::string& kernel, uint32_t group, int item,
                 const std::string& instruction) {
    EXPECT_EQ(f.kind, kind) << f.what();
    EXPECT_EQ(f.kernel, kernel);
    EXPECT_EQ(f.group[0], group) << f.what();
    if (item >= 0) {
      EXPECT_EQ(f.wave, wave_of(item)) << f.what();
      EXPECT_EQ(f.lane, lane_of(item)) << f.what();
    }
    EXPECT_GE(f.wave, 0);
    EXPECT_NE(f.instruction.find(instruction), std::string::npos) << f.instruction;
  }
  std::unique_ptr<Device> device;
};

TEST_P(ExecChecks, ReadOutsideTheAllocation) {
  const int* a = device->upload(std::vector<int>(200, 1));
  int* c = device->allocate<int>(256);
  const Fault f = fault([&] { device->run("copy", {.grid = 2, .block = 128}, a, c, 201); });
  expect_at(f, Fault::Kind::OutOfBounds, "copy", 1, 200 - 128, "global_load_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(a + 200));
  EXPECT_NE(f.code_offset, 0u);
}

TEST_P(ExecChecks, WriteOutsideTheAllocation) {
  const int* a = device->upload(std::vector<int>(256, 1));
  int* c = device->allocate<int>(240);
  const Fault f = fault([&] { device->run("copy", {.grid = 2, .block = 128}, a, c, 256); });
  expect_at(f, Fault::Kind::OutOfBounds, "copy", 1, 240 - 128, "global_store_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c + 240));
}

// Memory of the host, and none.
TEST_P(ExecChecks, AddressesOfNoDevice) {
  int* c = device->allocate<int>(64);
  const std::vector<int> mine(64, 1);
  for (const int* a : {mine.data(), static_cast<const int*>(nullptr)}) {
    const Fault f = fault([&] { device->run("copy", {.grid = 1, .block = 64}, a, c, 64); });
    expect_at(f, Fault::Kind::OutOfBounds, "copy", 0, 0, "global_load_");
    EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(a));
  }
}

TEST_P(ExecChecks, UseAfterFree) {
  int* a = device->upload(std::vector<int>(64, 1));
  int* c = device->allocate<int>(64);
  device->memory().release(a);
  const Fault read =
      fault([&] { device->run("copy", {.grid = 1, .block = 64}, static_cast<const int*>(a), c, 64); });
  expect_at(read, Fault::Kind::UseAfterFree, "copy", 0, 0, "global_load_");
  EXPECT_EQ(read.address, reinterpret_cast<uint64_t>(a));
  const int* b = device->upload(std::vector<int>(64, 1));
  device->memory().release(c);
  const Fault write = fault([&] { device->run("copy", {.grid = 1, .block = 64}, b, c, 64); });
  expect_at(write, Fault::Kind::UseAfterFree, "copy", 0, 0, "global_store_");
}

TEST_P(ExecChecks, MemoryThatWasNeverWritten) {
  int* a = device->allocate<int>(128);
  device->memory().mark_initialized(reinterpret_cast<uint64_t>(a), 100 * sizeof(int));
  int* c = device->allocate<int>(128);
  const auto launch = [&](int n) {
    device->run("copy", {.grid = 1, .block = 128}, static_cast<const int*>(a), c, n);
  };
  EXPECT_NO_THROW(launch(100));
  const Fault f = fault([&] { launch(101); });
  expect_at(f, Fault::Kind::Uninitialized, "copy", 0, 100, "global_load_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(a + 100));
  device->options.check = Check::None;
  EXPECT_NO_THROW(launch(128));
}

// Stores that cover a stretch by their number alone: two lanes store to one place, none to another.
TEST_P(ExecChecks, HolesBetweenStores) {
  for (const int at : {1, 5, 30}) {
    int* a = device->allocate<int>(32);
    int* c = device->allocate<int>(32);
    device->run("hole", {.grid = 1, .block = 32}, a, at);
    const Fault f =
        fault([&] { device->run("copy", {.grid = 1, .block = 32}, static_cast<const int*>(a), c, 32); });
    expect_at(f, Fault::Kind::Uninitialized, "copy", 0, at, "global_load_");
  }
}

// What all lanes need alike comes by a scalar load.
TEST_P(ExecChecks, ScalarReadOfWhatWasNeverWritten) {
  int* a = device->allocate<int>(2);
  device->memory().mark_initialized(reinterpret_cast<uint64_t>(a), sizeof(int));
  int* c = device->allocate<int>(64);
  const auto launch = [&](uint32_t groups) {
    device->run("copy_uniform", {.grid = groups, .block = 64}, static_cast<const int*>(a), c);
  };
  EXPECT_NO_THROW(launch(1));
  const Fault f = fault([&] { launch(2); });
  expect_at(f, Fault::Kind::Uninitialized, "copy_uniform", 1, -1, "");
}

TEST_P(ExecChecks, RegisterThatWasNeverWritten) {
  int* c = device->allocate<int>(64);
  const Fault f = fault([&] { device->run("register_unwritten", {.grid = 1, .block = 32}, c); });
  expect_at(f, Fault::Kind::Uninitialized, "register_unwritten", 0, 0, "global_store_");
}

TEST_P(ExecChecks, MasksOfInactiveLanesMayBeUnwritten) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("mask_of_inactive_lanes", {.grid = 1, .block = 64}, c, 20));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(c[i], i > 3 && i < 20) << i;
  const Fault f = fault([&] { device->run("mask_unwritten", {.grid = 1, .block = 64}, c); });
  expect_at(f, Fault::Kind::Uninitialized, "mask_unwritten", 0, -1, "s_and_saveexec_");
}

TEST_P(ExecChecks, LoopsWithTwoExits) {
  std::vector<int> keys(100);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i * 37 % 101);
  const int* device_keys = device->upload(keys);
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("two_exits", {.grid = 1, .block = 64}, device_keys, c, 100));
  for (int lane = 0; lane < 64; ++lane) {
    int expected = -1;
    for (int i = 0; i < 100 && expected == -1; ++i)
      expected = keys[size_t(i)] == lane ? i : keys[size_t(i)] > 2 * lane + 40 ? -2 : -1;
    EXPECT_EQ(c[lane], expected) << lane;
  }
}

TEST_P(ExecChecks, LdsBeyondItsEnd) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("lds_beyond", {.grid = 1, .block = 64, .dynamic_lds = 256}, c, 0));
  const Fault f =
      fault([&] { device->run("lds_beyond", {.grid = 1, .block = 64, .dynamic_lds = 256}, c, 1); });
  expect_at(f, Fault::Kind::LdsOutOfRange, "lds_beyond", 0, 63, "ds_");
  EXPECT_EQ(f.address, 256u);
}

TEST_P(ExecChecks, LdsThatWasNeverWritten) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("lds_unwritten", {.grid = 1, .block = 64}, c, 64));
  const Fault f = fault([&] { device->run("lds_unwritten", {.grid = 1, .block = 64}, c, 60); });
  expect_at(f, Fault::Kind::Uninitialized, "lds_unwritten", 0, 60, "ds_");
  EXPECT_EQ(f.address, 240u);
}

TEST_P(ExecChecks, PrivateMemoryBeyondItsEnd) {
  int* c = device->allocate<int>(64);
  EXPECT_NO_THROW(device->run("stack_beyond", {.grid = 1, .block = 64}, c, 7));
  EXPECT_EQ(c[63], 7);
  const Fault f = fault([&] { device->run("stack_beyond", {.grid = 1, .block = 64}, c, 100000); });
  expect_at(f, Fault::Kind::OutOfBounds, "stack_beyond", 0, 0, "load");
}

TEST_P(ExecChecks, RaceInLds) {
  int* c = device->allocate<int>(128);
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("lds_race", {.grid = 1, .block = 128}, c, 1));
  // In order, the first wave reads what a wave with the other half writes afterwards.
  const Fault f = fault([&] { device->run("lds_race", {.grid = 1, .block = 128}, c, 0); });
  expect_at(f, Fault::Kind::DataRace, "lds_race", 0, 64, "ds_");
  EXPECT_EQ(f.address, 256u);
  for (const uint64_t seed : {1u, 2u, 3u}) {
    device->options.seed = seed;
    const Fault other = fault([&] { device->run("lds_race", {.grid = 1, .block = 128}, c, 0); });
    EXPECT_EQ(other.kind, Fault::Kind::DataRace) << other.what();
  }
}

TEST_P(ExecChecks, RaceBetweenGroups) {
  int* c = device->upload(std::vector<int>(64, 0));
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("global_race", {.grid = 8, .block = 1}, c, 1));
  const Fault f = fault([&] { device->run("global_race", {.grid = 8, .block = 1}, c, 0); });
  expect_at(f, Fault::Kind::DataRace, "global_race", 1, 0, "global_store_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c));
}

TEST_P(ExecChecks, RaceOfAReadWithAWrite) {
  int* c = device->upload(std::vector<int>(256, 0));
  device->options.check = Check::Race;
  const auto launch = [&](int spread) {
    device->run("read_race", {.grid = 2, .block = 64}, static_cast<const int*>(c), c, spread);
  };
  EXPECT_NO_THROW(launch(128));
  // The first wave's last lane read what the next wave's first one writes: of the same group, or of another.
  const Fault f = fault([&] { launch(1); });
  expect_at(f, Fault::Kind::DataRace, "read_race", lanes() == 64, lanes() == 64 ? 0 : 32, "global_store_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c + lanes()));
}

TEST_P(ExecChecks, RaceOfWavesInGlobalMemory) {
  int* c = device->upload(std::vector<int>(64, 0));
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("race_in_group", {.grid = 1, .block = 128}, c, 1));
  const Fault f = fault([&] { device->run("race_in_group", {.grid = 1, .block = 128}, c, 0); });
  expect_at(f, Fault::Kind::DataRace, "race_in_group", 0, 64, "global_store_");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c));
}

// A program whose result depends on the order shows it under another seed, and the same under the same.
TEST_P(ExecChecks, SeedsPermuteGroupsAndWaves) {
  int* c = device->upload(std::vector<int>(2, 0));
  std::set<int> groups, waves;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    device->options.seed = seed;
    device->run("last_wins", {.grid = 16, .block = 512}, c);
    const int group = c[0], wave = c[1];
    groups.insert(group);
    waves.insert(wave);
    if (seed == 0) {
      EXPECT_EQ(group, 15);
      EXPECT_EQ(wave, 7);
    }
    device->run("last_wins", {.grid = 16, .block = 512}, c);
    EXPECT_EQ(c[0], group) << "the same seed, seed " << seed;
    EXPECT_EQ(c[1], wave);
    c[0] = 0;
    device->run("any_order", {.grid = 4, .block = 256, .dynamic_lds = 1024}, c);
    EXPECT_EQ(c[0], 4 * 256 * (256 * 257 / 2)) << "a program that is right is so under seed " << seed;
  }
  EXPECT_GT(groups.size(), 3u);
  EXPECT_GT(waves.size(), 2u);
}

TEST_P(ExecChecks, HandOverByAtomicIsNoRace) {
  int *partial = device->allocate<int>(16), *count = device->upload(std::vector<int>(1, 0)),
      *c = device->allocate<int>(1);
  device->options.check = Check::Race;
  device->options.threads = 2;
  EXPECT_NO_THROW(device->run("last_group", {.grid = 16, .block = 64}, partial, count, c, 16));
  EXPECT_EQ(c[0], 16 * 17 / 2);
}

TEST_P(ExecChecks, DivergentBarrier) {
  int* c = device->allocate<int>(128);
  device->options.check = Check::Race;
  EXPECT_NO_THROW(device->run("divergent", {.grid = 1, .block = 64}, c, 64));
  const Fault some = fault([&] { device->run("divergent", {.grid = 1, .block = 64}, c, 40); });
  expect_at(some, Fault::Kind::DivergentBarrier, "divergent", 0, 40, "s_barrier");
  const Fault waves = fault([&] { device->run("divergent", {.grid = 1, .block = 128}, c, 64); });
  expect_at(waves, Fault::Kind::DivergentBarrier, "divergent", 0, -1, "s_barrier");
}

TEST_P(ExecChecks, MissingWait) {
  const int* a = device->upload(std::vector<int>(32, 4));
  int* c = device->allocate<int>(32);
  EXPECT_NO_THROW(device->run("no_wait", {.grid = 1, .block = 32}, a, c));
  device->options.check = Check::Strict;
  EXPECT_NO_THROW(device->run("with_wait", {.grid = 1, .block = 32}, a, c));
  const Fault f = fault([&] { device->run("no_wait", {.grid = 1, .block = 32}, a, c); });
  expect_at(f, Fault::Kind::MissingWait, "no_wait", 0, -1, "v_add_");
  EXPECT_NE(f.code_offset, 0u);
}

TEST_P(ExecChecks, UnknownInstructionWhenReached) {
  int* c = device->allocate<int>(32);
  EXPECT_NO_THROW(device->run("not_implemented", {.grid = 1, .block = 32}, c, 0));
  const Fault f = fault([&] { device->run("not_implemented", {.grid = 1, .block = 32}, c, 1); });
  expect_at(f, Fault::Kind::UnknownInstruction, "not_implemented", 0, -1,
            lanes() == 64 ? "ds_gws_sema_v" : "image_sample");
  EXPECT_NE(f.code_offset, 0u);
}

TEST_P(ExecChecks, MisalignedAtomic) {
  int* c = device->upload(std::vector<int>(32, 0));
  const Fault f = fault([&] { device->run("misaligned", {.grid = 1, .block = 32}, c); });
  expect_at(f, Fault::Kind::Misaligned, "misaligned", 0, 0, "global_atomic_add");
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(c) + 2);
  const Fault local =
      fault([&] { device->run("misaligned_lds", {.grid = 1, .block = 32, .dynamic_lds = 256}, c); });
  expect_at(local, Fault::Kind::Misaligned, "misaligned_lds", 0, 0, "ds_add_u32");
}

TEST_P(ExecChecks, Trap) {
  int* c = device->allocate<int>(32);
  const Fault f = fault([&] { device->run("trap", {.grid = 1, .block = 32}, c, 1); });
  expect_at(f, Fault::Kind::Trap, "trap", 0, 0, "s_trap");
}

// Without a debugger a kernel goes on behind its breakpoint.
TEST_P(ExecChecks, DebugTrap) {
  int* c = device->allocate<int>(32);
  device->run("debug_trap", {.grid = 1, .block = 32}, c);
  EXPECT_EQ(device->download(c, 32), std::vector<int>(32, 1));
}

TEST_P(ExecChecks, FunctionsMaySaveWhatWasNeverWritten) {
  int* c = device->allocate<int>(64);
  device->run("saves", {.grid = 1, .block = 64}, c);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(c[i], i | 1);
}

// A word of a shifted pair is as good as what comes into it.
TEST_P(ExecChecks, ShiftsOfHalfWrittenPairs) {
  int* c = device->allocate<int>(64);
  for (const char* kernel :
       {"shift_down_32_low", "shift_down_32_high", "shift_up_40_high", "shift_down_8_high"})
    device->run(kernel, {.grid = 1, .block = 64}, c);
  for (const char* kernel : {"shift_down_8_low", "shift_up_8_high", "shift_sign_40_high"}) {
    const Fault f = fault([&] { device->run(kernel, {.grid = 1, .block = 64}, c); });
    expect_at(f, Fault::Kind::Uninitialized, kernel, 0, 0, "global_store_");
  }
}

TEST_P(ExecChecks, Counters) {
  const auto items = static_cast<uint32_t>(2 * lanes());
  const int* a = device->upload(std::vector<int>(items, 1));
  int* c = device->allocate<int>(items);
  device->run("copy", {.grid = 2, .block = items / 2}, a, c, static_cast<int>(items));
  EXPECT_EQ(device->counters.waves, 2u);
  EXPECT_EQ(device->counters.global_read_bytes, items * 4);
  EXPECT_EQ(device->counters.global_write_bytes, items * 4);
  EXPECT_EQ(device->counters.vmem, 4u);
  EXPECT_EQ(device->counters.cache_lines, 2 * items / 32);
  EXPECT_GT(device->counters.valu, 4u);
  EXPECT_GT(device->counters.smem, 2u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecChecks,
                         testing::Values("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
