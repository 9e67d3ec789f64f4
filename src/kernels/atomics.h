// SPDX-License-Identifier: Apache-2.0
// More of the dialect of gpu.h, for kernels of users: the atomics that ours do not need. With atomic_add and
// atomic_max they make a set for words of 32 and 64 bits: add, minimum, maximum, exchange, exchange where a
// value stands. On global or shared memory, relaxed, seen by the whole device; each gives what stood there.
#pragma once

#include "kernels/unsigned_of.h"
#include "kernels/wave.h"

namespace beeswax::gpu {

/// Of integers of 32 or 64 bits, as atomic_max.
template <class T>
BW_DEVICE T atomic_min(T* at, T value) {
#if BW_AMD
  return __hip_atomic_fetch_min(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_fetch_min(at, value, __ATOMIC_RELAXED);
#endif
}

/// Of any type of 4 or 8 bytes.
template <class T>
BW_DEVICE T atomic_exchange(T* at, T value) {
  using Word = UnsignedOf<sizeof(T)>;
  auto* word = reinterpret_cast<Word*>(at);
  Word bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
#if BW_AMD
  bits = __hip_atomic_exchange(word, bits, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  bits = __atomic_exchange_n(word, bits, __ATOMIC_RELAXED);
#endif
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

/// Writes `desired` where the bits of `expected` stood. Of any type of 4 or 8 bytes.
template <class T>
BW_DEVICE T atomic_swap_if(T* at, T expected, T desired) {
  using Word = UnsignedOf<sizeof(T)>;
  auto* word = reinterpret_cast<Word*>(at);
  Word from = 0, to = 0;
  __builtin_memcpy(&from, &expected, sizeof(T));
  __builtin_memcpy(&to, &desired, sizeof(T));
#if BW_AMD
  __hip_atomic_compare_exchange_strong(word, &from, to, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
#else
  __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
  __builtin_memcpy(&expected, &from, sizeof(T));
  return expected;
}

}  // namespace beeswax::gpu
