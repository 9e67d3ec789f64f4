// SPDX-License-Identifier: Apache-2.0
// Memory of one thread for one purpose, kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace beeswax::cpu {

enum class Purpose { floats, results, panels, rows, blocks };

/// Grows to the largest size asked for; the thread's next call for the purpose ends what it gave before. So
/// nobody keeps it while other tasks run.
template <class T, Purpose kPurpose>
T* thread_scratch(int64_t count) {
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local int64_t bytes = 0;
  const int64_t wanted = count * static_cast<int64_t>(sizeof(T));
  if (wanted > bytes) {
    memory.reset();
    bytes = 0;
    memory.reset(::operator new(static_cast<size_t>(wanted), std::align_val_t{64}));
    bytes = wanted;
  }
  return static_cast<T*>(memory.get());
}

}  // namespace beeswax::cpu
