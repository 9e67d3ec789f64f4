// SPDX-License-Identifier: Apache-2.0
// Memory of one device: a reserved range of the process's own addresses, so that a device address is a host
// address and an unchecked access is a plain load. Blocks are apart by a guard, filled with a pattern, and
// stay unused for a while after they are freed. A table with one entry for each granule of 256 bytes says how
// many bytes from the granule's start may be touched; a shadow says for each byte whether it was written. Any
// thread may call anything here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace emu {

/// Host memory that every device may touch: pinned and managed blocks, and what was registered.
class HostSpace;

class Memory {
 public:
  enum class Access { Read, Write, Atomic };
  static constexpr size_t kGranule = 256;

  /// capacity: bytes that can be live at once. host: may be null; must outlive this.
  explicit Memory(uint64_t capacity, const HostSpace* host = nullptr, bool with_shadow = true);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Uninitialized bytes at a multiple of `alignment`, a power of two from 256 on; null when the capacity is
  /// used up. 0 bytes count as one.
  void* allocate(size_t bytes, size_t alignment = kGranule);
  /// The same with the smallest guard, for many small blocks.
  void* allocate_near(size_t bytes, size_t alignment = kGranule);
  /// False when this is no live block's start. reuse: without the time of rest (for the front's own blocks).
  bool release(void* block, bool reuse = false);

  /// Whether these bytes lie inside one live block of this device, of host memory or of a peer.
  bool valid(uint64_t address, size_t bytes) const {
    const uint64_t offset = address - base_;
    if (offset >= span_) return valid_elsewhere(address, bytes);
    return valid_here(offset, bytes);
  }
  /// Where the address lies, for a person: "16 bytes past the end of an allocation of 4096 bytes".
  std::string describe(uint64_t address) const;

  /// The shadow of this byte, 1 = initialized, followed by its neighbours'; null for memory without one.
  uint8_t* initialized(uint64_t address) const {
    const uint64_t offset = address - base_;
    return offset < span_ ? (shadow_ != nullptr ? shadow_ + offset : nullptr)
                          : initialized_elsewhere(address);
  }
  void mark_initialized(uint64_t address, size_t bytes) const;

  bool contains(uint64_t address) const { return address - base_ < span_; }
  struct Block {
    uint64_t address;
    size_t bytes;
  };
  /// The live block around the address; bytes = 0 when there is none.
  Block block_at(uint64_t address) const;

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const;
  /// Live blocks; a test's question.
  size_t live_blocks() const;

  /// Lets kernels of this device touch a peer's memory, or forbids it again.
  void set_peer(const Memory* peer, bool allowed);

  uint64_t base() const { return base_; }
  uint64_t span() const { return span_; }

 private:
  struct Record {
    size_t bytes;  // as asked for
    size_t room;   // with rounding and guard
    bool live;
  };
  void* allocate(size_t bytes, size_t alignment, size_t guard);
  bool valid_here(uint64_t offset, size_t bytes) const {
    // Neighbouring full granules belong to one block, because a guard follows each block.
    for (uint64_t granule = offset / kGranule, at = offset % kGranule;; ++granule, at = 0) {
      if (granule >= granules_) return false;
      const size_t length = __atomic_load_n(lengths_ + granule, __ATOMIC_RELAXED);
      if (at <= length && bytes <= length - at) return true;
      if (length != kGranule || at >= length) return false;
      bytes -= length - at;
    }
  }
  bool valid_elsewhere(uint64_t address, size_t bytes) const;
  uint8_t* initialized_elsewhere(uint64_t address) const;
  bool describe_here(uint64_t address, std::string& text) const;
  void set_lengths(uint64_t address, size_t bytes, bool live);
  void forget_oldest();

  uint64_t base_ = 0, span_ = 0, granules_ = 0, capacity_ = 0;
  uint8_t* shadow_ = nullptr;
  uint16_t* lengths_ = nullptr;
  const HostSpace* host_ = nullptr;
  mutable std::mutex mutex_;
  uint64_t used_ = 0, resting_bytes_ = 0;
  std::map<uint64_t, Record> records_;  // live and resting blocks by address
  std::map<uint64_t, uint64_t> free_;   // address -> room
  std::deque<uint64_t> resting_;        // oldest first
  std::vector<const Memory*> peers_;
};

class HostSpace {
 public:
  explicit HostSpace(uint64_t capacity) : pinned_(capacity, nullptr, false) {}
  Memory& pinned() { return pinned_; }
  const Memory& pinned() const { return pinned_; }
  /// False when the range touches a registered one. It must end before the last address.
  bool add(uint64_t address, size_t bytes);
  bool remove(uint64_t address);
  /// The registered range around the address; bytes = 0 when there is none.
  Memory::Block registered_at(uint64_t address) const;

 private:
  Memory pinned_;
  mutable std::mutex mutex_;
  std::map<uint64_t, size_t> registered_;
};

}  // namespace emu
