// SPDX-License-Identifier: Apache-2.0
// Storage: one block of a device's memory, shared by the tensors that look into it; and TensorImpl, what a
// Tensor points to. Both objects come from a small-object pool, so that an operation takes one block from the
// device's pool and nothing from the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "beeswax/detail/ref.h"
#include "beeswax/device.h"
#include "beeswax/tensor.h"

namespace beeswax {

class BW_API Storage final : public detail::RefCounted {
 public:
  /// Gives the block back; called once, when the last tensor lets go.
  using Free = void (*)(void* data, size_t bytes, const Device& device);

  static detail::Ref<Storage> make(void* data, size_t bytes, const Device& device, Free free);
  /// Host memory that `owner` keeps: it is held as long as the storage lives, and never written.
  static detail::Ref<Storage> borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t bytes() const { return bytes_; }
  const Device& device() const { return device_; }
  bool read_only() const { return owner_ != nullptr; }
  /// Times it was written in place.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  /// What the device's backend keeps beside this memory, as long as it lives; null: nothing.
  detail::RefCounted* companion() const { return companion_.load(std::memory_order_acquire); }
  /// Keeps this one unless there is one already; gives the one that is kept. Thread-safe.
  detail::RefCounted* keep_companion(const detail::Ref<detail::RefCounted>& companion) const;

 private:
  friend struct StorageBlock;
  Storage(void* data, size_t bytes, const Device& device, Free free);
  void dispose() const override;

  void* data_;
  size_t bytes_;
  Device device_;
  Free free_;
  const std::shared_ptr<const void>* owner_ = nullptr;  // apart, because few storages have one
  std::atomic<uint64_t> version_{0};
  mutable std::atomic<detail::RefCounted*> companion_{nullptr};
};

/// What autograd hangs on a tensor; its nodes come with autograd itself.
class GradNode : public detail::RefCounted {};

struct TensorImpl final : public detail::RefCounted {
  TensorImpl(detail::Ref<Storage> s, const Layout& l, DType d);
  detail::Ref<Storage> storage;
  Layout layout;
  DType dtype;
  uint64_t id;
  detail::Ref<GradNode> grad;

 private:
  void dispose() const override;
};

}  // namespace beeswax
