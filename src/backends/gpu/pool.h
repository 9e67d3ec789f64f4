// SPDX-License-Identifier: Apache-2.0
// Pool: device memory between the driver and storages. Freed blocks are kept by size and used again without
// asking the driver, whose own release stops the device. All of a device's work runs in the order of one
// stream, so a block may be used again at once: what was submitted before it was freed runs before what uses
// it next.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/gpu/driver.h"

namespace beeswax::gpu {

class Pool;

/// Blocks that a graph uses: those it took while it was captured, and those of others that its kernels read
/// or write. They go to nobody else before it goes.
class GraphMemory {
 public:
  explicit GraphMemory(Pool& pool) : pool_(pool) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  size_t bytes() const { return bytes_; }
  /// Blocks that are given back from now on stay as they are until the graph goes.
  void end_capture();

 private:
  friend class Pool;
  Pool& pool_;
  size_t bytes_ = 0;
  std::unordered_set<void*> held_, taken_;  // taken_: by the capture under way
  // Of those, given back again, by size: a graph's commands run in order.
  std::unordered_map<size_t, std::vector<void*>> free_;
};

class Pool {
 public:
  struct Statistics {
    size_t used_bytes = 0;    ///< in blocks that storages hold
    size_t kept_bytes = 0;    ///< in blocks that wait for use
    size_t peak_bytes = 0;    ///< the most that was used
    size_t driver_calls = 0;  ///< blocks asked of the driver
  };

  Pool(const Driver& driver, int device) : driver_(driver), device_(device) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// At least `bytes`, 256-byte aligned. When the driver has none left, gives it back what is kept and tries
  /// once more. Throws OutOfMemory. While the thread captures a graph on this device, the block is the
  /// graph's, and asking the driver is Unsupported.
  void* take(size_t bytes);
  void give(void* data);
  /// Makes blocks a graph's in which a launch's arguments may point: aligned words that are addresses there.
  void hold(std::span<const std::byte> arguments, GraphMemory& graph);
  /// Gives blocks that wait for use back to the driver.
  void trim();
  /// The most that may be used and kept together; 0: no limit but the device's.
  void set_limit(size_t bytes);
  Statistics statistics() const;

 private:
  friend class GraphMemory;
  enum class State : uint8_t { Used, Given, Kept };  // given back, but a graph holds it
  struct Block {
    size_t bytes;
    State state = State::Used;
    uint32_t graphs = 0;  // that hold it
  };
  void release_kept();
  void release(GraphMemory& graph);
  GraphMemory* recording() const;
  void* take_again(GraphMemory& graph, size_t size);
  void* take_kept(size_t size);
  void keep(void* data, Block& block);
  void* ask_driver(size_t bytes, size_t size);
  void hold(void* data, Block& block, GraphMemory& graph);

  const Driver& driver_;
  int device_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;              // every block of ours
  std::set<void*> addresses_;                            // and in order
  std::unordered_map<size_t, std::vector<void*>> kept_;  // by size
  Statistics statistics_;
  size_t limit_ = 0;
};

}  // namespace beeswax::gpu
