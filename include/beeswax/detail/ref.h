// SPDX-License-Identifier: Apache-2.0
// Ref<T>: an intrusive reference-counted pointer, one word wide.
#pragma once

#include <atomic>
#include <utility>

#include "beeswax/export.h"

namespace beeswax::detail {

/// Base of what Ref points to. The last release calls dispose(), which by default deletes.
class BW_API RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) dispose();
  }
  /// Whether exactly one Ref points here.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~RefCounted();
  virtual void dispose() const;

 private:
  mutable std::atomic<int> refs_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

}  // namespace beeswax::detail
