// SPDX-License-Identifier: Apache-2.0
// gfx12's transposing loads. Which lane gets what: for 16 bits the formula of AMD's "RDNA4 WMMA transpose
// load builtins" (rows and columns of an 8 x 32 tile), for 8 bits the permutation of consecutive bytes that
// was measured on gfx1201; then, with AMD's matrix tables, products whose A lies in memory by columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef float f8 __attribute__((ext_vector_type(8)));
#define WAIT "\n\ts_wait_loadcnt 0x0"
// Lane i reads from byte places[i] of a on.
KERNEL wide(const char* a, const int* places, i4* c) {
  i4 x;
  asm volatile("global_load_tr_b128 %0, %1, off" WAIT : "=v"(x) : "v"(a + places[thread_x()]) : "memory");
  c[thread_x()] = x;
}
KERNEL wide_by_base(const char* a, const int* places, i4* c) {
  i4 x;
  asm volatile("global_load_tr_b128 %0, %1, %2 offset:-16" WAIT
               : "=&v"(x)
               : "v"(places[thread_x()]), "s"(a + 16)
               : "memory");
  c[thread_x()] = x;
}
KERNEL narrow(const char* a, const int* places, i2* c) {
  i2 x;
  asm volatile("global_load_tr_b64 %0, %1, off" WAIT : "=v"(x) : "v"(a + places[thread_x()]) : "memory");
  c[thread_x()] = x;
}
KERNEL into_its_address(const char* a, const int* places, i2* c) {
  const char* x = a + places[thread_x()];
  asm volatile("global_load_tr_b64 %0, %0, off" WAIT : "+v"(x) : : "memory");
  c[thread_x()] = __builtin_bit_cast(i2, x);
}
// a: 16 x 16 by columns; b: 16 x 16 by rows; element k of a lane's operands is as AMD's tables have it.
KERNEL product(const _Float16* a, const _Float16* b, float* d) {
  const int lane = thread_x();
  h8 x, y;
  const int column = lane % 8 / 4 * 8 + lane / 16 * 4 + lane % 4;
  asm volatile("global_load_tr_b128 %0, %1, off" WAIT
               : "=v"(x)
               : "v"(a + column * 16 + lane / 8 % 2 * 8)
               : "memory");
  for (int e = 0; e < 8; ++e) y[e] = b[(e / 4 * 8 + lane / 16 * 4 + e % 4) * 16 + lane % 16];
  f8 r = {};
  r = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, r);
  for (int e = 0; e < 8; ++e) d[(lane / 16 * 8 + e) * 16 + lane % 16] = r[e];
}
typedef int i8 __attribute__((ext_vector_type(8)));
KERNEL product_of_bytes(const char* a, const char* b, int* d) {
  const int lane = thread_x();
  i2 x, y;
  const int column = lane / 16 * 8 + lane / 8 % 2 * 4 + lane % 4;
  asm volatile("global_load_tr_b64 %0, %1, off" WAIT
               : "=v"(x)
               : "v"(a + column * 16 + lane / 4 % 2 * 8)
               : "memory");
  for (int n = 0; n < 2; ++n) {
    y[n] = 0;
    for (int e = 0; e < 4; ++e) y[n] |= (b[(lane / 16 * 8 + n * 4 + e) * 16 + lane % 16] & 255) << (8 * e);
  }
  i8 r = {};
  r = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, x, true, y, r, false);
  for (int e = 0; e < 8; ++e) d[(lane / 16 * 8 + e) * 16 + lane % 16] = r[e];
}
KERNEL with_some_lanes(const char* a, int* c, int mask) {
  int x, saved;
  asm volatile(
      "v_mov_b32 v40, 7\n\tv_mov_b32 v41, 8\n\ts_mov_b32 %1, exec_lo\n\ts_mov_b32 exec_lo, %3\n\t"
      "global_load_tr_b64 v[40:41], %2, off" WAIT "\n\ts_mov_b32 exec_lo, %1\n\tv_mov_b32 %0, v40"
      : "=v"(x), "=&s"(saved)
      : "v"(a + 8 * thread_x()), "s"(mask)
      : "v40", "v41", "memory");
  c[thread_x()] = x;
}
KERNEL without_wait(const char* a, int* c) {
  int x;
  asm volatile("global_load_tr_b64 v[40:41], %1, off\n\tv_add_nc_u32 %0, 1, v41" WAIT
               : "=&v"(x)
               : "v"(a + 8 * thread_x())
               : "v40", "v41", "memory");
  c[thread_x()] = x;
}
)kernels";

class ExecTransposed : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    EMU_NEEDS_CLANG();
    device = std::make_unique<Device>(GetParam(), compile(kSource, GetParam()));
    device->options.check = Check::Strict;
  }
  /// The fault of a launch; its kind, and what it says.
  template <class... A>
  std::pair<Fault::Kind, std::string> fault_of(const std::string& kernel, const A&... arguments) {
    try {
      device->run(kernel, {.grid = 1, .block = 32}, arguments...);
    } catch (const Fault& fault) {
      return {fault.kind, std::string(fault.what()) + " in " + fault.instruction};
    }
    return {Fault::Kind::Trap, "no fault"};
  }
  std::unique_ptr<Device> device;
  std::mt19937 random{12};
};

TEST_P(ExecTransposed, ElementsOf16Bits) {
  // The guide's tile of 8 rows and 32 columns: lane t reads from row t / 4, column 8 (t % 4) on; its element
  // e then is the one of row t / 8 * 2 + e / 4, column e % 4 * 8 + t % 8. Pitches that 16 bytes do not divide
  // are fine too.
  for (const int pitch : {32, 40, 33}) {
    std::vector<uint16_t> a(size_t(8 * pitch));
    std::iota(a.begin(), a.end(), uint16_t(100));
    std::shuffle(a.begin(), a.end(), random);
    std::vector<int> places(32);
    for (int t = 0; t < 32; ++t) places[size_t(t)] = 2 * (t / 4 * pitch + t % 4 * 8);
    const uint16_t* in = device->upload(a);
    const int* at = device->upload(places);
    for (const char* kernel : {"wide", "wide_by_base"}) {
      uint16_t* c = device->allocate<uint16_t>(32 * 8);
      device->run(kernel, {.grid = 1, .block = 32}, in, at, c);
      const std::vector<uint16_t> got = device->download(c, 32 * 8);
      for (int t = 0; t < 32; ++t)
        for (int e = 0; e < 8; ++e)
          EXPECT_EQ(got[size_t(8 * t + e)], a[size_t((t / 8 * 2 + e / 4) * pitch + e % 4 * 8 + t % 8)])
              << kernel << " pitch " << pitch << " lane " << t << " element " << e;
    }
  }
}

TEST_P(ExecTransposed, ElementsOf8Bits) {
  // Measured: with lane L at byte 8 L, byte s of lane L is byte
  // L % 8 + 32 (L / 8 % 2) + 128 (L / 16) + 8 (s % 4) + 64 (s / 4).
  std::vector<uint8_t> a(256);
  std::iota(a.begin(), a.end(), uint8_t(0));
  std::shuffle(a.begin(), a.end(), random);
  std::vector<int> places(32);
  for (int lane = 0; lane < 32; ++lane) places[size_t(lane)] = 8 * lane;
  const uint8_t* in = device->upload(a);
  const int* at = device->upload(places);
  for (const char* kernel : {"narrow", "into_its_address"}) {
    uint8_t* c = device->allocate<uint8_t>(256);
    device->run(kernel, {.grid = 1, .block = 32}, in, at, c);
    const std::vector<uint8_t> got = device->download(c, 256);
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t s = 0; s < 8; ++s)
        EXPECT_EQ(got[8 * lane + s],
                  a[lane % 8 + 32 * (lane / 8 % 2) + 128 * (lane / 16) + 8 * (s % 4) + 64 * (s / 4)])
            << kernel << " lane " << lane << " byte " << s;
  }
}

TEST_P(ExecTransposed, FeedsMatrixInstructions) {
  std::vector<_Float16> a(256), b(256);
  std::vector<int8_t> small_a(256), small_b(256);
  for (size_t i = 0; i < 256; ++i) {
    small_a[i] = int8_t(random());
    small_b[i] = int8_t(random());
    a[i] = _Float16(int8_t(random()) / 8.0f);
    b[i] = _Float16(int8_t(random()) / 8.0f);
  }
  float* d = device->allocate<float>(256);
  device->run("product", {.grid = 1, .block = 32}, device->upload(a), device->upload(b), d);
  int* small_d = device->allocate<int>(256);
  device->run("product_of_bytes", {.grid = 1, .block = 32}, device->upload(small_a), device->upload(small_b),
              small_d);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 16; ++j) {
      double sum = 0;  // exact: multiples of 1/64 below 2^18
      int small = 0;
      for (size_t k = 0; k < 16; ++k) {
        sum += double(a[16 * k + i]) * double(b[16 * k + j]);
        small += small_a[16 * k + i] * small_b[16 * k + j];
      }
      EXPECT_EQ(double(device->download(d, 256)[16 * i + j]), sum) << i << " " << j;
      EXPECT_EQ(device->download(small_d, 256)[16 * i + j], small) << i << " " << j;
    }
}

TEST_P(ExecTransposed, Faults) {
  const uint8_t* in = device->upload(std::vector<uint8_t>(256, 1));
  int* c = device->allocate<int>(64);
  // No lane at all: nothing happens.
  device->run("with_some_lanes", {.grid = 1, .block = 32}, in, c, 0);
  EXPECT_EQ(device->download(c, 1)[0], 7);
  device->run("with_some_lanes", {.grid = 1, .block = 32}, in, c, -1);
  EXPECT_EQ(device->download(c, 1)[0], 0x01010101);
  const auto [kind, text] = fault_of("with_some_lanes", in, c, 0x7fffffff);
  EXPECT_EQ(kind, Fault::Kind::Unsupported);
  EXPECT_NE(text.find("all lanes of the wave"), std::string::npos) << text;
  EXPECT_NE(text.find("global_load_tr_b64"), std::string::npos) << text;
  EXPECT_EQ(fault_of("without_wait", in, c).first, Fault::Kind::MissingWait);
  std::vector<int> places(32, 0);
  places[9] = 252;
  EXPECT_EQ(fault_of("narrow", in, device->upload(places), c).first, Fault::Kind::OutOfBounds);
  const uint8_t* unwritten = device->allocate<uint8_t>(256);
  EXPECT_EQ(fault_of("narrow", unwritten, device->upload(std::vector<int>(32, 0)), c).first,
            Fault::Kind::Uninitialized);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecTransposed, testing::Values("gfx1200", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace emu::test
