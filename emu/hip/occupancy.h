// SPDX-License-Identifier: Apache-2.0
// How many work-groups of a kernel fit on one multiprocessor at once, by registers, LDS and wave slots.
#pragma once

#include <cstdint>

#include "emu/code_object.h"

namespace emu::hip {

struct Occupancy {
  uint32_t groups;          // on one multiprocessor
  uint32_t waves_per_simd;  // then resident at most
  const char* limit = "";   // what allows no more: "slots", "vgprs", "sgprs" or "lds"
};

/// block: work-items of a group; dynamic_lds in bytes. 0 groups when it cannot run at all.
Occupancy occupancy(const Kernel& kernel, uint32_t block, uint32_t dynamic_lds);

}  // namespace emu::hip
