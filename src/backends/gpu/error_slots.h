// SPDX-License-Identifier: Apache-2.0
// ErrorSlots: where kernels report errors, in pinned host memory. Each stream has a slot, and each graph,
// whose kernels keep the address that they were recorded with. Slots are used again; their memory goes with
// the GPU.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/gpu/handles.h"
#include "kernels/args.h"

namespace beeswax::gpu {

/// A slot as the host sees it and as kernels do.
struct SharedSlot {
  ErrorSlot* host = nullptr;
  ErrorSlot* device = nullptr;
  /// Whether a kernel stored an error, once the work that may do so is waited for.
  bool reported() const;
  /// What a kernel stored, if it did; the slot is empty after it. Of several threads that ask, one gets it.
  std::optional<ErrorSlot> take() const;
};
using SlotRef = std::shared_ptr<const SharedSlot>;

class ErrorSlots {
 public:
  explicit ErrorSlots(const Driver& driver) : driver_(driver) {}

  /// An empty slot, nobody else's while it is held. `this` must outlive it.
  SlotRef take();
  /// Blocks of pinned memory that were made.
  size_t pages() const;

 private:
  const Driver& driver_;
  mutable std::mutex mutex_;
  std::vector<PinnedMemory> pages_;
  std::vector<SharedSlot> free_;
};

}  // namespace beeswax::gpu
