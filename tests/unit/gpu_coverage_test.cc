// SPDX-License-Identifier: Apache-2.0
// What is said of chips without kernels: only what is so.
#include "backends/gpu/coverage.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/gpu/bundle.h"
#include "backends/gpu/rtc/compiler.h"
#include "support/apart.h"

namespace beeswax::gpu {
namespace {

// Where no compiler is installed.
std::string said_of(const char* arch) {
  return test::run_apart([&] {
    ::setenv("BEESWAX_CLANG", "/nowhere/clang++", 1);
    ::setenv("BEESWAX_HIPRTC_LIBRARY", "/nowhere/libhiprtc.so", 1);
    return why_uncovered(arch);
  });
}

TEST(WhyUncovered, OfChipsThatNoBuildHas) {
  for (const char* chip : {"gfx803", "sm_75", "gfx1300"})
    EXPECT_EQ(said_of(chip), std::string(chip) +
                                 ", for which no build has kernels: they are written for AMD's "
                                 "gfx9 to gfx12 and NVIDIA's sm_80 and later");
}

TEST(WhyUncovered, OfChipsThatOthersHave) {
  EXPECT_EQ(
      said_of("sm_120"),
      "sm_120, for which this build has no kernels; build it with the target ptx_80, as it is by default");
  if (Bundle::embedded().targets().empty()) GTEST_SKIP() << "built without kernels";
  for (const std::string chip : {"gfx1012", "gfx90c"}) {
    const std::string said = said_of(chip.c_str());
    EXPECT_TRUE(said.starts_with(chip + ", for which this build has no kernels; ")) << said;
    EXPECT_NE(
        said.find(
            "compiler makes them when they are first used, but none is here: no clang++ is installed; "),
        std::string::npos)
        << said;
    EXPECT_NE(said.find("/nowhere/libhiprtc.so"), std::string::npos) << said;
    // A build with all targets has the one, and no build has the other.
    EXPECT_EQ(said.find("-DBW_GPU_TARGETS=all") != std::string::npos, chip == "gfx90c") << said;
  }
}

TEST(WhyUncovered, OfChipsThatACompilerDoesNotKnow) {
  const rtc::Compiler& clang = rtc::clang_compiler();
  if (!clang.refusal("sm_80").empty()) GTEST_SKIP() << clang.refusal("sm_80");
  EXPECT_EQ(clang.refusal("gfx1100"), "");
  for (const std::string chip : {"gfx1299", "gfx110"})
    EXPECT_EQ(clang.refusal(chip), clang.title() + " does not know " + chip);
}

}  // namespace
}  // namespace beeswax::gpu
