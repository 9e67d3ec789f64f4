// SPDX-License-Identifier: Apache-2.0
// Strict waits: each kind of load is used too early and found out, and used after the right wait and let
// pass. What each wait covers: AMD's ISA documents ("Data dependency resolution": loads of one counter come
// in order; scalar loads, and flat ones from LDS, do not) and the encodings of LLVM's AMDGPU guide.
#include <gtest/gtest.h>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

// Kernels of assembly by parts, in the names of all generations. Word i of a holds i + 1; LDS begins with the
// same.
const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
#if defined(__GFX9__) || defined(__GFX10__)
#define GLOBAL "global_load_dword "
#define FLAT "flat_load_dword "
#define BUFFER "buffer_load_dword "
#define LDS "ds_read_b32 "
#define SMEM "s_load_dword "
#define ATOMIC "global_atomic_add "
#else
#define GLOBAL "global_load_b32 "
#define FLAT "flat_load_b32 "
#define BUFFER "buffer_load_b32 "
#define LDS "ds_load_b32 "
#define SMEM "s_load_b32 "
#define ATOMIC "global_atomic_add_u32 "
#endif
#if defined(__GFX9__)
#define ADD "v_add_u32 "
#else
#define ADD "v_add_nc_u32 "
#endif
#if defined(__gfx1201__)
#define VM(n) "\n\ts_wait_loadcnt " n "\n\t"
#define LGKM(n) "\n\ts_wait_dscnt " n "\n\t"
#define SCALAR(n) "\n\ts_wait_kmcnt " n "\n\t"
#define RETURNS " th:TH_ATOMIC_RETURN"
#define NONE "null"
#else
#define VM(n) "\n\ts_waitcnt vmcnt(" n ")\n\t"
#define LGKM(n) "\n\ts_waitcnt lgkmcnt(" n ")\n\t"
#define SCALAR(n) LGKM(n)
#if defined(__gfx942__)
#define RETURNS " sc0"
#else
#define RETURNS " glc"
#endif
#define NONE "0"
#endif
#define ALL VM("0") LGKM("0") SCALAR("0")
typedef int i4 __attribute__((ext_vector_type(4)));
static __device__ inline void fill(int* s) {
  for (int i = thread_x(); i < 256; i += block_size_x()) s[i] = i + 1;
  barrier();
}
// v40 from the first load, v41 from the second; the sum of those that `use` names.
#define TWO(name, first, between, second, then, use)                                                    \
  KERNEL name(const int* a, int* c) {                                                                   \
    __shared__ int s[256];                                                                              \
    fill(s);                                                                                            \
    const i4 buffer = {(int)(long long)a, (int)((long long)a >> 32), 1024, 0x31014000};                 \
    const int* const flat = s + thread_x();                                                             \
    const int lds = (int)(long long)(__attribute__((address_space(3))) void*)(s + thread_x());          \
    int r;                                                                                              \
    asm volatile("v_mov_b32 v40, 0\n\tv_mov_b32 v41, 0\n\t" first between second then use "\n\t" ALL     \
                 : "=&v"(r)                                                                             \
                 : "v"(a + thread_x()), "v"(lds), "v"(flat), "s"(a), "s"(buffer), "v"(4 * thread_x())   \
                 : "v40", "v41", "s40", "s41", "memory");                                               \
    c[thread_x()] = r;                                                                                  \
  }
#define USE0 ADD "%0, 1, v40"
#define USE1 ADD "%0, 1, v41"
#define USE_SCALAR "v_mov_b32 %0, s40"
#define G0 GLOBAL "v40, %1, off"
#define G1 "\n\t" GLOBAL "v41, %1, off offset:4"
#define L0 LDS "v40, %2"
#define L1 "\n\t" LDS "v41, %2 offset:4"
#define F0 FLAT "v40, %1"
#define FL0 FLAT "v40, %3"
#define S0 SMEM "s40, %4, 0x0"
TWO(global_early, G0, "", "\n\t", "", USE0)
TWO(global_waited, G0, "", "", VM("0"), USE0)
TWO(global_second_early, G0, "", G1, VM("1"), USE1)
TWO(global_first_of_two, G0, "", G1, VM("1"), USE0)
TWO(global_wrong_counter, G0, "", "", LGKM("0"), USE0)
TWO(global_overwritten, G0, "", "", "\n\t", "v_mov_b32 v40, 5\n\tv_mov_b32 %0, v40")
TWO(global_reloaded, G0, "", "\n\t" GLOBAL "v40, %1, off offset:8", VM("0"), USE0)
TWO(global_into_lds_load, L0, "", "\n\t" GLOBAL "v40, %1, off offset:8", VM("0"), USE0)
TWO(buffer_early, BUFFER "v40, %6, %5, " NONE " offen", "", "\n\t", "", USE0)
TWO(buffer_waited, BUFFER "v40, %6, %5, " NONE " offen", "", "", VM("0"), USE0)
TWO(lds_early, L0, "", "\n\t", "", USE0)
TWO(lds_waited, L0, "", "", LGKM("0"), USE0)
TWO(lds_wrong_counter, L0, "", "", VM("0"), USE0)
TWO(lds_second_early, L0, "", L1, LGKM("1"), USE1)
TWO(lds_first_of_two, L0, "", L1, LGKM("1"), USE0)
TWO(scalar_early, S0, "", "\n\t", "", USE_SCALAR)
TWO(scalar_waited, S0, "", "", SCALAR("0"), USE_SCALAR)
TWO(scalar_counted, S0, "\n\t" SMEM "s41, %4, 0x4", "", SCALAR("1"), USE_SCALAR)
// Scalar loads share the counter of LDS before gfx12, and may overtake it.
TWO(lds_before_scalar, L0, "\n\t" S0, "", LGKM("1"), USE0)
TWO(lds_before_scalar_waited, L0, "\n\t" S0, "", LGKM("0"), USE0)
TWO(flat_global, F0, "", "", VM("0"), USE0)
TWO(flat_global_early, F0, "", "", LGKM("0"), USE0)
TWO(flat_lds, FL0, "", "", VM("0") LGKM("0"), USE0)
TWO(flat_lds_half, FL0, "", "", VM("0"), USE0)
TWO(flat_lds_other_half, FL0, "", "", LGKM("0"), USE0)
TWO(flat_lds_between, G0, "\n\t" FLAT "v41, %3", "", VM("1"), USE0)
KERNEL atomic_early(int* a, int* c) {
  int r;
  asm volatile("v_mov_b32 v41, 1\n\t" ATOMIC "v40, %1, v41, off" RETURNS "\n\t" USE0 "\n\t" ALL
               : "=&v"(r) : "v"(a + thread_x()) : "v40", "v41", "memory");
  c[thread_x()] = r;
}
KERNEL atomic_waited(int* a, int* c) {
  int r;
  asm volatile("v_mov_b32 v41, 1\n\t" ATOMIC "v40, %1, v41, off" RETURNS VM("0") USE0
               : "=&v"(r) : "v"(a + thread_x()) : "v40", "v41", "memory");
  c[thread_x()] = r;
}
KERNEL scalar_branch_early(const int* a, int* c) {
  int r = 1;
  asm volatile("s_load_dwordx2 vcc, %1, 0x0\n\ts_cbranch_vccz 1f\n\tv_mov_b32 %0, 2\n1:\n\t" ALL
               : "+v"(r) : "s"(a) : "vcc", "memory");
  c[thread_x()] = r;
}
#if defined(__gfx1201__)
TWO(lds_both_waited, L0, "", "", "\n\ts_wait_loadcnt_dscnt 0x3f00\n\t", USE0)
TWO(global_both_waited, G0, "", "", "\n\ts_wait_loadcnt_dscnt 0x3f\n\t", USE0)
TWO(global_both_early, G0, "", "", "\n\ts_wait_loadcnt_dscnt 0x3f00\n\t", USE0)
TWO(lds_with_stores_waited, L0, "", "", "\n\ts_wait_storecnt_dscnt 0x3f00\n\t", USE0)
TWO(lds_with_stores_early, L0, "", "", "\n\ts_wait_storecnt_dscnt 0x3f\n\t", USE0)
#endif
)kernels";

class ExecWaits : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
    device->options.check = Check::Strict;
    std::vector<int> words(300);
    for (size_t i = 0; i < words.size(); ++i) words[i] = int(i) + 1;
    a = device->upload(words);
    c = device->allocate<int>(64);
  }
  void passes(const std::string& kernel, int first) {
    ASSERT_NO_THROW(device->run(kernel, {.grid = 1, .block = 32}, a, c)) << kernel;
    EXPECT_EQ(device->download(c, 1)[0], first) << kernel;
  }
  void is_found(const std::string& kernel, const std::string& name) {
    try {
      device->run(kernel, {.grid = 1, .block = 32}, a, c);
      ADD_FAILURE() << kernel << " ran to its end";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::MissingWait) << kernel << ": " << fault.what();
      EXPECT_NE(std::string(fault.what()).find(name + " is used while"), std::string::npos)
          << kernel << ": " << fault.what();
    }
    // Other levels run it.
    device->options.check = Check::Race;
    EXPECT_NO_THROW(device->run(kernel, {.grid = 1, .block = 32}, a, c)) << kernel;
    device->options.check = Check::Strict;
  }
  const bool gfx12 = std::string(GetParam()).starts_with("gfx12");
  std::unique_ptr<Device> device;
  int *a = nullptr, *c = nullptr;
};

TEST_P(ExecWaits, Global) {
  is_found("global_early", "v40");
  passes("global_waited", 2);
  is_found("global_second_early", "v41");
  passes("global_first_of_two", 2);
  is_found("global_wrong_counter", "v40");
  is_found("global_overwritten", "v40");
  // Loads of memory write their registers in order, but not on gfx12 (LLVM's SIInsertWaitcnts).
  if (gfx12)
    is_found("global_reloaded", "v40");
  else
    passes("global_reloaded", 4);
  is_found("global_into_lds_load", "v40");
  is_found("buffer_early", "v40");
  passes("buffer_waited", 2);
  is_found("atomic_early", "v40");
  passes("atomic_waited", 4);  // after atomic_early's two launches
}

TEST_P(ExecWaits, Lds) {
  is_found("lds_early", "v40");
  passes("lds_waited", 2);
  is_found("lds_wrong_counter", "v40");
  is_found("lds_second_early", "v41");
  passes("lds_first_of_two", 2);
}

TEST_P(ExecWaits, Scalar) {
  is_found("scalar_early", "s40");
  passes("scalar_waited", 1);
  is_found("scalar_counted", "s40");
  is_found("lds_before_scalar", "v40");
  passes("lds_before_scalar_waited", 2);
  is_found("scalar_branch_early", "vcc_lo");
}

TEST_P(ExecWaits, Flat) {
  passes("flat_global", 2);
  is_found("flat_global_early", "v40");
  passes("flat_lds", 2);
  is_found("flat_lds_half", "v40");
  is_found("flat_lds_other_half", "v40");
  is_found("flat_lds_between", "v40");
}

TEST_P(ExecWaits, TwoCountersAtOnce) {
  if (!gfx12) GTEST_SKIP() << "gfx12 only";
  passes("lds_both_waited", 2);
  passes("global_both_waited", 2);
  is_found("global_both_early", "v40");
  passes("lds_with_stores_waited", 2);
  is_found("lds_with_stores_early", "v40");
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecWaits,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
