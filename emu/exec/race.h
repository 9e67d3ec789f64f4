// SPDX-License-Identifier: Apache-2.0
// Data races: two accesses of one byte, at least one of them a write that is not atomic, with nothing
// between them that orders them. In a work-group barriers order; between groups an atomic after the first
// access together with an atomic before the second one is taken for a hand-over, so that counters of finished
// groups are no false alarm. Barriers of the whole grid order what their groups did before and do afterwards.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "emu/exec/machine.h"
#include "emu/exec/run.h"

namespace emu::exec {

/// Who touched bytes of a line, and which of them.
struct LineAccess {
  uint32_t group;  // plus one
  uint32_t epoch, atomics;
  uint16_t grid;  // how many barriers of the grid the group had come to
  uint8_t wave;
  bool atomic;
  uint64_t bytes;  // a mask
};

/// What is known of 64 bytes that lie together: for each byte the last write, the last reads of the waves of
/// one group since its last barrier, and the last few of other groups, as far as there is room; who is
/// forgotten is never accused.
struct RaceLine {
  static constexpr unsigned kBytes = 64, kWriters = 16, kReaders = 32, kOthers = 4;
  uint32_t writers, readers;
  LineAccess write[kWriters], read[kReaders];
};

/// Lines of device memory, by a hash: a line that falls out of its place is forgotten, so races may be
/// missed, never invented.
class RaceTable {
 public:
  /// host: its own memory is left out.
  explicit RaceTable(uint64_t groups, const HostSide* host = nullptr)
      : host_(host),
        places_(kPlaces),
        lines_(std::make_unique_for_overwrite<RaceLine[]>(kPlaces)),
        atomics_(groups),
        barriers_(groups) {}
  void access(Wave& wave, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
              Memory::Access kind);
  /// A plain read or write of a range, quickly. False where there is a race, which access() then reports.
  bool range(const Wave& wave, uint64_t address, uint32_t bytes, bool writes);
  /// This memory is a new block: what was done to it before is nothing to the new one.
  void forget(uint64_t address, uint64_t bytes);
  /// The group has come to a barrier of the grid; what it does next comes after that.
  void come_to_grid_barrier(uint32_t group);

 private:
  struct Place {
    std::atomic<bool> busy{false};
    uint64_t line = ~uint64_t(0);
  };
  class Locked;
  /// The memory between the host and the device library that holds the address; null for others.
  const HostSide::Range* own(uint64_t address) const;
  static constexpr size_t kPlaces = size_t(1) << 13;
  const HostSide* host_;
  std::vector<Place> places_;
  std::unique_ptr<RaceLine[]> lines_;  // of the places; nothing before a place has its line
  /// What is noted of an access by this wave now, but for its bytes.
  LineAccess access_now(const Wave& wave, bool atomic) const;
  /// Whether what another group did is surely over.
  bool handed_over(const LineAccess& before, const LineAccess& now) const {
    return (now.atomics != 0 &&
            atomics_[before.group - 1].load(std::memory_order_relaxed) > before.atomics) ||
           now.grid > before.grid || now.grid == kManyBarriers;
  }
  static constexpr uint16_t kManyBarriers = 0xffff;  // where counting ends, and with it looking for races
  std::vector<std::atomic<uint32_t>> atomics_;   // by group: how many instructions with atomics it has run
  std::vector<std::atomic<uint16_t>> barriers_;  // by group: how many barriers of the grid it has come to
};

/// The same for one group's LDS.
class LdsRaces {
 public:
  void reset(uint32_t bytes);
  void access(Wave& wave, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
              Memory::Access kind);
  bool range(const Wave& wave, uint32_t offset, uint32_t bytes, bool writes);

 private:
  std::vector<RaceLine> lines_;
};

}  // namespace emu::exec
