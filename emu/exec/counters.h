// SPDX-License-Identifier: Apache-2.0
// Counters of one kernel, summed over launches.
#pragma once

#include <cstdint>

namespace emu {

struct Counters {
#define EMU_COUNTER(name, text) uint64_t name = 0;
#include "emu/exec/counters.def"

  Counters& operator+=(const Counters& more) {
#define EMU_COUNTER(name, text) name += more.name;
#include "emu/exec/counters.def"
    return *this;
  }
  /// Wave instructions of every class.
  uint64_t instructions() const { return valu + salu + matrix + vmem + smem + lds + branch + other; }
};

}  // namespace emu
