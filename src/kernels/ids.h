// SPDX-License-Identifier: Apache-2.0
// Ids in kernels: reading them, and what becomes of those that name nothing.
#pragma once

#include "kernels/elements.h"
#include "kernels/index_args.h"

namespace beeswax::gpu {

inline constexpr int64_t kSkip = -1;

/// Memory that is read or written once, and so need not push out of the caches what is read at random.
template <class T>
BW_DEVICE T load_once(const T* from) {
#if BW_NVIDIA
  if constexpr (sizeof(T) == 8) {
    int64_t value;
    __asm__("ld.global.cs.b64 %0, [%1];" : "=l"(value) : "l"(from));
    return bit_cast<T>(value);
  } else if constexpr (sizeof(T) == 4) {
    int32_t value;
    __asm__("ld.global.cs.b32 %0, [%1];" : "=r"(value) : "l"(from));
    return bit_cast<T>(value);
  }
#endif
  return __builtin_nontemporal_load(from);
}
template <class T>
BW_DEVICE void store_once(T* to, T value) {
#if BW_NVIDIA
  if constexpr (sizeof(T) == 8) {
    __asm__ volatile("st.global.cs.b64 [%0], %1;" ::"l"(to), "l"(bit_cast<uint64_t>(value)) : "memory");
    return;
  } else if constexpr (sizeof(T) == 4) {
    __asm__ volatile("st.global.cs.b32 [%0], %1;" ::"l"(to), "r"(bit_cast<uint32_t>(value)) : "memory");
    return;
  } else if constexpr (sizeof(T) == 2) {
    __asm__ volatile("st.global.cs.b16 [%0], %1;" ::"l"(to), "h"(bit_cast<uint16_t>(value)) : "memory");
    return;
  }
#endif
  __builtin_nontemporal_store(value, to);
}

/// f(the ids, as what they are).
template <class F>
BW_DEVICE void with_ids(const IdsArgs& args, F f) {
  switch (args.kind) {
    case 0:
      return f(static_cast<const uint8_t*>(args.ids));
    case 1:
      return f(static_cast<const uint32_t*>(args.ids));
    case 2:
      return f(static_cast<const int16_t*>(args.ids));
    case 3:
      return f(static_cast<const int32_t*>(args.ids));
    default:
      return f(static_cast<const int64_t*>(args.ids));
  }
}
/// ids[k] = the id at offset[k], which nobody else reads: one branch by dtype for all of them, so that their
/// loads are in flight together.
template <int n>
BW_DEVICE void read_ids(const IdsArgs& args, const int64_t (&offset)[n], int64_t (&id)[n]) {
  with_ids(args, [&](const auto* ids) __attribute__((always_inline)) {
#pragma unroll
    for (int k = 0; k < n; ++k) id[k] = static_cast<int64_t>(load_once(ids + offset[k]));
  });
}

/// The id if it is legal, else kSkip; `index` is its linear index in the launch. Reports a bad one.
BW_DEVICE int64_t legal_id(const IdsArgs& args, int64_t id, int64_t offset, uint32_t index) {
  if (static_cast<uint64_t>(id) < static_cast<uint64_t>(args.size)) return id;
  if (id != args.skip && args.report.slot != nullptr)
    report(args.report, kErrorIndexOutOfRange, id,
           (args.stride == 0 ? args.first + index : (args.first + offset) / args.stride) * args.step,
           args.size);
  return kSkip;
}

}  // namespace beeswax::gpu
