// SPDX-License-Identifier: Apache-2.0
// Data races: two accesses of one place, at least one of them a write that is not atomic, with nothing
// between them that orders them. In a work-group barriers order; between groups an atomic after the first
// access together with an atomic before the second one is taken for a hand-over, so that counters of finished
// groups are no false alarm.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "emu/exec/machine.h"
#include "emu/exec/run.h"

namespace emu::exec {

struct LastAccess {
  uint32_t group = 0;  // plus one; 0: none
  uint32_t wave = 0, epoch = 0, atomics = 0;
  uint8_t bytes = 0;  // of the word, as a mask
  bool atomic = false;
};

/// One word's last write and last read.
struct RaceCell {
  std::atomic<bool> busy{false};
  uint64_t word = ~uint64_t(0);
  LastAccess write, read;
};

/// Words of device memory, by a hash: a word that falls out of its cell is forgotten, so races may be missed,
/// never invented.
class RaceTable {
 public:
  explicit RaceTable(uint64_t groups) : cells_(kCells), atomics_(groups) {}
  void access(Wave& wave, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
              Memory::Access kind);

 private:
  static constexpr size_t kCells = size_t(1) << 17;
  std::vector<RaceCell> cells_;
  std::vector<std::atomic<uint32_t>> atomics_;  // by group: how many instructions with atomics it has run
};

/// The same for one group's LDS: a cell for each word.
class LdsRaces {
 public:
  void reset(uint32_t bytes);
  void access(Wave& wave, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
              Memory::Access kind);

 private:
  struct Cell {
    LastAccess write, read;
  };
  std::vector<Cell> cells_;
};

}  // namespace emu::exec
