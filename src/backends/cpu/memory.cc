// SPDX-License-Identifier: Apache-2.0
// CPU memory: pools of freed blocks by size class over aligned allocation.
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/stripes.h"
#include "core/fail.h"
#include "core/os/memory.h"
#include "core/small_pool.h"

namespace beeswax::cpu {
namespace {

// Size classes: eight steps between powers of two, so at most an eighth of a block is unused.
struct SizeClass {
  size_t index;
  size_t bytes;
  explicit SizeClass(size_t wanted) {
    const size_t size = std::max<size_t>(wanted, 64);
    const auto top = static_cast<size_t>(63 - __builtin_clzll(size));
    const size_t step = size_t{1} << (top - 3);
    const size_t steps = (size - (size_t{1} << top) + step - 1) / step;
    index = (top - 6) * 8 + steps;
    bytes = (size_t{1} << top) + steps * step;
  }
};

// Small blocks that a thread freed and may use again without a lock. A freed block holds the link to the
// next.
class ThreadCache {
 public:
  static constexpr size_t kLargest = size_t{1} << 17;
  static constexpr size_t kKeepBytes = size_t{8} << 20;

  static ThreadCache& mine() {
    static thread_local ThreadCache cache;
    return cache;
  }
  void* take(const SizeClass& size) {
    Link*& head = heads_[size.index];
    if (head == nullptr) return nullptr;
    bytes_ -= size.bytes;
    return std::exchange(head, head->next);
  }
  // False when the cache is full or the thread is ending.
  bool give(void* data, const SizeClass& size) {
    if (closed_ || bytes_ + size.bytes > kKeepBytes) return false;
    Link*& head = heads_[size.index];
    head = new (data) Link{head};
    bytes_ += size.bytes;
    return true;
  }
  void trim() {
    for (Link*& head : heads_)
      while (head != nullptr) os::free_pages(std::exchange(head, head->next), 0);
    bytes_ = 0;
  }
  ~ThreadCache() {
    closed_ = true;
    trim();
  }

 private:
  struct Link {
    Link* next;
  };
  static constexpr size_t kClasses = (17 - 6) * 8 + 1;
  std::array<Link*, kClasses> heads_{};
  size_t bytes_ = 0;
  bool closed_ = false;
};

// Larger blocks, shared by all threads.
class BlockPool {
 public:
  void* take(size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = free_.size(); i-- > 0;) {
      if (free_[i].size != size) continue;
      void* data = free_[i].data;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      cached_ -= size;
      return data;
    }
    return nullptr;
  }

  // Keeps the block, dropping the oldest ones beyond the limit.
  void give(void* data, size_t size) {
    std::vector<Block> drop;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back({data, size});
      cached_ += size;
      while (cached_ > limit_ || free_.size() > kMostBlocks) {
        drop.push_back(free_.front());
        cached_ -= free_.front().size;
        free_.erase(free_.begin());
      }
    }
    for (const Block& block : drop) os::free_pages(block.data, block.size);
  }

  void trim() {
    std::vector<Block> drop;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      drop.swap(free_);
      cached_ = 0;
    }
    for (const Block& block : drop) os::free_pages(block.data, block.size);
  }

 private:
  struct Block {
    void* data;
    size_t size;
  };
  static constexpr size_t kMostBlocks = 256;
  std::mutex mutex_;
  std::vector<Block> free_;
  size_t cached_ = 0;
  size_t limit_ = os::physical_memory_bytes() / 4;
};

// Never destroyed: tensors with static storage may be freed after everything else.
BlockPool& blocks() {
  static auto* the_pool = new BlockPool;
  return *the_pool;
}

void* take_block(const SizeClass& size) {
  if (!kPoolSmallObjects) return nullptr;
  return size.bytes <= ThreadCache::kLargest ? ThreadCache::mine().take(size) : blocks().take(size.bytes);
}

void free_block(void* data, size_t bytes, const Device& /*device*/) {
  const SizeClass size(bytes);
  if (!kPoolSmallObjects) {
    os::free_pages(data, size.bytes);
  } else if (size.bytes > ThreadCache::kLargest) {
    blocks().give(data, size.bytes);
  } else if (!ThreadCache::mine().give(data, size)) {
    os::free_pages(data, size.bytes);
  }
}

}  // namespace

void trim_memory() {
  ThreadCache::mine().trim();
  blocks().trim();
}

detail::Ref<Storage> CpuBackend::allocate(size_t bytes) {
  // Refused before the system is asked: it would promise more than there is and end the process later.
  const size_t physical = os::physical_memory_bytes();
  if (bytes > physical)
    fail(ErrorKind::OutOfMemory, "allocate", bytes, " bytes do not fit this machine's memory (", physical,
         " bytes); use a smaller shape or a narrower dtype");
  const SizeClass size(bytes);
  void* data = take_block(size);
  if (data == nullptr) data = os::allocate_pages(size.bytes);
  if (data == nullptr) {
    trim_memory();
    data = os::allocate_pages(size.bytes);
  }
  if (data == nullptr)
    fail(ErrorKind::OutOfMemory, "allocate", "the system has no ", bytes,
         " bytes left of this machine's memory (", physical,
         " bytes); free tensors, or use a smaller shape or a narrower dtype");
  return Storage::make(data, bytes, Device::cpu(), free_block);
}

void CpuBackend::upload(Storage& to, size_t offset, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data() + offset, from.data(), from.size());
}

void CpuBackend::download(const Storage& from, size_t offset, std::span<std::byte> to) {
  if (!to.empty()) std::memcpy(to.data(), from.data() + offset, to.size());
}

void CpuBackend::copy_from(const Storage& from, size_t offset, Storage& to, size_t bytes) {
  backend_for(from.device()).download(from, offset, {to.data(), bytes});
}

void CpuBackend::synchronize() {}

CpuBackend& CpuBackend::instance() {
  static CpuBackend& the_backend = []() -> CpuBackend& {
    check_maker();
    wants_amx();
    static_cast<void>(repack_of_variable());
    static CpuBackend backend;
    return backend;
  }();
  return the_backend;
}

}  // namespace beeswax::cpu
