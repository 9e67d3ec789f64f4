// SPDX-License-Identifier: Apache-2.0
// What a worker watches while it runs waves: which registers hold something, and what memory accesses touch.
#pragma once
#include "emu/exec/machine.h"
#include "emu/exec/program.h"
#include "emu/exec/race.h"
#include "emu/exec/run.h"
#include "emu/exec/waits.h"

namespace emu::exec {

struct Checker {
  Memory* memory;
  Check level;
  // One byte for each byte of LDS and of a wave's private memory: 1 = initialized. Parallel to the segments.
  uint8_t* lds_initialized = nullptr;
  Waits* waits = nullptr;         // by wave; only for strict waits
  LdsRaces* lds_races = nullptr;  // only when races are looked for
  RaceTable* races = nullptr;
};

/// Before an operation: registers that it needs must be initialized; its destinations become so where its
/// sources are. Undefined values may be copied and computed with; they are a fault as addresses, as stored
/// data and as conditions of branches.
void check_registers(Wave& wave, const Op* op);

/// Adds what the operation is about to do to memory (count.cc).
void count_memory(const Wave& wave, const Op* op, Counters& counters);

}  // namespace emu::exec
