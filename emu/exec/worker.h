// SPDX-License-Identifier: Apache-2.0
// One thread of a launch: it takes groups and runs their waves.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "emu/exec/check.h"
#include "emu/exec/grid_sync.h"
#include "emu/exec/program.h"
#include "emu/exec/run.h"

namespace emu::exec {

/// What all workers of a launch share.
struct Dispatch {
  const Launch* launch;
  Memory* memory;
  Options options;
  Program* program;
  uint32_t lanes, generation;
  uint32_t wave_count;  // of one group
  uint32_t vector_registers;
  uint32_t lds_bytes;
  uint32_t private_bytes;
  uint64_t group_count;
  uint64_t groups_at_once = 1;  // that each worker begins with
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::unique_ptr<RaceTable> races;
  std::unique_ptr<GridSync> grid;  // of a cooperative launch
};

struct Slot;  // a group being run, with its registers

struct Worker {
  Dispatch* dispatch;
  Checker checker{};
  uint64_t classes[size_t(Class::Count) + 1] = {};
  Counters counters;
  bool counting = false;
  std::vector<std::unique_ptr<Slot>> slots, spare;

  explicit Worker(Dispatch* shared);
  ~Worker();
  /// Runs groups until there are none left. Throws Fault.
  void run();

 private:
  void start(Slot& slot, uint64_t number);
  void start_wave(Slot& slot, unsigned index);
  /// One turn of every wave; whether the group has ended. progress: whether anything but loops happened.
  bool turn(Slot& slot, bool& progress);
  /// Waves whose grid barrier is complete go on. Fault when it can never be.
  void look_at_grid(bool progress);
  void run_wave(Wave& wave);
  /// One operation, watched and counted as asked for; the next one.
  const Op* step(Wave& wave, const Op* op);
};

}  // namespace emu::exec
