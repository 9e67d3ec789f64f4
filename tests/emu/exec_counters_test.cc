// SPDX-License-Identifier: Apache-2.0
// Counters against kernels whose counts are known: instructions by class, bytes by memory, bank conflicts of
// LDS, cache lines of an access, occupancy.
#include <gtest/gtest.h>

#include "emu/hip/occupancy.h"
#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace {

using namespace emu;

struct Dialect {
  std::string chip, ds_load, ds_load128, ds_two, wait;
  uint32_t lanes;
};
const Dialect kDialects[] = {
    {"gfx1100", "ds_load_b32", "ds_load_b128", "ds_load_2addr_b32", "s_waitcnt lgkmcnt(0)", 32},
    {"gfx90a", "ds_read_b32", "ds_read_b128", "ds_read2_b32", "s_waitcnt lgkmcnt(0)", 64},
};

// One wave; what `with` counts beyond `without`, whose assembly is empty.
Counters difference(test::Device& device, const std::string& with, const std::string& without,
                    uint32_t lanes) {
  Counters counts[2];
  for (int i = 0; i < 2; ++i) {
    device.counters = Counters();
    float* p = device.upload(std::vector<float>(64, 1.0f));
    device.run(i == 0 ? with : without, {.grid = 1, .block = lanes}, p);
    counts[i] = device.counters;
  }
#define EMU_COUNTER(name, text) counts[0].name -= counts[1].name;
#include "emu/exec/counters.def"
  return counts[0];
}

TEST(ExecCounters, InstructionsByClass) {
  EMU_NEEDS_CLANG();
  for (const Dialect& d : kDialects) {
    SCOPED_TRACE(d.chip);
    const auto kernel = [](const std::string& name, const std::string& body) {
      return "extern \"C\" __global__ void " + name +
             "(float* p) {\n  float x = p[thread_x()];\n  double y = x;\n  int c = thread_x();\n  asm "
             "volatile(\"" +
             body +
             "\" : \"+v\"(x), \"+v\"(y), \"+v\"(c) : : \"s20\", \"scc\", \"memory\");\n"
             "  p[thread_x()] = x + (float)y + c;\n}\n";
    };
    const std::string body =
        "s_mov_b32 s20, 1\\n"
        "v_add_f32 %0, %0, %0\\nv_add_f32 %0, %0, %0\\nv_mul_f32 %0, %0, %0\\n"
        "v_exp_f32 %0, %0\\nv_rcp_f32 %0, %0\\n"
        "v_fma_f64 %1, %1, %1, %1\\n"
        "v_dot2_f32_f16 %0, %2, %2, %0\\n"
        "ds_swizzle_b32 %2, %2 offset:0x8055\\n" +
        d.wait +
        "\\n"
        "s_add_u32 s20, s20, s20\\ns_add_u32 s20, s20, s20\\n"
        "s_nop 0\\n";
    test::Device device(d.chip, test::compile(kernel("with", body) + kernel("without", ""), d.chip));
    const Counters c = difference(device, "with", "without", d.lanes);
    EXPECT_EQ(c.valu, 8u);
    EXPECT_EQ(c.transcendental, 2u);
    EXPECT_EQ(c.f64, 1u);
    EXPECT_EQ(c.dot, 1u);
    EXPECT_EQ(c.cross_lane, 1u);
    EXPECT_EQ(c.salu, 3u);
    EXPECT_EQ(c.waits, 1u);
    EXPECT_EQ(c.other, 2u);
    EXPECT_EQ(c.matrix + c.vmem + c.smem + c.lds + c.branch + c.barriers, 0u);
    EXPECT_EQ(c.instructions(), 13u);
  }
}

TEST(ExecCounters, MemoryByClass) {
  EMU_NEEDS_CLANG();
  for (const Dialect& d : kDialects) {
    SCOPED_TRACE(d.chip);
    test::Device device(d.chip, test::compile(R"(
extern "C" __global__ void move(const float* in, float* out, int* count) {
  __shared__ float lds[64];
  lds[thread_x()] = in[thread_x()];
  barrier();
  out[thread_x()] = lds[thread_x() ^ 1];
  __hip_atomic_fetch_add(count, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
)",
                                              d.chip, "-mllvm -amdgpu-atomic-optimizer-strategy=None"));
    float* in = device.upload(std::vector<float>(64, 1.0f));
    float* out = device.allocate<float>(64);
    int* count = device.upload(std::vector<int>(1, 0));
    device.run("move", {.grid = 1, .block = d.lanes}, in, out, count);
    const Counters& c = device.counters;
    const uint64_t bytes = 4 * d.lanes;
    EXPECT_EQ(c.launches, 1u);
    EXPECT_EQ(c.waves, 1u);
    EXPECT_EQ(c.vmem, 3u);
    EXPECT_EQ(c.atomics, 1u);
    EXPECT_EQ(c.accesses, 3u);
    // The atomic counts as a read and a write of each lane, on one line.
    EXPECT_EQ(c.global_read_bytes, 2 * bytes);
    EXPECT_EQ(c.global_write_bytes, 2 * bytes);
    EXPECT_EQ(c.cache_lines, 2 * bytes / 128 + 1);
    EXPECT_EQ(c.lds, 2u);
    EXPECT_EQ(c.lds_write_bytes, bytes);
    EXPECT_EQ(c.lds_read_bytes, bytes);
    EXPECT_EQ(c.lds_conflict_cycles, 0u);
    EXPECT_GE(c.smem, 1u);
    EXPECT_GE(c.scalar_read_bytes, 24u);
    EXPECT_EQ(device.download(count, 1)[0], int(d.lanes));
  }
}

// Words behind a buffer's end are not moved, and not counted.
TEST(ExecCounters, WordsInsideBuffers) {
  EMU_NEEDS_CLANG();
  for (const Dialect& d : kDialects) {
    SCOPED_TRACE(d.chip);
    test::Device device(d.chip, test::compile(R"(
typedef int i4 __attribute__((ext_vector_type(4)));
extern "C" __global__ void fours(int* a, int bytes, int flags, int offset, i4* out) {
  out[thread_x()] = __builtin_amdgcn_raw_buffer_load_b128(
      __builtin_amdgcn_make_buffer_rsrc(a, 0, bytes, flags), offset, 0, 0);
}
)",
                                              d.chip));
    int* a = device.upload(std::vector<int>(64, 1));
    int* out = device.allocate<int>(4 * 64);
    const auto read = [&](int bytes, int flags, int offset) {
      device.counters = Counters();
      device.run("fours", {.grid = 1, .block = d.lanes}, a, bytes, flags, offset, out);
      EXPECT_EQ(device.counters.global_write_bytes, 16 * d.lanes);
      return device.counters.global_read_bytes / d.lanes;
    };
    const int flags = d.chip == "gfx90a" ? 0x27000 : 0x31014000;
    EXPECT_EQ(read(56, flags, 0), 16u);
    EXPECT_EQ(read(56, flags, 48), 8u);
    EXPECT_EQ(read(56, flags, 56), 0u);
    EXPECT_EQ(read(56, flags, -8), 0u);
    if (d.chip == "gfx90a") continue;
    EXPECT_EQ(read(4, 2 << 28, 48), 16u);  // which checks nothing
  }
}

TEST(ExecCounters, LinesOfAnAccess) {
  EMU_NEEDS_CLANG();
  for (const Dialect& d : kDialects) {
    test::Device device(d.chip, test::compile(R"(
extern "C" __global__ void strided(const float* in, float* out, int stride) {
  out[thread_x()] = in[thread_x() * stride];
}
)",
                                              d.chip));
    float* in = device.upload(std::vector<float>(64 * 64, 1.0f));
    float* out = device.allocate<float>(64);
    const uint64_t written = d.lanes / 32;
    for (const auto& [stride, lines] :
         {std::pair{0, 1u}, {1, d.lanes / 32}, {2, d.lanes / 16}, {32, d.lanes}, {64, d.lanes}}) {
      SCOPED_TRACE(d.chip + " stride " + std::to_string(stride));
      device.counters = Counters();
      device.run("strided", {.grid = 1, .block = d.lanes}, in, out, stride);
      EXPECT_EQ(device.counters.accesses, 2u);
      EXPECT_EQ(device.counters.cache_lines, lines + written);
      EXPECT_EQ(device.counters.global_read_bytes, 4 * d.lanes);
    }
  }
}

TEST(ExecCounters, BankConflicts) {
  EMU_NEEDS_CLANG();
  for (const Dialect& d : kDialects) {
    const auto kernel = [&](const std::string& name, const std::string& load, const std::string& type) {
      return "extern \"C\" __global__ void " + name +
             "(float* p, int stride) {\n  __shared__ int lds[8192];\n"
             "  for (int i = thread_x(); i < 8192; i += block_size_x()) lds[i] = 1;\n"
             "  int at = thread_x() * stride * 4;\n  " +
             type + " c;\n  asm volatile(\"" + load + "\\n" + d.wait +
             "\" : \"=v\"(c) : \"v\"(at) : \"memory\");\n  p[thread_x()] = *(int*)&c + lds[thread_x()];\n}\n";
    };
    test::Device device(d.chip,
                        test::compile("typedef int Four __attribute__((ext_vector_type(4)));\n" +
                                          kernel("one", d.ds_load + " %0, %1", "int") +
                                          kernel("four", d.ds_load128 + " %0, %1", "Four") +
                                          kernel("two", d.ds_two + " %0, %1 offset0:0 offset1:1", "double"),
                                      d.chip));
    float* p = device.allocate<float>(64);
    const auto conflicts = [&](const char* name, int stride) {
      device.counters = Counters();
      device.run(name, {.grid = 1, .block = d.lanes}, p, stride);
      return device.counters.lds_conflict_cycles;
    };
    SCOPED_TRACE(d.chip);
    // 32 lanes at once, of a wave's 32 or 64.
    const uint64_t passes = d.lanes / 32;
    EXPECT_EQ(conflicts("one", 0), 0u);
    EXPECT_EQ(conflicts("one", 1), 0u);
    EXPECT_EQ(conflicts("one", 2), 1 * passes);
    EXPECT_EQ(conflicts("one", 3), 0u);
    EXPECT_EQ(conflicts("one", 4), 3 * passes);
    EXPECT_EQ(conflicts("one", 32), 31 * passes);
    EXPECT_EQ(conflicts("one", 33), 0u);
    // Two accesses of the same shape.
    EXPECT_EQ(conflicts("two", 1), 0u);
    EXPECT_EQ(conflicts("two", 2), 2 * passes);
    // Eight lanes at once: 32 words; 8 words apart every second bank's group is hit twice.
    EXPECT_EQ(conflicts("four", 4), 0u);
    EXPECT_EQ(conflicts("four", 8), 1 * passes * 4);
    EXPECT_EQ(conflicts("four", 32), 7 * passes * 4);
  }
}

// By hand from LLVM's AMDGPU usage guide: registers of a SIMD, what is handed out at once, slots.
TEST(ExecCounters, Occupancy) {
  const auto fits = [](const char* chip, uint32_t vgprs, uint32_t agprs, uint32_t lds, uint32_t block) {
    Kernel kernel;
    kernel.chip = find_chip(chip);
    kernel.wavefront_size = kernel.chip->wave_size();
    kernel.max_flat_workgroup_size = 1024;
    kernel.vgpr_count = vgprs;
    kernel.agpr_count = agprs;
    kernel.sgpr_count = 32;
    kernel.group_segment_bytes = lds;
    const hip::Occupancy o = hip::occupancy(kernel, block, 0);
    return std::to_string(o.waves_per_simd) + " " + o.limit;
  };
  // 1536 registers, 24 at once: 96 for each of 16 waves; 97 take 120, 1536 / 120 = 12; 256 take 264,
  // 1536 / 264 = 5, of which groups of 8 waves over 4 SIMDs fill 4.
  EXPECT_EQ(fits("gfx1100", 96, 0, 0, 256), "16 slots");
  EXPECT_EQ(fits("gfx1100", 97, 0, 0, 256), "12 vgprs");
  EXPECT_EQ(fits("gfx1100", 256, 0, 0, 128), "5 vgprs");
  EXPECT_EQ(fits("gfx1100", 256, 0, 0, 256), "4 vgprs");
  // 1024 registers, 8 at once: 65 take 72, 1024 / 72 = 14.
  EXPECT_EQ(fits("gfx1030", 64, 0, 0, 256), "16 slots");
  EXPECT_EQ(fits("gfx1030", 65, 0, 0, 128), "14 vgprs");
  // 512 registers of both kinds, 8 at once: 64 for each of 8 waves; 60 + 8 take 72, 512 / 72 = 7.
  EXPECT_EQ(fits("gfx90a", 64, 0, 0, 256), "8 slots");
  EXPECT_EQ(fits("gfx90a", 68, 8, 0, 256), "7 vgprs");
  EXPECT_EQ(fits("gfx90a", 512, 256, 0, 256), "1 vgprs");
  // 256 registers, 4 at once, 10 slots: 25 take 28, 256 / 28 = 9.
  EXPECT_EQ(fits("gfx906", 24, 0, 0, 256), "10 slots");
  EXPECT_EQ(fits("gfx906", 25, 0, 0, 256), "9 vgprs");
  // 64 KiB of LDS a unit: three groups of four waves over four SIMDs; two units on RDNA: six groups of eight
  // waves over four SIMDs.
  EXPECT_EQ(fits("gfx90a", 32, 0, 20480, 256), "3 lds");
  EXPECT_EQ(fits("gfx1100", 32, 0, 20480, 256), "12 lds");
}

}  // namespace
