// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/matrix_units.h"

#include <algorithm>
#include <iterator>

namespace beeswax::gpu {
namespace {

struct Family {
  std::string_view chip;
  uint32_t units;
};
constexpr uint32_t kNarrow = kHalfUnit | kByteUnit;
// gfx908's are the first MFMA, without f64; only gfx940 to gfx942 have xf32. RDNA has WMMA from gfx11 on.
constexpr Family kFamilies[] = {
    {"gfx908", kNarrow},
    {"gfx90a", kNarrow | kF64Unit},
    {"gfx940", kNarrow | kF64Unit | kTf32Unit},
    {"gfx941", kNarrow | kF64Unit | kTf32Unit},
    {"gfx942", kNarrow | kF64Unit | kTf32Unit},
    {"gfx950", kNarrow | kF64Unit},
    {"gfx1100", kNarrow},
    {"gfx1101", kNarrow},
    {"gfx1102", kNarrow},
    {"gfx1103", kNarrow},
    {"gfx1150", kNarrow},
    {"gfx1151", kNarrow},
    {"gfx1152", kNarrow},
    {"gfx1200", kNarrow},
    {"gfx1201", kNarrow},
};

}  // namespace

uint32_t matrix_units(std::string_view name) {
  // Kernels for NVIDIA are for sm_80 and later, which have all of them.
  if (name.starts_with("sm_") || name.starts_with("ptx_")) return kNarrow | kF64Unit | kTf32Unit;
  const auto* const found = std::ranges::find(kFamilies, name, &Family::chip);
  return found != std::end(kFamilies) ? found->units : 0;
}

}  // namespace beeswax::gpu
