// SPDX-License-Identifier: Apache-2.0
// More of the dialect of gpu.h: votes of a wave, and the atomics that only a few kernels need.
#pragma once

#include "kernels/gpu.h"

namespace beeswax::gpu {

/// What the threads of a wave wrote to shared memory before is seen by the others after.
BW_DEVICE void wave_barrier() {
#if BW_AMD
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  __nvvm_bar_warp_sync(0xffffffffu);
#endif
}

/// Bit i is set where the thread at place i of the wave has `vote`; all threads of the wave must take
/// part.
#if BW_AMD && defined(__GFX9__)
using WaveMask = uint64_t;
BW_DEVICE WaveMask wave_ballot(bool vote) { return __builtin_amdgcn_ballot_w64(vote); }
#elif BW_AMD
using WaveMask = uint32_t;
BW_DEVICE WaveMask wave_ballot(bool vote) { return __builtin_amdgcn_ballot_w32(vote); }
#else
using WaveMask = uint32_t;
BW_DEVICE WaveMask wave_ballot(bool vote) { return __nvvm_vote_ballot_sync(0xffffffffu, vote); }
#endif
BW_DEVICE uint32_t bits_in(uint32_t mask) { return static_cast<uint32_t>(__builtin_popcount(mask)); }
BW_DEVICE uint32_t bits_in(uint64_t mask) { return static_cast<uint32_t>(__builtin_popcountll(mask)); }

/// On global or shared memory, relaxed, seen by the whole device.
template <class T>
BW_DEVICE T atomic_max(T* at, T value) {
#if BW_AMD
  return __hip_atomic_fetch_max(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_fetch_max(at, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace beeswax::gpu
