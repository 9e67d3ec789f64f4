// SPDX-License-Identifier: Apache-2.0
// The words of CUDA and HIP among the threads of a wave, for clang: shuffles and votes.
#pragma once

#include "kernels/wave.h"

inline constexpr int warpSize = beeswax::gpu::kWave;

// The thread's place in its wave, whose threads are counted along x, then y, then z; gpu::lane() is for
// blocks of one axis.
BW_DEVICE int BwLane() {
#if BW_AMD
  const unsigned below = __builtin_amdgcn_mbcnt_lo(~0u, 0);
  return static_cast<int>(warpSize == 64 ? __builtin_amdgcn_mbcnt_hi(~0u, below) : below);
#else
  return __nvvm_read_ptx_sreg_laneid();
#endif
}

// Masks of a wave, in the types of HIP and of CUDA.
#if BW_AMD
using BwMask = decltype(0ull);
#else
using BwMask = unsigned;
#endif
// CUDA's masks of 32 bits cannot name the threads of a wave of 64.
template <class Mask>
BW_DEVICE BwMask BwMaskOf(Mask mask) {
  static_assert(sizeof(Mask) * 8 >= warpSize, "waves have 64 threads here: give a mask of 64 bits (~0ull)");
  return static_cast<BwMask>(mask);
}

// Shuffles among `width` neighbours (a power of two up to warpSize); all threads of the wave take part. Who
// would take from outside of its group keeps its own value.
template <class T>
BW_DEVICE T __shfl(T value, int lane, int width = warpSize) {
  return beeswax::gpu::shuffle(value, static_cast<uint32_t>((BwLane() & -width) | (lane & (width - 1))));
}
template <class T>
BW_DEVICE T __shfl_xor(T value, int mask, int width = warpSize) {
  const int own = BwLane(), from = own ^ mask;
  return beeswax::gpu::shuffle(value, static_cast<uint32_t>(from <= (own | (width - 1)) ? from : own));
}
template <class T>
BW_DEVICE T __shfl_down(T value, unsigned delta, int width = warpSize) {
  const int own = BwLane();
  const bool inside =
      (static_cast<unsigned>(own) & static_cast<unsigned>(width - 1)) + delta < static_cast<unsigned>(width);
  return beeswax::gpu::shuffle(value, static_cast<uint32_t>(own) + (inside ? delta : 0));
}
template <class T>
BW_DEVICE T __shfl_up(T value, unsigned delta, int width = warpSize) {
  const unsigned own = static_cast<unsigned>(BwLane());
  const bool inside = (own & static_cast<unsigned>(width - 1)) >= delta;
  return beeswax::gpu::shuffle(value, own - (inside ? delta : 0));
}
// CUDA's names; the mask must name every thread of the wave.
template <class Mask, class T>
BW_DEVICE T __shfl_sync(Mask wave, T value, int lane, int width = warpSize) {
  static_cast<void>(BwMaskOf(wave));
  return __shfl(value, lane, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_xor_sync(Mask wave, T value, int mask, int width = warpSize) {
  static_cast<void>(BwMaskOf(wave));
  return __shfl_xor(value, mask, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_down_sync(Mask wave, T value, unsigned delta, int width = warpSize) {
  static_cast<void>(BwMaskOf(wave));
  return __shfl_down(value, delta, width);
}
template <class Mask, class T>
BW_DEVICE T __shfl_up_sync(Mask wave, T value, unsigned delta, int width = warpSize) {
  static_cast<void>(BwMaskOf(wave));
  return __shfl_up(value, delta, width);
}

// Votes of the threads that run here together; those of another branch, or beyond the block's end, count for
// nothing.
BW_DEVICE BwMask __activemask() {
#if BW_AMD
  return beeswax::gpu::wave_ballot(true);
#else
  return __nvvm_activemask();
#endif
}
// Of the threads that the mask names. On NVIDIA they wait for each other; AMD's run in step.
template <class Mask>
BW_DEVICE BwMask __ballot_sync(Mask mask, int vote) {
#if BW_AMD
  return beeswax::gpu::wave_ballot(vote != 0) & BwMaskOf(mask);
#else
  return __nvvm_vote_ballot_sync(BwMaskOf(mask), vote != 0);
#endif
}
template <class Mask>
BW_DEVICE int __any_sync(Mask mask, int vote) {
  return __ballot_sync(mask, vote) != 0;
}
template <class Mask>
BW_DEVICE int __all_sync(Mask mask, int vote) {
  return __ballot_sync(mask, vote == 0) == 0;
}
BW_DEVICE BwMask __ballot(int vote) { return __ballot_sync(__activemask(), vote); }
BW_DEVICE int __any(int vote) { return __any_sync(__activemask(), vote); }
BW_DEVICE int __all(int vote) { return __all_sync(__activemask(), vote); }

// What the threads of the wave wrote before is seen by the others after.
template <class Mask = BwMask>
BW_DEVICE void __syncwarp(Mask mask = Mask(~0ull)) {
#if BW_AMD
  static_cast<void>(BwMaskOf(mask));
  beeswax::gpu::wave_barrier();
#else
  __nvvm_bar_warp_sync(BwMaskOf(mask));
#endif
}
