// SPDX-License-Identifier: Apache-2.0
// Scratch<T>: uninitialized working memory for `count` elements of a plain type, from the CPU's block pool,
// so that an operation called again and again takes no fresh pages from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/backend.h"

namespace beeswax::cpu {

template <class T>
class Scratch {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  explicit Scratch(int64_t count)
      : storage_(CpuBackend::instance().allocate(static_cast<size_t>(count) * sizeof(T))) {}
  T* data() const { return reinterpret_cast<T*>(storage_->data()); }
  T& operator[](int64_t i) const { return data()[i]; }

 private:
  detail::Ref<Storage> storage_;
};

}  // namespace beeswax::cpu
