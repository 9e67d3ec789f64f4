// SPDX-License-Identifier: Apache-2.0
#include "emu/heap.h"

namespace emu {

uint64_t KernelHeap::allocate(uint64_t bytes, size_t alignment) {
  const auto address = reinterpret_cast<uint64_t>(memory_.allocate_near(bytes, alignment));
  const std::lock_guard lock(mutex_);
  if (address != 0) live_.insert(address);
  return address;
}

bool KernelHeap::release(uint64_t address) {
  {
    const std::lock_guard lock(mutex_);
    if (live_.erase(address) == 0) return false;
  }
  return memory_.release(reinterpret_cast<void*>(address));
}

void KernelHeap::clear() {
  std::unordered_set<uint64_t> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(live_);
  }
  for (const uint64_t address : all) memory_.release(reinterpret_cast<void*>(address));
}

size_t KernelHeap::live_blocks() const {
  const std::lock_guard lock(mutex_);
  return live_.size();
}

}  // namespace emu
