// SPDX-License-Identifier: Apache-2.0
// Frames of functions on the stack in private memory: arrays whose addresses are handed on, through many
// frames, as the function that made them sees them.
#include <gtest/gtest.h>

#include "emu/support/compile.h"
#include "emu/support/launcher.h"

namespace emu::test {
namespace {

const char* const kSource = R"kernels(
#define KERNEL extern "C" __global__ void
#define FUNCTION static __device__ __attribute__((noinline))
FUNCTION int total(const int* p, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}
FUNCTION void fill(int* p, int n, int from, int step) {
  for (int i = 0; i < n; ++i) p[i] = from + i * step;
}
FUNCTION int frames(int x, int depth) {
  int mine[20];
  fill(mine, 20, x, depth);
  const int below = depth == 0 ? 0 : frames(x + 1, depth - 1);
  return below + total(mine, 20);
}
KERNEL recursion(int* c, int depth) { c[global_x()] = frames(global_x(), depth); }
FUNCTION int innermost(const int* outer, int n) {
  int mine[24];
  fill(mine, 24, n, 1);
  return total(mine, 24) * 1000 + total(outer, 24);
}
FUNCTION int inner(int x) {
  int mine[24];
  fill(mine, 24, x, 2);
  return innermost(mine, 3);
}
KERNEL calls(int* c, int) {
  int mine[24];
  fill(mine, 24, global_x(), 3);
  const int below = inner(global_x());
  c[global_x()] = below + total(mine, 24);
}
)kernels";

int sum(int from, int n, int step) { return n * from + step * n * (n - 1) / 2; }

class ExecStack : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ExecStack, FramesAreApart) {
  EMU_NEEDS_CLANG();
  const auto& [chip, options] = GetParam();
  Device device(chip, compile(kSource, chip, options));
  int* c = device.allocate<int>(128);
  for (const int depth : {0, 1, 5, 40}) {
    device.run("recursion", {.grid = 2, .block = 64}, c, depth);
    for (int i = 0; i < 128; ++i) {
      int expected = 0;
      for (int level = 0; level <= depth; ++level) expected += sum(i + level, 20, depth - level);
      ASSERT_EQ(c[i], expected) << depth << " " << i;
    }
  }
  device.run("calls", {.grid = 2, .block = 64}, c, 0);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(c[i], sum(3, 24, 1) * 1000 + sum(i, 24, 2) + sum(i, 24, 3)) << i;
}

// A stack that grows without end leaves the lane's memory.
TEST_P(ExecStack, Overflow) {
  EMU_NEEDS_CLANG();
  const auto& [chip, options] = GetParam();
  Device device(chip, compile(kSource, chip, options));
  int* c = device.allocate<int>(64);
  try {
    device.run("recursion", {.grid = 1, .block = 64}, c, 100000);
    ADD_FAILURE() << "no fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::OutOfBounds) << fault.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ExecStack,
                         testing::Combine(testing::Values("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100",
                                                          "gfx1201"),
                                          testing::Values("-O0", "-O2")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + (std::get<1>(info.param) + 1);
                         });

}  // namespace
}  // namespace emu::test
