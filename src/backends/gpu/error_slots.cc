// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/error_slots.h"

#include <atomic>
#include <utility>

namespace beeswax::gpu {
namespace {

// Slots of two streams that report at once share no line of a cache.
constexpr size_t kSlotBytes = 64;
constexpr size_t kPageBytes = 4096;
static_assert(sizeof(ErrorSlot) <= kSlotBytes);

}  // namespace

bool SharedSlot::reported() const {
  return std::atomic_ref(host->state).load(std::memory_order_acquire) == kSlotReported;
}

std::optional<ErrorSlot> SharedSlot::take() const {
  uint32_t state = kSlotReported;
  if (!std::atomic_ref(host->state).compare_exchange_strong(state, kSlotClaimed, std::memory_order_acquire))
    return std::nullopt;
  // The state is for others to look at meanwhile.
  const ErrorSlot found{kSlotReported, host->code, host->value, host->place, host->limit, host->origin};
  // A kernel may claim the slot from here on.
  std::atomic_ref(host->state).store(kSlotEmpty, std::memory_order_release);
  return found;
}

SlotRef ErrorSlots::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    PinnedMemory page(driver_);
    void* seen = nullptr;
    check(driver_, driver_.allocate_host(kPageBytes, page.out(), &seen), "allocating pinned memory");
    for (size_t at = kPageBytes; at > 0; at -= kSlotBytes)
      free_.push_back({new (static_cast<std::byte*>(page.get()) + at - kSlotBytes) ErrorSlot{},
                       reinterpret_cast<ErrorSlot*>(static_cast<std::byte*>(seen) + at - kSlotBytes)});
    pages_.push_back(std::move(page));
  }
  const auto give_back = [this](const SharedSlot* slot) {
    const std::unique_ptr<const SharedSlot> owned(slot);
    const std::scoped_lock lock(mutex_);
    free_.push_back(*slot);
  };
  // Cleared here, not where it is given back: a static graph gives its own back at the end of the process,
  // when the driver's memory may be gone.
  *free_.back().host = ErrorSlot{};
  SlotRef slot(new SharedSlot(free_.back()), give_back);
  free_.pop_back();
  return slot;
}

size_t ErrorSlots::pages() const {
  const std::scoped_lock lock(mutex_);
  return pages_.size();
}

}  // namespace beeswax::gpu
