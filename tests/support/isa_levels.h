// SPDX-License-Identifier: Apache-2.0
// The instruction-set levels that this machine runs, for tests that compare them.
#pragma once

#include <vector>

#include "backends/cpu/isa.h"

namespace beeswax {

inline std::vector<cpu::Isa> all_levels() {
  std::vector<cpu::Isa> levels;
  for (const cpu::Isa level : {cpu::Isa::base, cpu::Isa::v3, cpu::Isa::v4})
    if (level <= cpu::best_isa()) levels.push_back(level);
  return levels;
}

}  // namespace beeswax
