// SPDX-License-Identifier: Apache-2.0
#include "core/storage.h"

#include <utility>

#include "core/small_pool.h"

namespace beeswax {

detail::RefCounted::~RefCounted() = default;
void detail::RefCounted::dispose() const { delete this; }

Storage::Storage(void* data, size_t bytes, const Device& device, Free free)
    : data_(data), bytes_(bytes), device_(device), free_(free) {}

detail::Ref<Storage> Storage::make(void* data, size_t bytes, const Device& device, Free free) {
  return detail::Ref<Storage>(new (SmallPool<Storage>::take()) Storage(data, bytes, device, free));
}

detail::Ref<Storage> Storage::borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  auto kept = std::make_unique<const std::shared_ptr<const void>>(std::move(owner));
  detail::Ref<Storage> storage =
      make(const_cast<std::byte*>(bytes.data()), bytes.size(), Device::cpu(), nullptr);
  storage->owner_ = kept.release();
  return storage;
}

detail::RefCounted* Storage::keep_companion(const detail::Ref<detail::RefCounted>& companion) const {
  detail::RefCounted* kept = nullptr;
  companion->retain();
  if (companion_.compare_exchange_strong(kept, companion.get(), std::memory_order_acq_rel))
    return companion.get();
  companion->release();
  return kept;
}

void Storage::dispose() const {
  if (detail::RefCounted* kept = companion(); kept != nullptr) kept->release();
  if (free_ != nullptr) free_(data_, bytes_, device_);
  delete owner_;
  auto* self = const_cast<Storage*>(this);
  self->~Storage();
  SmallPool<Storage>::give(self);
}

namespace {
uint64_t next_id() {
  static std::atomic<uint64_t> id{1};
  return id.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

TensorImpl::TensorImpl(detail::Ref<Storage> s, const Layout& l, DType d)
    : storage(std::move(s)), layout(l), dtype(d), id(next_id()) {}

void TensorImpl::dispose() const {
  auto* self = const_cast<TensorImpl*>(this);
  self->~TensorImpl();
  SmallPool<TensorImpl>::give(self);
}

Tensor::Tensor(detail::Ref<Storage> storage, const Layout& layout, DType dtype)
    : impl_(new(SmallPool<TensorImpl>::take()) TensorImpl(std::move(storage), layout, dtype)) {}

}  // namespace beeswax
