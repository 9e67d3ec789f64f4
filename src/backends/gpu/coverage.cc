// SPDX-License-Identifier: Apache-2.0
// What to do about a chip without kernels. Which chips other builds have code for is cmake/kernels.cmake's to
// say: BW_ALL_CHIPS are those of AMD that BW_GPU_TARGETS=all names, separated by spaces.
#include "backends/gpu/coverage.h"

#include <charconv>

#include "backends/gpu/bundle.h"
#include "backends/gpu/rtc/compile.h"
#include "core/fail.h"

namespace beeswax::gpu {
namespace {

constexpr std::string_view kAllChips = " " BW_ALL_CHIPS " ";
constexpr std::string_view kNvidia = "sm_";
constexpr int kOldestNvidia = 80;  // what the PTX of a bundle is for

// The number of one of NVIDIA's chips, or 0.
int nvidia_chip(std::string_view arch) {
  int number = 0;
  if (arch.starts_with(kNvidia))
    std::from_chars(arch.data() + kNvidia.size(), arch.data() + arch.size(), number);
  return number;
}

}  // namespace

std::string why_uncovered(std::string_view arch) {
  const std::string here = join_text(arch, ", for which this build has no kernels; ");
  if (nvidia_chip(arch) >= kOldestNvidia)
    return here + "build it with the target ptx_80, as it is by default";
  if (!rtc::written_for(arch))
    return join_text(
        arch, ", for which no build has kernels: they are written for AMD's gfx9 to gfx12 and NVIDIA's sm_",
        kOldestNvidia, " and later");
  std::string ways;
  if (kAllChips.find(join_text(" ", arch, " ")) != std::string_view::npos)
    ways = "one with -DBW_GPU_TARGETS=all, by a clang++ that knows this chip, has them";
  if (!Bundle::embedded().targets().empty()) {
    ways += join_text(ways.empty() ? "a" : ", and a",
                      " compiler makes them when they are first used, but none is here: ");
    ways += rtc::clang_compiler().refusal(arch) + "; " + rtc::vendor_compiler(arch).refusal(arch);
  }
  return here +
         (ways.empty() ? "a build with any of AMD's targets compiles them where clang++ is installed" : ways);
}

}  // namespace beeswax::gpu
