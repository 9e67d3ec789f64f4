// SPDX-License-Identifier: Apache-2.0
// gfx9's forks and joins, by AMD's pseudo-code: of the lanes that a mask sends to the target and of the
// others the fewer go first (the target's where they are as many), a join sends the wave the other way once,
// and what waits lies in four scalar registers from 4 * MODE.CSP on.
#include <gtest/gtest.h>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

// Lanes below n fork. c: which way the lane went (100: the target), its turn, CSP in the middle of the second
// turn and at the end.
const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
#define PATHS                                                                                           \
  "s_add_u32 s42, s42, 1\n\tv_mov_b32 %0, 200\n\tv_mov_b32 %1, s42\n\ts_branch 4f\n"                      \
  "3:\n\ts_add_u32 s42, s42, 1\n\tv_mov_b32 %0, 100\n\tv_mov_b32 %1, s42\n"                               \
  "4:\n\ts_getreg_b32 s43, hwreg(HW_REG_MODE, 29, 3)\n\tv_mov_b32 %2, s43\n\ts_cbranch_join s46\n\t"       \
  "s_mov_b64 exec, s[44:45]\n\ts_getreg_b32 s43, hwreg(HW_REG_MODE, 29, 3)\n\tv_mov_b32 %3, s43\n\t"       \
  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 29, 3), 0"
#define FORK(name, depth, fork)                                                                            \
  KERNEL name(int* c, int n) {                                                                             \
    int way, turn, middle, end;                                                                            \
    asm volatile(                                                                                          \
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 29, 3), " depth "\n\t"                                      \
        "v_cmp_gt_u32 vcc, %5, %4\n\ts_mov_b64 s[44:45], exec\n\ts_mov_b32 s42, 0\n\t"                       \
        "s_mov_b32 s46, " depth "\n\t" fork PATHS                                                          \
        : "=&v"(way), "=&v"(turn), "=&v"(middle), "=&v"(end)                                               \
        : "v"(thread_x()), "s"(n)                                                                          \
        : "vcc", "scc", "s0", "s1", "s2", "s3", "s8", "s9", "s10", "s11", "s40", "s41", "s42", "s43", "s44", \
          "s45", "s46");                                                                                   \
    int* r = c + 4 * thread_x();                                                                           \
    r[0] = way; r[1] = turn; r[2] = middle; r[3] = end;                                                    \
  }
#define BY_REGISTER                                                               \
  "s_getpc_b64 s[40:41]\n1:\n\ts_add_u32 s40, s40, 3f-1b\n\ts_addc_u32 s41, s41, 0\n\t" \
  "s_cbranch_g_fork vcc, s[40:41]\n\t"
FORK(by_register, "0", BY_REGISTER)
FORK(by_register_deeper, "2", BY_REGISTER)
FORK(by_label, "0", "s_cbranch_i_fork vcc, 3f\n\t")
FORK(by_label_deeper, "2", "s_cbranch_i_fork vcc, 3f\n\t")
// Vector instructions are skipped where the bit says so: c and two registers stay as they were, scalars go on, over a
// branch and a sleep too.
KERNEL skipped(int* c, int bits, int bit) {
  int before = 7, sum = 0;
  asm volatile(
      "s_mov_b32 s42, 0\n\ts_setvskip %3, %4\n\t"
      "v_mov_b32 %0, 9\n\tglobal_store_dword %2, %0, off offset:512\n\ts_add_u32 s42, s42, 1\n\t"
      "s_cmp_eq_u32 s42, 0\n\ts_cbranch_scc1 3f\n\ts_sleep 1\n\tv_add_u32 %0, 1, %0\n3:\n\t"
      "s_add_u32 s42, s42, 10\n\ts_setvskip 0, 0\n\tv_mov_b32 %1, s42\n\ts_waitcnt vmcnt(0)"
      : "+v"(before), "=&v"(sum)
      : "v"(c + thread_x()), "s"(bits), "s"(bit)
      : "s42", "scc", "memory");
  c[thread_x()] = before;
  c[64 + thread_x()] = sum;
}
KERNEL by_unwritten_register(int* c) {
  asm volatile("s_cbranch_g_fork s[50:51], s[40:41]" : : : "s0", "s1", "s2", "s3");
  c[thread_x()] = 1;
}
KERNEL by_unwritten_mask(int* c) {
  asm volatile("s_cbranch_i_fork s[50:51], 3f\n3:" : : : "s0", "s1", "s2", "s3");
  c[thread_x()] = 1;
}
)kernels";

class ExecForks : public testing::TestWithParam<const char*> {};

TEST_P(ExecForks, TheFewerGoFirst) {
  EMU_NEEDS_CLANG();
  Device device(GetParam(), compile(kSource, GetParam()));
  device.options.check = Check::Strict;
  int* c = device.allocate<int>(256);
  for (const char* kernel : {"by_register", "by_register_deeper", "by_label", "by_label_deeper"}) {
    const int depth = std::string(kernel).ends_with("deeper") ? 2 : 0;
    for (const int n : {0, 1, 5, 31, 32, 33, 50, 64}) {
      device.run(kernel, {.grid = 1, .block = 64}, c, n);
      const std::vector<int> r = device.download(c, 256);
      const bool both = n > 0 && n < 64, target_first = n <= 64 - n;
      for (int lane = 0; lane < 64; ++lane) {
        const int* got = &r[4 * size_t(lane)];
        const bool target = lane < n, second = both && target != target_first;
        EXPECT_EQ(got[0], target ? 100 : 200) << kernel << " " << n << " " << lane;
        EXPECT_EQ(got[1], second ? 2 : 1) << kernel << " " << n << " " << lane;
        EXPECT_EQ(got[2], depth + (both && !second ? 1 : 0)) << kernel << " " << n << " " << lane;
        EXPECT_EQ(got[3], depth) << kernel << " " << n << " " << lane;
      }
    }
  }
}

TEST_P(ExecForks, VectorInstructionsAreSkipped) {
  EMU_NEEDS_CLANG();
  Device device(GetParam(), compile(kSource, GetParam()));
  for (const Check check : {Check::None, Check::Strict}) {
    device.options.check = check;
    for (const int bit : {0, 5, 31, 37}) {
      int* c = device.upload(std::vector<int>(256, 1));
      for (const bool skips : {false, true}) {
        const uint32_t bits = (skips ? 1u : ~1u) << (bit % 32) | (skips ? 0 : ~(~0u << (bit % 32)));
        device.run("skipped", {.grid = 1, .block = 64}, c, int(bits), bit);
        for (int lane = 0; lane < 64; ++lane) {
          EXPECT_EQ(c[lane], skips ? 7 : 10) << bit;
          EXPECT_EQ(c[64 + lane], 11) << bit;
          EXPECT_EQ(c[128 + lane], skips ? 1 : 9) << bit;
          c[128 + lane] = 1;
        }
      }
    }
  }
}

TEST_P(ExecForks, MasksThatWereNeverWritten) {
  EMU_NEEDS_CLANG();
  Device device(GetParam(), compile(kSource, GetParam()));
  int* c = device.allocate<int>(64);
  for (const char* kernel : {"by_unwritten_register", "by_unwritten_mask"}) try {
      device.run(kernel, {.grid = 1, .block = 64}, c);
      ADD_FAILURE() << kernel;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::Uninitialized) << kernel << ": " << fault.what();
    }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecForks, testing::Values("gfx906", "gfx90a", "gfx942"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
