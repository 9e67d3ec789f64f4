// SPDX-License-Identifier: Apache-2.0
// Instructions that compilers use rarely: addresses that are the lane's number, double exchanges, loads that
// go straight to LDS, blocks of registers, indexed registers, the scalar unit's stores and atomics, buffers,
// permutations of lanes, gfx12's split barrier. What each does: AMD's pseudo-code; loads to LDS: LLVM's guide
// to "DMA operations".
#include <gtest/gtest.h>

#include <numeric>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
#define LDS(p) ((__attribute__((address_space(3))) void*)(p))
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i32 __attribute__((ext_vector_type(32)));
typedef float f16 __attribute__((ext_vector_type(16)));
#if defined(__GFX9__) || defined(__GFX10__)
#define READ_ADDTID "ds_read_addtid_b32"
#define WRITE_ADDTID "ds_write_addtid_b32"
#define EXCHANGE "ds_wrxchg2_rtn_b32"
#define EXCHANGE64 "ds_wrxchg2st64_rtn_b64"
#else
#define READ_ADDTID "ds_load_addtid_b32"
#define WRITE_ADDTID "ds_store_addtid_b32"
#define EXCHANGE "ds_storexchg_2addr_rtn_b32"
#define EXCHANGE64 "ds_storexchg_2addr_stride64_rtn_b64"
#endif
#if defined(__gfx1200__)
#define WAIT_LDS "\n\ts_wait_dscnt 0x0"
#define WAIT_LOADS "\n\ts_wait_loadcnt 0x0"
#else
#define WAIT_LDS "\n\ts_waitcnt lgkmcnt(0)"
#define WAIT_LOADS "\n\ts_waitcnt vmcnt(0)"
#endif
    // Lane i writes 100 + i to word m0 / 4 + 2 + i, then reads word m0 / 4 + 3 + i.
    KERNEL
    lds_by_lane(int* c, int m0) {
  __shared__ int s[80];
  s[thread_x()] = -1;
  s[thread_x() + 16] = -1;
  barrier();
  int got;
  asm volatile("s_mov_b32 m0, %2\n\t" WRITE_ADDTID " %1 offset:8\n\t" READ_ADDTID " %0 offset:12" WAIT_LDS
               : "=&v"(got)
               : "v"(100 + thread_x()), "s"(m0), "v"(LDS(s))
               : "memory", "m0");
  c[2 * thread_x()] = got;
  c[2 * thread_x() + 1] = s[thread_x()];
}
KERNEL exchanges(int* c, long long* d) {
  __shared__ long long s[256];
  for (int i = thread_x(); i < 256; i += 32) s[i] = i * 0x100000001ll;
  barrier();
  i2 old;
  asm volatile(EXCHANGE " %0, %1, %2, %3 offset0:1 offset1:2" WAIT_LDS
               : "=&v"(old)
               : "v"((int)(long long)LDS(s) + 16 * thread_x()), "v"(1000 + thread_x()),
                 "v"(2000 + thread_x()), "v"(LDS(s))
               : "memory");
  c[2 * thread_x()] = old.x;
  c[2 * thread_x() + 1] = old.y;
  barrier();
  i4 wide;
  const long long x = 5000000000ll + thread_x(), y = 6000000000ll + thread_x();
  asm volatile(EXCHANGE64 " %0, %1, %2, %3 offset0:1 offset1:2" WAIT_LDS
               : "=&v"(wide)
               : "v"((int)(long long)LDS(s) + 8 * thread_x()), "v"(x), "v"(y), "v"(LDS(s))
               : "memory");
  d[2 * thread_x()] = ((long long)wide.y << 32) | (unsigned)wide.x;
  d[2 * thread_x() + 1] = ((long long)wide.w << 32) | (unsigned)wide.z;
  barrier();
  for (int i = thread_x(); i < 256; i += 32) d[64 + i] = s[i];
}
KERNEL conditional(int* c, int first, int second) {
  __shared__ i2 s[32];
  s[thread_x()] = i2{thread_x(), -thread_x()};
  barrier();
  i2 old, now = {first, second};
  asm volatile("ds_condxchg32_rtn_b64 %0, %1, %2" WAIT_LDS
               : "=&v"(old)
               : "v"((int)(long long)LDS(s) + 8 * thread_x()), "v"(now), "v"(LDS(s))
               : "memory");
  c[4 * thread_x()] = old.x;
  c[4 * thread_x() + 1] = old.y;
  c[4 * thread_x() + 2] = s[thread_x()].x;
  c[4 * thread_x() + 3] = s[thread_x()].y;
}
// gfx9: one of four values by a uniform index; and stores and atomics of the scalar unit.
#if defined(__GFX9__)
KERNEL indexed(int* c, int index) {
  int got, back;
  asm volatile(
      "v_mov_b32 v40, 10\n\tv_mov_b32 v41, 11\n\tv_mov_b32 v42, 12\n\tv_mov_b32 v43, 13\n\t"
      "s_set_gpr_idx_on %2, gpr_idx(SRC0)\n\tv_mov_b32 %0, v40\n\ts_set_gpr_idx_mode gpr_idx(DST)\n\t"
      "v_mov_b32 v40, 77\n\ts_set_gpr_idx_idx 0\n\ts_set_gpr_idx_mode gpr_idx(SRC0,SRC1)\n\t"
      "v_add_u32 %1, v41, v42\n\ts_set_gpr_idx_off"
      : "=&v"(got), "=&v"(back)
      : "s"(index)
      : "v40", "v41", "v42", "v43", "m0");
  c[2 * thread_x()] = got;
  c[2 * thread_x() + 1] = back;
}
KERNEL scalar_memory(int* c, int value) {
  int old;
  asm volatile(
      "s_store_dword %1, %2, 0x8\n\ts_waitcnt lgkmcnt(0)\n\ts_mov_b32 %0, 5\n\t"
      "s_atomic_add %0, %2, 0x8 glc\n\ts_waitcnt lgkmcnt(0)"
      : "=&s"(old)
      : "s"(value), "s"(c)
      : "memory");
  i2 swap = {99, 42};
  asm volatile("s_atomic_cmpswap %0, %1, 0xc\n\ts_waitcnt lgkmcnt(0)" : : "s"(swap), "s"(c) : "memory");
  if (thread_x() == 0) c[0] = old;
}
KERNEL to_lds(const int* a, int* c, i4 descriptor) {
  __shared__ int s[140];
  for (int i = thread_x(); i < 140; i += 64) s[i] = -1;
  barrier();
  asm volatile(
      "s_mov_b32 m0, 16\n\t"
#if defined(__gfx942__)
      "global_load_lds_dword %0, off offset:4\n\t"
#else
      "global_load_dword %0, off offset:4 lds\n\t"
#endif
      "s_movk_i32 m0, 0x120\n\tbuffer_load_dword %1, %2, 0 offen lds" WAIT_LOADS
      :
      : "v"(a + (63 - thread_x())), "v"(8 * thread_x()), "s"(descriptor), "v"(LDS(s))
      : "memory", "m0");
  barrier();
  for (int i = thread_x(); i < 140; i += 64) c[i] = s[i];
}
#endif
// One of sixteen values by an index that all lanes share: what the compiler makes of it.
KERNEL dynamic(const f16* a, float* c, int index) {
  f16 x = a[thread_x()];
  x[index] *= 2;
  c[thread_x()] = x[index] + x[(index + 1) & 15];
}
#if defined(__GFX10__) || defined(__GFX11__)
KERNEL global_by_lane(const int* a, int* c) {
  int x;
#if defined(__GFX10__)
  asm volatile(
      "global_load_dword_addtid %0, %1 offset:4\n\ts_waitcnt vmcnt(0)\n\tv_add_nc_u32 %0, 1, %0\n\t"
      "global_store_dword_addtid %0, %2 offset:8"
      : "=&v"(x)
      : "s"(a), "s"(c)
      : "memory");
#else
  asm volatile(
      "global_load_addtid_b32 %0, %1 offset:4\n\ts_waitcnt vmcnt(0)\n\tv_add_nc_u32 %0, 1, %0\n\t"
      "global_store_addtid_b32 %0, %2 offset:8"
      : "=&v"(x)
      : "s"(a), "s"(c)
      : "memory");
#endif
}
#endif
#if !defined(__GFX9__)
// Two indexes at once, for source and destination.
KERNEL two_indexes(int* c, int m0) {
  int moved, first, second, scalar;
  asm volatile(
      "v_mov_b32 v40, 10\n\tv_mov_b32 v41, 11\n\tv_mov_b32 v42, 12\n\tv_mov_b32 v43, 13\n\tv_mov_b32 v44, "
      "14\n\t"
      "s_mov_b32 m0, %4\n\tv_movrelsd_2_b32 v42, v40\n\tv_mov_b32 %0, v44\n\tv_swaprel_b32 v40, v42\n\t"
      "v_mov_b32 %1, v42\n\tv_mov_b32 %2, v43\n\ts_mov_b32 s40, 20\n\ts_mov_b32 s41, 21\n\t"
      "s_movrelsd_2_b32 s42, s40\n\ts_mov_b32 %3, s44"
      : "=&v"(moved), "=&v"(first), "=&v"(second), "=&s"(scalar)
      : "s"(m0)
      : "v40", "v41", "v42", "v43", "v44", "s40", "s41", "s42", "s43", "s44", "m0");
  c[4 * thread_x()] = moved;
  c[4 * thread_x() + 1] = first;
  c[4 * thread_x() + 2] = second;
  c[4 * thread_x() + 3] = scalar;
}
#endif
#if defined(__GFX11__)
KERNEL count_shifted(const int* masks, int* c) {
  int r;
  asm volatile("v_mbcnt_lo_u32_b32_e64_dpp %0, %1, %2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"
               : "=v"(r)
               : "v"(masks[thread_x()]), "v"(1000));
  c[thread_x()] = r;
}
#endif
#if defined(__gfx1200__)
KERNEL blocks(const int* a, int* c, int mask) {
  i32 x = {};
  asm volatile(
      "s_mov_b32 m0, %3\n\tglobal_load_block %0, %1, off offset:4\n\ts_wait_loadcnt 0x0\n\t"
      "global_store_block %2, %0, off"
      : "+v"(x)
      : "v"(a + 40 * thread_x()), "v"(c + 32 * thread_x()), "s"(mask)
      : "memory", "m0");
}
KERNEL split_barrier(int* c) {
  int first, before, after;
  asm volatile(
      "s_get_barrier_state %1, -1\n\ts_barrier_signal_isfirst -1\n\ts_cselect_b32 %0, 1, 0\n\t"
      "s_get_barrier_state %2, -1\n\ts_barrier_wait -1"
      : "=&s"(first), "=&s"(before), "=&s"(after)
      :
      : "memory");
  c[3 * thread_x()] = first;
  c[3 * thread_x() + 1] = before;
  c[3 * thread_x() + 2] = after;
}
// The first wave signals and waits only after the second one, which has passed the barrier, has answered.
KERNEL barrier_and_spin(int* flag, int* c) {
  if (thread_x() < 32) {
    asm volatile("s_barrier_signal -1" ::: "memory");
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
    asm volatile("s_barrier_wait -1" ::: "memory");
  } else {
    asm volatile("s_barrier_signal -1\n\ts_barrier_wait -1" ::: "memory");
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  c[thread_x()] = 1;
}
KERNEL barrier_unsignaled(int* c) {
  asm volatile("s_barrier_wait -1" ::: "memory");
  c[thread_x()] = 1;
}
#endif
KERNEL buffer_atomics(i4 descriptor, int* c) {
  int x = 2;
#if defined(__gfx1200__)
  asm volatile("buffer_atomic_inc_u32 %0, off, %1, null th:TH_ATOMIC_RETURN\n\ts_wait_loadcnt 0x0"
               : "+v"(x)
               : "s"(descriptor)
               : "memory");
#elif defined(__GFX11__)
  asm volatile("buffer_atomic_inc_u32 %0, off, %1, 0 glc\n\ts_waitcnt vmcnt(0)"
               : "+v"(x)
               : "s"(descriptor)
               : "memory");
#elif defined(__gfx942__)
  asm volatile("buffer_atomic_inc %0, off, %1, 0 sc0\n\ts_waitcnt vmcnt(0)"
               : "+v"(x)
               : "s"(descriptor)
               : "memory");
#else
  asm volatile("buffer_atomic_inc %0, off, %1, 0 glc\n\ts_waitcnt vmcnt(0)"
               : "+v"(x)
               : "s"(descriptor)
               : "memory");
#endif
  c[thread_x()] = x;
}
// One word 16 bytes behind each lane's offset.
KERNEL buffer_words(i4 descriptor, const int* offsets, int* c) {
  int x;
#if defined(__gfx1200__)
  asm volatile("buffer_load_b32 %0, %1, %2, null offen offset:16" WAIT_LOADS
#elif defined(__GFX11__)
  asm volatile("buffer_load_b32 %0, %1, %2, 0 offen offset:16" WAIT_LOADS
#else
  asm volatile("buffer_load_dword %0, %1, %2, 0 offen offset:16" WAIT_LOADS
#endif
               : "=v"(x)
               : "v"(offsets[thread_x()]), "s"(descriptor)
               : "memory");
  c[thread_x()] = x;
}
KERNEL buffer_fours(int* a, int bytes, int flags, const int* offsets, i4* c) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(a, 0, bytes, flags);
  c[thread_x()] = __builtin_amdgcn_raw_buffer_load_b128(r, offsets[thread_x()], 0, 0);
}
KERNEL buffer_store_four(int* a, int bytes, int flags, int offset) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(a, 0, bytes, flags);
  __builtin_amdgcn_raw_buffer_store_b128(i4{-1, -2, -3, -4}, r, offset, 0, 0);
}
KERNEL permute(const int* lanes, int* c) {
  const int i = thread_x();
  c[i] = __builtin_amdgcn_ds_bpermute(4 * lanes[i], 100 + i);
  c[64 + i] = __builtin_amdgcn_ds_permute(4 * lanes[i], 100 + i);
}
)kernels";

struct Four {
  uint32_t words[4];
};
/// A raw buffer of these bytes.
Four descriptor(const void* base, uint32_t bytes) {
  const uint64_t a = reinterpret_cast<uint64_t>(base);
  return {{uint32_t(a), uint32_t(a >> 32) & 0xffff, bytes, 0}};
}

class ExecOtherMemory : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
    device->options.check = Check::Strict;
  }
  const std::string chip = GetParam();
  const bool gfx9 = chip.starts_with("gfx9");
  std::unique_ptr<Device> device;
};

TEST_P(ExecOtherMemory, LdsByLane) {
  int* c = device->allocate<int>(64);
  device->run("lds_by_lane", {.grid = 1, .block = 32}, c, 16);
  const std::vector<int> r = device->download(c, 64);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(r[size_t(2 * i)], i < 31 ? 101 + i : -1) << i;
    EXPECT_EQ(r[size_t(2 * i + 1)], i < 6 ? -1 : 100 + i - 6) << i;
  }
}

TEST_P(ExecOtherMemory, DoubleExchanges) {
  int* c = device->allocate<int>(64);
  int64_t* d = device->allocate<int64_t>(64 + 256);
  device->run("exchanges", {.grid = 1, .block = 32}, c, d);
  const std::vector<int> old = device->download(c, 64);
  const std::vector<int64_t> wide = device->download(d, 64 + 256);
  // Lane i exchanged the words 4 i + 1 and 4 i + 2; then, with all lanes, the doublewords 64 + i and 128 + i.
  std::vector<int64_t> s(256);
  for (int64_t i = 0; i < 256; ++i) s[size_t(i)] = i * 0x100000001;
  for (int64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(old[size_t(2 * i)], 2 * i);
    EXPECT_EQ(old[size_t(2 * i + 1)], 2 * i + 1);
    s[size_t(2 * i)] = (s[size_t(2 * i)] & 0xffffffff) | (1000 + i) << 32;
    s[size_t(2 * i + 1)] = (s[size_t(2 * i + 1)] & ~int64_t(0xffffffff)) | (2000 + i);
  }
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(wide[2 * i], s[64 + i]);
    EXPECT_EQ(wide[2 * i + 1], s[128 + i]);
    s[64 + i] = 5000000000 + int64_t(i);
    s[128 + i] = 6000000000 + int64_t(i);
  }
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(wide[64 + i], s[i]) << i;
}

TEST_P(ExecOtherMemory, ConditionalExchange) {
  int* c = device->allocate<int>(128);
  device->run("conditional", {.grid = 1, .block = 32}, c, int(0x80000007), 9);
  const std::vector<int> r = device->download(c, 128);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(std::vector<int>(r.begin() + 4 * i, r.begin() + 4 * i + 4), (std::vector<int>{i, -i, 7, -i}));
}

TEST_P(ExecOtherMemory, DynamicIndex) {
  std::vector<float> a(64 * 16);
  std::iota(a.begin(), a.end(), 1.0f);
  const float* in = device->upload(a);
  float* c = device->allocate<float>(64);
  for (const int index : {0, 5, 15}) {
    device->run("dynamic", {.grid = 1, .block = 64}, in, c, index);
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(device->download(c, 64)[i],
                2 * a[16 * i + size_t(index)] + a[16 * i + size_t((index + 1) & 15)]);
  }
}

TEST_P(ExecOtherMemory, IndexedRegistersOfGfx9) {
  if (!gfx9) GTEST_SKIP() << "gfx9 only";
  int* c = device->allocate<int>(128);
  for (const int index : {1, 2}) {
    device->run("indexed", {.grid = 1, .block = 64}, c, index);
    const std::vector<int> r = device->download(c, 128);
    EXPECT_EQ(r[6], 10 + index);
    // v[40 + index] became 77.
    EXPECT_EQ(r[7], index == 1 ? 77 + 12 : 11 + 77);
  }
}

TEST_P(ExecOtherMemory, ScalarStoresAndAtomics) {
  if (!gfx9) GTEST_SKIP() << "gfx9 only";
  int* c = device->upload(std::vector<int>{1, 2, 3, 42});
  device->run("scalar_memory", {.grid = 1, .block = 64}, c, 30);
  EXPECT_EQ(device->download(c, 4), (std::vector<int>{30, 2, 35, 99}));
}

TEST_P(ExecOtherMemory, LoadsToLds) {
  if (!gfx9) GTEST_SKIP() << "gfx9 only";
  std::vector<int> a(129);
  std::iota(a.begin(), a.end(), 100);
  const int* in = device->upload(a);
  int* c = device->allocate<int>(140);
  // The buffer ends after 100 words: lanes beyond read zero.
  device->run("to_lds", {.grid = 1, .block = 64}, in, c, descriptor(in, 400));
  const std::vector<int> r = device->download(c, 140);
  for (size_t i = 0; i < 140; ++i) {
    int want = -1;
    if (i >= 5 && i < 69) want = a[63 - (i - 5) + 1];
    if (i >= 72 && i < 136) want = 2 * (i - 72) < 100 ? a[2 * (i - 72)] : 0;
    EXPECT_EQ(r[i], want) << i;
  }
}

TEST_P(ExecOtherMemory, GlobalByLane) {
  if (chip != "gfx1030" && chip != "gfx1100") GTEST_SKIP() << "gfx10 and gfx11 only";
  std::vector<int> a(33);
  std::iota(a.begin(), a.end(), 7);
  int* c = device->upload(std::vector<int>(34));
  device->run("global_by_lane", {.grid = 1, .block = 32}, device->upload(a), c);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(device->download(c, 34)[i + 2], a[i + 1] + 1);
}

TEST_P(ExecOtherMemory, TwoIndexes) {
  if (gfx9) GTEST_SKIP() << "gfx10 and later";
  int* c = device->allocate<int>(128);
  // Source 1 further, destination 2 further: v44 = v41, then v42 <-> v43 and s44 = s41.
  device->run("two_indexes", {.grid = 1, .block = 32}, c, 1 | 2 << 16);
  const std::vector<int> r = device->download(c, 4);
  EXPECT_EQ(r, (std::vector<int>{11, 13, 12, 21}));
}

TEST_P(ExecOtherMemory, CountOfShiftedMask) {
  if (chip != "gfx1100") GTEST_SKIP() << "gfx11 only";
  std::vector<int> a(32);
  for (size_t i = 0; i < 32; ++i) a[i] = int(0x9e3779b9u * (i + 1));
  int* c = device->allocate<int>(32);
  device->run("count_shifted", {.grid = 1, .block = 32}, device->upload(a), c);
  for (size_t i = 0; i < 32; ++i) {
    const uint32_t mask = i % 16 ? uint32_t(a[i - 1]) : 0;
    EXPECT_EQ(device->download(c, 32)[i], 1000 + __builtin_popcount(mask & ((1u << i) - 1))) << i;
  }
}

TEST_P(ExecOtherMemory, Blocks) {
  if (chip != "gfx1200") GTEST_SKIP() << "gfx12 only";
  std::vector<int> a(32 * 40);
  std::iota(a.begin(), a.end(), 0);
  int* c = device->upload(std::vector<int>(1024, -1));
  const uint32_t mask = 0x80010005;
  device->run("blocks", {.grid = 1, .block = 32}, device->upload(a), c, int(mask));
  const std::vector<int> r = device->download(c, 1024);
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t n = 0; n < 32; ++n)
      EXPECT_EQ(r[32 * lane + n], mask >> n & 1 ? int(40 * lane + n + 1) : -1) << lane << " " << n;
}

TEST_P(ExecOtherMemory, SplitBarrier) {
  if (chip != "gfx1200") GTEST_SKIP() << "gfx12 only";
  int* c = device->allocate<int>(3 * 96);
  device->run("split_barrier", {.grid = 1, .block = 96}, c);
  const std::vector<int> r = device->download(c, 3 * 96);
  for (int wave = 0; wave < 3; ++wave) {
    // Waves take turns, so they signal in order; three are members.
    EXPECT_EQ(r[size_t(96 * wave)], wave == 0);
    EXPECT_EQ(r[size_t(96 * wave + 1)], 1 | 3 << 4 | wave << 16);
    // The last signal completes the barrier, which begins anew.
    EXPECT_EQ(r[size_t(96 * wave + 2)], 1 | 3 << 4 | (wave == 2 ? 0 : wave + 1) << 16);
  }
}

TEST_P(ExecOtherMemory, SplitBarrierLetsPassWhileAnotherWaveIsBusy) {
  if (chip != "gfx1200") GTEST_SKIP() << "gfx12 only";
  int* flag = device->upload(std::vector<int>{0});
  int* c = device->allocate<int>(64);
  // Relaxed atomic loads and stores are plain ones to the hardware: looking for races would find them.
  device->options.check = Check::Bounds;
  device->run("barrier_and_spin", {.grid = 1, .block = 64}, flag, c);
  EXPECT_EQ(device->download(c, 64), std::vector<int>(64, 1));
  EXPECT_THROW(device->run("barrier_unsignaled", {.grid = 1, .block = 64}, c), Fault);
}

TEST_P(ExecOtherMemory, BufferAtomics) {
  int* counter = device->upload(std::vector<int>{0});
  int* c = device->allocate<int>(32);
  device->run("buffer_atomics", {.grid = 1, .block = 32}, descriptor(counter, 4), c);
  // Counts 0, 1, 2, 0, ...
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(device->download(c, 32)[i], int(i % 3));
  EXPECT_EQ(device->download(counter, 1)[0], 32 % 3);
}

// Behind the buffer's end atomics do nothing and read 0.
TEST_P(ExecOtherMemory, BufferAtomicsOutOfRange) {
  int* counter = device->upload(std::vector<int>{1});
  int* c = device->allocate<int>(32);
  device->run("buffer_atomics", {.grid = 1, .block = 32}, descriptor(counter, 0), c);
  EXPECT_EQ(device->download(c, 32), std::vector<int>(32, 0));
  EXPECT_EQ(device->download(counter, 1)[0], 1);
}

// Each word has its own check against the buffer's end.
TEST_P(ExecOtherMemory, BufferRange) {
  const int flags = gfx9 ? 0x27000 : 0x31014000;
  std::vector<int> words(20);
  std::iota(words.begin(), words.end(), 100);
  int* a = device->upload(words);
  const std::vector<int> offsets = {0, 40, 44, 48, 52, 56, 60, -4, -16};
  Four* c = device->allocate<Four>(offsets.size());
  const auto lanes = uint32_t(offsets.size());
  device->run("buffer_fours", {.grid = 1, .block = lanes}, a, 56, flags, device->upload(offsets), c);
  for (size_t i = 0; i < offsets.size(); ++i)
    for (size_t n = 0; n < 4; ++n) {
      const size_t at = uint32_t(offsets[i]) / 4 + n;
      EXPECT_EQ(c[i].words[n], at < 14 ? 100 + at : 0) << offsets[i] << " " << n;
    }
  device->run("buffer_store_four", {.grid = 1, .block = 1}, a, 56, flags, 48);
  words[12] = -1;
  words[13] = -2;
  EXPECT_EQ(device->download(a, 20), words);
}

// A lane's offset and the instruction's are not added modulo 2^32.
TEST_P(ExecOtherMemory, BufferOffsetsDoNotWrap) {
  std::vector<int> a(64), offsets(64), expected(64);
  std::iota(a.begin(), a.end(), 100);
  for (size_t i = 0; i < 64; ++i) {
    offsets[i] = int(4 * i) - 16;
    expected[i] = i < 4 ? 0 : a[i];
  }
  int* c = device->allocate<int>(64);
  device->run("buffer_words", {.grid = 1, .block = 64}, descriptor(device->upload(a), 256),
              device->upload(offsets), c);
  EXPECT_EQ(device->download(c, 64), expected);
}

// With 2 in the descriptor's field for it only an empty buffer has an end.
TEST_P(ExecOtherMemory, UncheckedBuffers) {
  if (gfx9) GTEST_SKIP() << "gfx10 and later";
  std::vector<int> a(68), offsets(64);
  std::iota(a.begin(), a.end(), 100);
  for (size_t i = 0; i < 64; ++i) offsets[i] = int(4 * i);
  for (const uint32_t bytes : {0u, 4u}) {
    Four buffer = descriptor(device->upload(a), bytes);
    buffer.words[3] = 2u << 28;
    int* c = device->allocate<int>(64);
    device->run("buffer_words", {.grid = 1, .block = 64}, buffer, device->upload(offsets), c);
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(device->download(c, 64)[i], bytes == 0 ? 0 : a[i + 4]) << i;
  }
}

// In a wave of 64 lanes gfx10 and gfx11 permute each half by itself.
TEST_P(ExecOtherMemory, PermutationsOf64Lanes) {
  Device wide(chip, compile(kSource, chip, gfx9 ? "" : "-mwavefrontsize64"));
  std::vector<int> lanes(64);
  for (int i = 0; i < 64; ++i) lanes[size_t(i)] = (i + 40) % 64;
  int* c = wide.allocate<int>(128);
  wide.run("permute", {.grid = 1, .block = 64}, wide.upload(lanes), c);
  const std::vector<int> r = wide.download(c, 128);
  const bool apart = chip.starts_with("gfx10") || chip.starts_with("gfx11");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(r[size_t(i)], 100 + (apart ? (i & 32) | ((i + 8) & 31) : (i + 40) % 64)) << i;
    EXPECT_EQ(r[size_t(64 + i)], 100 + (apart ? (i & 32) | ((i - 8) & 31) : (i + 24) % 64)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecOtherMemory,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
