// SPDX-License-Identifier: Apache-2.0
// The interpreter's face: one launch in, its effects on memory out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "emu/code_object.h"
#include "emu/exec/counters.h"
#include "emu/memory.h"

namespace emu {

/// What is watched; each level includes the ones before it.
enum class Check { None, Bounds, Race, Strict };

struct Options {
  Check check = Check::Bounds;
  uint64_t seed = 0;     // permutes waves and groups; 0: in order
  unsigned threads = 0;  // 0: as many as the machine has
};

class Hostcall;
class KernelHeap;

/// What a kernel may ask of the host while it runs.
struct HostSide {
  struct Range {
    uint64_t begin, bytes;
    bool grid_sync = false;  // it holds *grid_counter
  };
  Hostcall* calls = nullptr;  // null: it rings in vain
  KernelHeap* heap = nullptr;
  /// Of grid barriers in memory (grid_sync.h): the lower half counts the groups that wait.
  const uint32_t* grid_counter = nullptr;
  /// Memory between the host and the device library: no races are looked for there.
  std::vector<Range> own;
};

struct Launch {
  const Kernel* kernel;
  uint32_t grid[3];   // in blocks
  uint32_t block[3];  // in work-items
  uint32_t dynamic_lds;
  const std::byte* kernargs;  // the whole kernarg segment, hidden arguments filled in, in the device's memory
  uint64_t dispatch_packet;   // address of an AQL dispatch packet in the device's memory
  const HostSide* host = nullptr;
  bool cooperative = false;                 // all groups run at once, and may wait for each other
  const std::atomic<bool>* stop = nullptr;  // true: the waves go no further, and run() returns
};

/// What a kernel did wrong, or what the interpreter cannot do. what() is one line: kind and detail.
struct Fault : std::runtime_error {
  enum class Kind {
    OutOfBounds,
    UseAfterFree,
    Uninitialized,
    BadFree,
    LdsOutOfRange,
    DataRace,
    DivergentBarrier,
    MissingWait,
    Misaligned,
    UnknownInstruction,
    Unsupported,
    Trap,
  };
  Fault(Kind what_kind, const std::string& text) : std::runtime_error(text), kind(what_kind) {}
  Kind kind;
  std::string kernel;
  uint32_t group[3] = {0, 0, 0};
  int wave = -1, lane = -1;  // within the group; -1: does not apply
  std::string instruction;   // its disassembly
  uint64_t code_offset = 0;  // from the kernel's entry point
  std::string where;         // the function and the offset in it; empty where symbols do not say
  uint64_t address = 0;      // the memory or LDS address; 0: does not apply
};

/// Runs every wave of the launch to its end on threads of its own, unless launch.stop ends that. Throws
/// Fault.
void run(const Launch& launch, Memory& memory, const Options& options, Counters* counters);

}  // namespace emu
