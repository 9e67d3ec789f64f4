// SPDX-License-Identifier: Apache-2.0
// What code shared by the host and GPU compilers is written with. Such code uses only the types and
// functions of this header, half.h and core/math: no libm, no exceptions, no host-only types.
#pragma once

#include <cstdint>

// BW_FN: a function for host and device. Always inlined, so that a loop compiled for one instruction-set
// level never hands its copy to another level through the linker.
#if defined(__CUDA__) || defined(__CUDACC__) || defined(__HIP__)
#define BW_FN __attribute__((host, device)) static inline __attribute__((always_inline))
#define BW_MEMBER_FN __attribute__((host, device)) inline __attribute__((always_inline))
#else
#define BW_FN static inline __attribute__((always_inline))
#define BW_MEMBER_FN inline __attribute__((always_inline))
#endif

namespace beeswax {

/// The bits of `from` as a `To` of the same size.
template <class To, class From>
BW_FN constexpr To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace beeswax
