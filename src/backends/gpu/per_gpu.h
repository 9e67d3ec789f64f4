// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/gpu/gpu.h"

namespace beeswax::gpu {

/// One T for each GPU, made when it is first asked for. Like the GPUs it is never closed.
template <class T>
class PerGpu {
 public:
  /// T(arguments...) is made where there is none yet.
  template <class... Arguments>
  T& of(const Gpu& gpu, Arguments&&... arguments) {
    std::atomic<T*>& slot = made_[static_cast<size_t>(gpu.number())];
    if (T* known = slot.load(std::memory_order_acquire); known != nullptr) return *known;
    const std::scoped_lock lock(making_);
    if (slot.load() == nullptr)
      slot.store(std::make_unique<T>(std::forward<Arguments>(arguments)...).release(),
                 std::memory_order_release);
    return *slot.load();
  }

 private:
  std::array<std::atomic<T*>, kMostGpus> made_{};
  std::mutex making_;
};

}  // namespace beeswax::gpu
