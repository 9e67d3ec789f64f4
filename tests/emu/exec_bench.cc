// SPDX-License-Identifier: Apache-2.0
// Speed of the interpreter by class of instruction: wave instructions per second on one thread, for each
// checking level. Usage: emu_exec_bench [chip]
#include <chrono>
#include <cstdio>
#include <exception>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace {

using namespace emu;

// Each kernel runs its body `n` times; the body is 64 instructions of one class.
std::string kernel(const std::string& name, const std::string& setup, const std::string& body,
                   const std::string& clobbers) {
  return "extern \"C\" __global__ void " + name +
         "(float* p, int n) {\n  __shared__ int lds[1024];\n  float x = p[thread_x()], y = x + 1.0f, z = "
         "0;\n  double d = x, e = y;\n"
         "  int a = thread_x() * 4, b = 3, c = 0;\n  lds[thread_x()] = 1;\n  " +
         setup +
         "\n  for (int i = 0; i < n; ++i) {\n#pragma unroll\n    for (int k = 0; k < 64; ++k) asm "
         "volatile(\"" +
         body + "\" " + clobbers +
         ");\n  }\n  p[thread_x()] = x + y + z + (float)(d + e) + a + b + c + lds[thread_x()];\n}\n";
}

void measure(const std::string& chip, const char* name, test::Device& device, float* block) {
  std::printf("%-10s", name);
  for (const Check check : {Check::None, Check::Bounds, Check::Race, Check::Strict}) {
    device.options.check = check;
    device.options.threads = 1;
    const int n = 2000;
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const auto start = std::chrono::steady_clock::now();
      device.run(name, {.grid = 1, .block = find_chip(chip)->wave_size()}, block, n);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf(" %10.1f", 64.0 * n / best / 1e6);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string chip = argc > 1 ? argv[1] : "gfx1100";
  const bool old = chip.starts_with("gfx9") || chip.starts_with("gfx10");
  const std::string add = chip.starts_with("gfx9") ? "v_add_u32" : "v_add_nc_u32";
  const std::string load = old ? "ds_read_b32" : "ds_load_b32",
                    global = old ? "global_load_dword" : "global_load_b32";
  const std::string wait =
      chip.starts_with("gfx12") ? "s_wait_dscnt 0\\ns_wait_loadcnt 0" : "s_waitcnt vmcnt(0) lgkmcnt(0)";
  std::string source;
  source += kernel("add_f32", "", "v_add_f32 %0, %0, %1", ": \"+v\"(x) : \"v\"(y)");
  source += kernel("fma_f32", "", "v_fma_f32 %0, %1, %1, %0", ": \"+v\"(x) : \"v\"(y)");
  source += kernel("add_u32", "", add + " %0, %0, %1", ": \"+v\"(a) : \"v\"(b)");
  source += kernel("scalar_op", "", "v_mul_f32 %0, %1, %0", ": \"+v\"(x) : \"s\"(n)");
  source +=
      kernel("compare", "",
             "v_cmp_lt_f32 vcc" + std::string(find_chip(chip)->wave_size() == 32 ? "_lo" : "") + ", %0, %1",
             ": : \"v\"(x), \"v\"(y) : \"vcc\"");
  source += kernel("fma_f16", "", "v_pk_fma_f16 %0, %0, %1, %1", ": \"+v\"(a) : \"v\"(b)");
  source += kernel("fma_f64", "", "v_fma_f64 %0, %1, %1, %0", ": \"+v\"(d) : \"v\"(e)");
  source += kernel("exp_f32", "", "v_exp_f32 %0, %1", ": \"=v\"(x) : \"v\"(y)");
  source += kernel("salu", "", "s_add_u32 s20, s20, s21", ": : : \"s20\", \"scc\"");
  source += kernel("lds_load", "", load + " %0, %1\\n" + wait, ": \"=v\"(c) : \"v\"(a) : \"memory\"");
  source += kernel("load", "", global + " %0, %1, off\\n" + wait,
                   ": \"=v\"(c) : \"v\"(p + thread_x()) : \"memory\"");
  test::Device device(chip, test::compile(source, chip));
  float* block = device.upload(std::vector<float>(1024, 1.0f));
  std::printf("%s, million wave instructions a second\n%-10s %10s %10s %10s %10s\n", chip.c_str(), "",
              "unchecked", "bounds", "race", "strict");
  for (const char* name : {"add_f32", "fma_f32", "add_u32", "scalar_op", "compare", "fma_f16", "fma_f64",
                           "exp_f32", "salu", "lds_load", "load"})
    measure(chip, name, device, block);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
