// SPDX-License-Identifier: Apache-2.0
// What hardware registers do and say: MODE's fields for denormal numbers, the clock, the chip's own ones.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

// Compiled with all denormals off.
const char* const kFlushing = R"kernels(
#define KERNEL extern "C" __global__ void
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
KERNEL singles(const float* a, const float* b, float* c) {
  const int i = thread_x();
  c[5 * i] = __builtin_canonicalizef(a[i]);
  c[5 * i + 1] = __builtin_fmaxf(a[i], b[i]);
  c[5 * i + 2] = __builtin_fminf(a[i], b[i]);
  c[5 * i + 3] = __builtin_amdgcn_fmed3f(a[i], b[i], 1.0f);
  c[5 * i + 4] = __builtin_amdgcn_frexp_mantf(a[i]);
}
KERNEL doubles(const double* a, const double* b, double* c) {
  const int i = thread_x();
  c[4 * i] = __builtin_canonicalize(a[i]);
  c[4 * i + 1] = __builtin_fmax(a[i], b[i]);
  c[4 * i + 2] = __builtin_fmin(a[i], b[i]);
  c[4 * i + 3] = __builtin_amdgcn_frexp_mant(a[i]);
}
KERNEL halves(const h2* a, const h2* b, h2* c) {
  const int i = thread_x();
  c[4 * i] = a[i] * b[i];
  c[4 * i + 1] = a[i] + b[i];
  c[4 * i + 2] = __builtin_elementwise_max(a[i], b[i]);
  c[4 * i + 3] = __builtin_elementwise_min(a[i], b[i]);
}
KERNEL mixed(const h2* a, const float* b, uint32_t* c) {
  uint32_t both = 0xffffffff;
  asm volatile("v_fma_mixlo_f16 %0, %1, %1, %2 op_sel_hi:[1,1,0]\n\t"
               "v_fma_mixhi_f16 %0, %1, -%1, -%2 op_sel_hi:[1,1,0]"
               : "+v"(both)
               : "v"(a[thread_x()]), "v"(b[thread_x()]));
  c[thread_x()] = both;
}
)kernels";

const char* const kRegisters = R"kernels(
#define KERNEL extern "C" __global__ void
KERNEL register_20(uint32_t* c) { c[0] = __builtin_amdgcn_s_getreg(20 | 3 << 11); }
KERNEL clock(uint64_t* c) { c[0] = __builtin_readcyclecounter(); }
)kernels";

class ExecModes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { EMU_NEEDS_CLANG(); }
  Device flushing() const {
    return Device(chip,
                  compile(kFlushing, chip, "-fdenormal-fp-math=preserve-sign -fgpu-flush-denormals-to-zero"));
  }
  const std::string chip = GetParam();
};

TEST_P(ExecModes, DenormalSinglesAndDoubles) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the host's denormal mode is set on x86-64 only";
#endif
  Device device(flushing());
  const float* a = device.upload(std::vector<float>{2e-40f, -3e-40f, 1e-40f});
  const float* b = device.upload(std::vector<float>{-3e-40f, 2e-40f, 1e-40f});
  float* c = device.allocate<float>(15);
  device.run("singles", {.grid = 1, .block = 3}, a, b, c);
  const float zeros[15] = {0.0f, 0.0f,  -0.0f, 0.0f, 0.0f, -0.0f, 0.0f, -0.0f,
                           0.0f, -0.0f, 0.0f,  0.0f, 0.0f, 0.0f,  0.0f};
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(c[i]), std::bit_cast<uint32_t>(zeros[i])) << i;

  const double* wide_a = device.upload(std::vector<double>{2e-310, -3e-310});
  const double* wide_b = device.upload(std::vector<double>{-3e-310, 2e-310});
  double* wide_c = device.allocate<double>(8);
  device.run("doubles", {.grid = 1, .block = 2}, wide_a, wide_b, wide_c);
  const double wide_zeros[8] = {0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(wide_c[i]), std::bit_cast<uint64_t>(wide_zeros[i])) << i;
}

TEST_P(ExecModes, DenormalHalves) {
  Device device(flushing());
  // 2^-14 and a half; two denormals, the low ones of different signs.
  const uint32_t* a = device.upload(std::vector<uint32_t>{0x04000400, 0x00088008});
  const uint32_t* b = device.upload(std::vector<uint32_t>{0x38003800, 0x00010001});
  uint32_t* c = device.allocate<uint32_t>(8);
  device.run("halves", {.grid = 1, .block = 2}, a, b, c);
  const std::vector<uint32_t> expected = {0,          0x38003800, 0x38003800, 0x04000400,
                                          0x00008000, 0,          0,          0x00008000};
  EXPECT_EQ(device.download(c, 8), expected);
}

TEST_P(ExecModes, DenormalHalvesOfMixedProducts) {
  Device device(flushing());
  // 2^-14 squared, and 2^-15 or 2^-14.
  const uint32_t* a = device.upload(std::vector<uint32_t>{0x0400, 0x0400});
  const float* b = device.upload(std::vector<float>{0x1p-15f, 0x1p-14f});
  uint32_t* c = device.allocate<uint32_t>(2);
  device.run("mixed", {.grid = 1, .block = 2}, a, b, c);
  const std::vector<uint32_t> expected = {0x80000000, 0x84000400};
  EXPECT_EQ(device.download(c, 2), expected);
}

// gfx942's number of its XCC; from gfx10 on half of a base of private memory; nothing elsewhere.
TEST_P(ExecModes, RegisterTwenty) {
  Device device(chip, compile(kRegisters, chip));
  uint32_t* c = device.upload(std::vector<uint32_t>{7});
  if (chip == "gfx906" || chip == "gfx90a") {
    try {
      device.run("register_20", {.grid = 1, .block = 1}, c);
      ADD_FAILURE() << "no fault was found";
    } catch (const Fault& f) {
      EXPECT_EQ(f.kind, Fault::Kind::Unsupported);
      EXPECT_NE(std::string(f.what()).find("hardware register 20"), std::string::npos) << f.what();
    }
    return;
  }
  device.run("register_20", {.grid = 1, .block = 1}, c);
  if (chip == "gfx942") {
    EXPECT_EQ(device.download(c, 1)[0], 0u);
  }
}

TEST_P(ExecModes, CyclesOf64Bits) {
  if (chip.starts_with("gfx11")) GTEST_SKIP() << "20 bits on gfx11";
  Device device(chip, compile(kRegisters, chip));
  const auto now = [] { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); };
  uint64_t* c = device.allocate<uint64_t>(1);
  const uint64_t before = now();
  device.run("clock", {.grid = 1, .block = 1}, c);
  EXPECT_GE(c[0], before);
  EXPECT_LE(c[0], now());
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecModes,
                         testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
