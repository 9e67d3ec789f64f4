// SPDX-License-Identifier: Apache-2.0
#include "emu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace emu {
namespace {

constexpr size_t kGuard = 4096;
// All ones: a NaN in every format, -1 as a number, and never a legal address.
constexpr int kPattern = 0xff;
// Larger blocks stay untouched, so that a reservation of gigabytes costs no memory.
constexpr size_t kLargestFilled = size_t{16} << 20;
constexpr uint64_t kLargestRest = uint64_t{256} << 20;
constexpr size_t kPage = 4096;

void* reserve(uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  madvise(at, bytes, MADV_DONTDUMP);
  return at;
}

// Zeroes; whole pages of large ranges go back to the system.
void clear(uint64_t address, size_t bytes) {
  auto* at = reinterpret_cast<std::byte*>(address);
  if (bytes < 16 * kPage) {
    std::memset(at, 0, bytes);
    return;
  }
  const uint64_t first = (address + kPage - 1) / kPage * kPage;
  const uint64_t last = (address + bytes) / kPage * kPage;
  std::memset(at, 0, first - address);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last), 0, address + bytes - last);
}

std::string near_block(uint64_t address, uint64_t start, size_t bytes, bool live) {
  const std::string block =
      (live ? "an allocation of " : "a freed allocation of ") + std::to_string(bytes) + " bytes";
  const auto bytes_text = [](uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte " : " bytes ");
  };
  if (address < start) return bytes_text(start - address) + "before " + block;
  if (address == start) return "at the start of " + block;
  if (address < start + bytes) return bytes_text(address - start) + "inside " + block;
  if (address == start + bytes) return "right past the end of " + block;
  return bytes_text(address - start - bytes) + "past the end of " + block;
}

}  // namespace

Memory::Memory(uint64_t capacity, const HostSpace* host, bool with_shadow)
    : capacity_(capacity), host_(host) {
  // Room for guards, for rounding, and for what rests.
  span_ = (capacity + capacity / 2 + (uint64_t{1} << 30) + kPage - 1) / kPage * kPage;
  granules_ = span_ / kGranule;
  base_ = reinterpret_cast<uint64_t>(reserve(span_));
  try {
    lengths_ = static_cast<uint16_t*>(reserve(granules_ * sizeof(uint16_t)));
    if (with_shadow) shadow_ = static_cast<uint8_t*>(reserve(span_));
  } catch (...) {
    if (lengths_ != nullptr) munmap(lengths_, granules_ * sizeof(uint16_t));
    munmap(reinterpret_cast<void*>(base_), span_);
    throw;
  }
  free_[base_ + kGuard] = span_ - kGuard;
}

Memory::~Memory() {
  munmap(reinterpret_cast<void*>(base_), span_);
  munmap(lengths_, granules_ * sizeof(uint16_t));
  if (shadow_ != nullptr) munmap(shadow_, span_);
}

void Memory::set_lengths(uint64_t address, size_t bytes, bool live) {
  for (uint64_t granule = (address - base_) / kGranule; bytes > 0; ++granule) {
    const size_t length = std::min(bytes, kGranule);
    __atomic_store_n(lengths_ + granule, static_cast<uint16_t>(live ? length : 0), __ATOMIC_RELAXED);
    bytes -= length;
  }
}

// The block that rests longest becomes free space again, joined with free neighbours.
void Memory::forget_oldest() {
  const uint64_t address = resting_.front();
  resting_.pop_front();
  const auto record = records_.find(address);
  uint64_t start = address, room = record->second.room;
  resting_bytes_ -= room;
  records_.erase(record);
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == start + room) {
    room += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      room += before->second;
    }
  }
  free_[start] = room;
}

void* Memory::allocate(size_t bytes, size_t alignment) { return allocate(bytes, alignment, kGuard); }
void* Memory::allocate_near(size_t bytes, size_t alignment) { return allocate(bytes, alignment, kGranule); }

void* Memory::allocate(size_t bytes, size_t alignment, size_t guard) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > capacity_) return nullptr;
  const size_t room = (bytes + kGranule - 1) / kGranule * kGranule + guard;
  const auto before = [alignment](uint64_t at) { return (alignment - at % alignment) % alignment; };
  uint64_t address = 0;
  {
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > capacity_) return nullptr;
    auto found = free_.end();
    for (;;) {
      found = std::find_if(free_.begin(), free_.end(),
                           [&](const auto& range) { return range.second >= room + before(range.first); });
      if (found != free_.end() || resting_.empty()) break;
      forget_oldest();
    }
    if (found == free_.end()) return nullptr;
    const uint64_t skipped = before(found->first);
    address = found->first + skipped;
    const uint64_t left = found->second - skipped - room;
    if (skipped > 0) {
      found->second = skipped;
    } else {
      free_.erase(found);
    }
    if (left > 0) free_[address + room] = left;
    records_[address] = {bytes, room, true};
    used_ += bytes;
  }
  if (bytes <= kLargestFilled) std::memset(reinterpret_cast<void*>(address), kPattern, bytes);
  if (shadow_ != nullptr) clear(reinterpret_cast<uint64_t>(shadow_) + (address - base_), bytes);
  set_lengths(address, bytes, true);
  return reinterpret_cast<void*>(address);
}

bool Memory::release(void* block, bool reuse) {
  const auto address = reinterpret_cast<uint64_t>(block);
  const std::lock_guard lock(mutex_);
  const auto record = records_.find(address);
  if (record == records_.end() || !record->second.live) return false;
  const size_t bytes = record->second.bytes;
  record->second.live = false;
  used_ -= bytes;
  set_lengths(address, bytes, false);
  if (bytes > kLargestFilled) clear(address, bytes);
  resting_bytes_ += record->second.room;
  if (reuse) {
    resting_.push_front(address);
    forget_oldest();
  } else {
    resting_.push_back(address);
  }
  while (resting_bytes_ > kLargestRest && resting_.size() > 1) forget_oldest();
  return true;
}

bool Memory::valid_elsewhere(uint64_t address, size_t bytes) const {
  if (host_ != nullptr) {
    if (host_->pinned().contains(address)) return host_->pinned().valid(address, bytes);
    const Block range = host_->registered_at(address);
    if (range.bytes > 0) return bytes <= range.bytes - (address - range.address);
  }
  const std::lock_guard lock(mutex_);
  return std::any_of(peers_.begin(), peers_.end(), [&](const Memory* peer) {
    return peer->contains(address) && peer->valid_here(address - peer->base_, bytes);
  });
}

uint8_t* Memory::initialized_elsewhere(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  for (const Memory* peer : peers_)
    if (peer->contains(address)) return peer->shadow_ + (address - peer->base_);
  return nullptr;
}

void Memory::mark_initialized(uint64_t address, size_t bytes) const {
  if (uint8_t* shadow = initialized(address)) std::memset(shadow, 1, bytes);
}

Memory::Block Memory::block_at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = records_.upper_bound(address);
  if (after == records_.begin()) return {0, 0};
  const auto& [start, record] = *std::prev(after);
  if (!record.live || address >= start + record.bytes) return {0, 0};
  return {start, record.bytes};
}

bool Memory::describe_here(uint64_t address, std::string& text) const {
  if (!contains(address)) return false;
  const std::lock_guard lock(mutex_);
  const auto after = records_.upper_bound(address);
  if (after != records_.begin()) {
    const auto& [start, record] = *std::prev(after);
    const bool nearer_next = after != records_.end() && address >= start + record.bytes &&
                             after->first - address < address - (start + record.bytes);
    if (!nearer_next) {
      text = near_block(address, start, record.bytes, record.live);
      return true;
    }
  }
  text = after == records_.end() ? "in device memory that was never allocated"
                                 : near_block(address, after->first, after->second.bytes, after->second.live);
  return true;
}

std::string Memory::describe(uint64_t address) const {
  std::string text;
  if (describe_here(address, text)) return text;
  if (host_ != nullptr) {
    if (host_->pinned().describe_here(address, text)) return text + " of pinned host memory";
    const Block range = host_->registered_at(address);
    if (range.bytes > 0)
      return near_block(address, range.address, range.bytes, true) + " of registered host memory";
  }
  std::vector<const Memory*> peers;
  {
    const std::lock_guard lock(mutex_);
    peers = peers_;
  }
  for (const Memory* peer : peers)
    if (peer->describe_here(address, text)) return text + " of a peer device";
  if (address < kPage) return "a null pointer";
  return "not memory of this device (host memory that is not pinned, another device's, or no memory at all)";
}

uint64_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

size_t Memory::live_blocks() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::count_if(records_.begin(), records_.end(), [](const auto& record) { return record.second.live; }));
}

void Memory::set_peer(const Memory* peer, bool allowed) {
  const std::lock_guard lock(mutex_);
  std::erase(peers_, peer);
  if (allowed) peers_.push_back(peer);
}

bool HostSpace::add(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto next = registered_.lower_bound(address);
  if (next != registered_.end() && next->first - address < bytes) return false;
  if (next != registered_.begin()) {
    const auto before = std::prev(next);
    if (address - before->first < before->second) return false;
  }
  registered_[address] = bytes;
  return true;
}

bool HostSpace::remove(uint64_t address) {
  const std::lock_guard lock(mutex_);
  return registered_.erase(address) == 1;
}

Memory::Block HostSpace::registered_at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = registered_.upper_bound(address);
  if (after == registered_.begin()) return {0, 0};
  const auto& [start, bytes] = *std::prev(after);
  return address - start < bytes ? Memory::Block{start, bytes} : Memory::Block{0, 0};
}

}  // namespace emu
