// SPDX-License-Identifier: Apache-2.0
// What matrix units read: tiles in shared memory, lanes (rows of a, columns of b) of 64 bytes along k, in
// four packs of 16. And which units the compiler's target has; the host's table of the same is
// matrix_units in backends/gpu/matrix_units.cc.
#pragma once

#include "kernels/elements.h"

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || \
    defined(__gfx942__) || defined(__gfx950__)
#define BW_MFMA 1
#elif defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) || defined(__gfx1103__) || \
    defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1152__)
#define BW_WMMA 11
#elif defined(__gfx1200__) || defined(__gfx1201__)
#define BW_WMMA 12
#endif

namespace beeswax::gpu {

inline constexpr int kMmaSize = 16;  // rows and columns that a unit multiplies at a time

/// Packs of a tile's lane, spread over the banks by the lane's number so that neither reads of neighbouring
/// lanes nor those of a whole lane meet in a bank.
using MmaPack = Pack<uint32_t, 4>;
BW_DEVICE uint32_t mma_place(uint32_t lane_of_tile, uint32_t pack) {
  return lane_of_tile * 4 + (pack ^ (lane_of_tile >> 1 & 3) ^ (lane_of_tile >> 3 & 3));
}
/// Steps of k that a tile holds, of elements of so many bytes.
constexpr int mma_step(int bytes) { return 64 / bytes; }
inline constexpr int kMmaStep = mma_step(2);  // of f16 and bf16

/// The units of a family (mma/mma.h).
template <class T>
struct Mma;
/// An f32 whose product may be made with 11 significant bits.
struct Tf32 {
  float value;
};
/// The bits of an f32 rounded to that, to nearest with ties away from zero. NVIDIA's units would cut what is
/// to be rounded, and its instruction for this makes infinities of some NaNs; AMD documents the format of
/// what its units read, not how they round to it. What is rounded past the largest number is infinite; a NaN
/// keeps a bit that the units see.
BW_DEVICE uint32_t tf32_bits(uint32_t bits) {
  return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : (bits + 0x1000u) & 0xffffe000u;
}

template <class To, class From>
BW_DEVICE To cast_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

/// Four bytes of two words: each of the selector's digits, the lowest byte's first, is a byte's number, 0 to
/// 3 in a, 4 to 7 in b.
template <uint32_t selector>
BW_DEVICE uint32_t permute_bytes(uint32_t a, uint32_t b) {
#if BW_NVIDIA
  uint32_t word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(a), "r"(b), "n"(selector));
  return word;
#else
  return __builtin_amdgcn_perm(
      b, a,
      (selector >> 12 & 7) << 24 | (selector >> 8 & 7) << 16 | (selector >> 4 & 7) << 8 | (selector & 7));
#endif
}
/// Two 16-bit elements, each in a word of its own, as one word.
BW_DEVICE uint32_t pack_halves(uint32_t low, uint32_t high) {
#if BW_NVIDIA
  return permute_bytes<0x5410>(low, high);
#else
  return low | high << 16;
#endif
}

}  // namespace beeswax::gpu
