// SPDX-License-Identifier: Apache-2.0
// Pool: device memory between the driver and storages. Freed blocks are kept by size and used again without
// asking the driver, whose own release stops the device. A block goes back to the stream that took it, where
// it may be used again at once: what was submitted before it was freed runs before what uses it next. Where
// other streams used it too, the stream waits for them, not the host.
//
// The pool also knows who wrote and who read each block (block_order.h), and so orders streams among each
// other: order() before something is submitted, mark_read() or mark_written() after it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/gpu/block_order.h"
#include "backends/gpu/driver.h"
#include "beeswax/device.h"
#include "beeswax/system.h"

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
  /// The blocks, once the capture has ended.
  std::span<void* const> blocks() const { return blocks_; }
  /// Blocks that are given back from now on stay as they are until the graph goes.
  void end_capture();

 private:
  friend class Pool;
  Pool& pool_;
  size_t bytes_ = 0;
  std::unordered_set<void*> held_, taken_;  // taken_: by the capture under way
  std::vector<void*> blocks_;               // those of held_
  // Of those, given back again, by size: a graph's commands run in order.
  std::unordered_map<size_t, std::vector<void*>> free_;
};

class Pool {
 public:
  /// `ordinal` is the device's number in the driver.
  Pool(const Driver& driver, const Device& device, int ordinal)
      : driver_(driver), device_(device), ordinal_(ordinal) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// At least `bytes`, 256-byte aligned, for work on a stream, which waits for what other streams still do
  /// with the block. When the driver has none left, gives it back what is kept and tries once more. Throws
  /// OutOfMemory. While the thread captures a graph on this device, the block is the graph's, whose replays
  /// wait, and asking the driver is Unsupported.
  void* take(size_t bytes, DeviceStream& stream);
  void give(void* data);
  /// Makes blocks a graph's in which a launch's arguments may point: aligned words that are addresses there.
  void hold(std::span<const std::byte> arguments, GraphMemory& graph);
  /// Adds the blocks in which a launch's arguments may point.
  void find(std::span<const std::byte> arguments, std::vector<void*>& blocks) const;
  /// Makes a stream wait for what an access to the blocks must come after. Before it is submitted.
  void order(std::span<void* const> blocks, DeviceStream& stream, Access access);
  /// It was submitted, and `ticket` counts it.
  void mark_read(std::span<void* const> blocks, const DeviceStream& stream, uint64_t ticket);
  void mark_written(std::span<void* const> blocks, DeviceStream& stream);
  /// A second stream was made: what the first did so far, with any block, the mark covers.
  void number_blocks(const Mark& mark);
  /// What trim_memory(), set_memory_limit() and memory_statistics() of beeswax/system.h say.
  void trim();
  /// Gives the driver what is kept, for something else that it had no memory for. False where nothing was, or
  /// the thread captures a graph.
  bool make_room();
  void set_limit(size_t bytes);
  MemoryStatistics statistics() const;

 private:
  friend class GraphMemory;
  enum class State : uint8_t { Used, Given, Kept };  // given back, but a graph holds it
  struct Block {
    void* data;
    size_t bytes;
    State state = State::Used;
    uint32_t graphs = 0;  // that hold it
    uint32_t home = 0;    // the stream that took it
    BlockOrder order{};
  };
  using KeptBlocks = std::vector<std::vector<Block*>>;  // by class of size
  /// Gives the driver what is kept, and what it answered, the first failure before others. What it did not
  /// take is still kept.
  Result release_kept();
  /// Whether `held` bytes and as many `more` are over the limit.
  bool over_limit(size_t held, size_t more) const;
  [[noreturn]] void refuse(size_t bytes, std::string_view why) const;
  /// Throws where the thread records what would give memory back to the driver.
  void refuse_recording(std::string_view operation) const;
  void release(GraphMemory& graph);
  GraphMemory* recording() const;
  void* take_again(GraphMemory& graph, size_t size);
  Block* take_kept(size_t size, const DeviceStream& stream);
  void keep(Block& block);
  Block& ask_driver(size_t bytes, size_t size);
  void hold(Block& block, GraphMemory& graph);
  /// Calls visit(block) for each block in use in which an argument may point.
  template <class Visit>
  void each_block(std::span<const std::byte> arguments, const Visit& visit) const;
  template <class Visit>
  void each_order(std::span<void* const> blocks, const Visit& visit);
  /// Returns with the lock held, where the stream has waited for everything that is noted of the blocks.
  void wait(std::unique_lock<std::mutex>& lock, std::span<void* const> blocks, DeviceStream& stream,
            Access access);

  const Driver& driver_;
  Device device_;
  int ordinal_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;    // every block of ours
  std::map<std::byte*, Block*> addresses_;     // and in order
  std::array<KeptBlocks, kMostStreams> kept_;  // of each stream
  MemoryStatistics statistics_;
};

}  // namespace beeswax::gpu
