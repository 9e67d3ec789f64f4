// SPDX-License-Identifier: Apache-2.0
// CPU memory: a pool of freed blocks by size class over aligned allocation.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/memory.h"
#include "core/fail.h"
#include "core/os/memory.h"
#include "core/small_pool.h"

namespace beeswax::cpu {
namespace {

// Size classes: eight steps between powers of two, so at most an eighth of a block is unused.
size_t round_up(size_t bytes) {
  size_t size = bytes < 64 ? 64 : bytes;
  const int top = 63 - __builtin_clzll(size);
  const size_t step = std::max<size_t>(64, size_t{1} << (top > 3 ? top - 3 : 0));
  return (size + step - 1) / step * step;
}

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

void free_block(void* data, size_t bytes, const Device& /*device*/) {
  const size_t size = round_up(bytes);
  if (kPoolSmallObjects) {
    blocks().give(data, size);
  } else {
    os::free_pages(data, size);
  }
}

}  // namespace

void trim_memory() { blocks().trim(); }

detail::Ref<Storage> CpuBackend::allocate(size_t bytes) {
  // Refused before the system is asked: it would promise more than there is and end the process later.
  const size_t physical = os::physical_memory_bytes();
  const auto refuse = [&] {
    fail(ErrorKind::OutOfMemory, "allocate", bytes, " bytes do not fit this machine's memory (", physical,
         " bytes); use a smaller shape or a narrower dtype");
  };
  if (bytes > physical) refuse();
  const size_t size = round_up(bytes);
  void* data = kPoolSmallObjects ? blocks().take(size) : nullptr;
  if (data == nullptr) data = os::allocate_pages(size);
  if (data == nullptr) {
    blocks().trim();
    data = os::allocate_pages(size);
  }
  if (data == nullptr) refuse();
  return Storage::make(data, bytes, Device::cpu(), free_block);
}

void CpuBackend::upload(Storage& to, size_t offset, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data() + offset, from.data(), from.size());
}

void CpuBackend::download(const Storage& from, size_t offset, std::span<std::byte> to) {
  if (!to.empty()) std::memcpy(to.data(), from.data() + offset, to.size());
}

void CpuBackend::synchronize() {}

CpuBackend& CpuBackend::instance() {
  static CpuBackend backend;
  return backend;
}

}  // namespace beeswax::cpu
