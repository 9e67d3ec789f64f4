// SPDX-License-Identifier: Apache-2.0
// The dialect that kernels are written in: one source for every AMD family and for NVIDIA, compiled by the
// distribution's clang with no vendor headers. This is the only file that knows whose GPU it is.
//   BW_KERNEL(threads)   an entry point for blocks of at most `threads` threads
//   BW_SHARED            memory of a block
//   BW_DEVICE            a function of kernels, always inlined
// Blocks are one-dimensional; every kernel knows its block size at compile time.
#pragma once

#include "beeswax/portable.h"
#include "kernels/args.h"

#if defined(__AMDGCN__)
#define BW_AMD 1
#elif defined(__NVPTX__)
#define BW_NVIDIA 1
#endif
// Whether instructions convert f8e4m3 (cvt.rn.f16x2.e4m3x2 and back, PTX ISA 8.1: sm_89 and newer).
#if BW_NVIDIA && __CUDA_ARCH__ >= 890
#define BW_CONVERTS_F8 1
#endif

// clang reads launch_bounds for NVIDIA only; without a size, AMD's kernels get registers for blocks of 1024.
#define BW_ENTRY extern "C" __attribute__((global)) __attribute__((used))
#if BW_AMD
#define BW_KERNEL(threads) BW_ENTRY __attribute__((amdgpu_flat_work_group_size(1, threads))) void
// The same for kernels that keep much in registers: they may have all that a block can get, where compilers
// would rather spill for the sake of more blocks side by side.
#define BW_KERNEL_OF_REGISTERS(threads) \
  BW_ENTRY __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(1))) void
// The same where so many blocks are to stand side by side on a multiprocessor of NVIDIA's: its compiler would
// take more registers than they are worth.
#define BW_KERNEL_SIDE_BY_SIDE(threads, blocks) BW_KERNEL_OF_REGISTERS(threads)
// Hides from the compiler what it knows of a 32-bit variable.
#define BW_HIDE_WORD(word) __asm__ volatile("" : "+v"(word))
#else
#define BW_KERNEL(threads) BW_ENTRY __attribute__((launch_bounds(threads))) void
#define BW_KERNEL_SIDE_BY_SIDE(threads, blocks) BW_ENTRY __attribute__((launch_bounds(threads, blocks))) void
#define BW_KERNEL_OF_REGISTERS(threads) BW_KERNEL_SIDE_BY_SIDE(threads, 1)
#define BW_HIDE_WORD(word) __asm__ volatile("" : "+r"(word))
#endif
#define BW_SHARED __attribute__((shared))
#define BW_DEVICE __attribute__((device)) static inline __attribute__((always_inline))
#define BW_DEVICE_MEMBER __attribute__((device)) inline __attribute__((always_inline))

namespace beeswax::gpu {

/// Threads that run in step. gfx9 has 64; decided by the target, because clang 22 no longer tells.
#if defined(__GFX9__)
inline constexpr int kWave = 64;
#else
inline constexpr int kWave = 32;
#endif

#if BW_AMD
BW_DEVICE uint32_t thread() { return __builtin_amdgcn_workitem_id_x(); }
BW_DEVICE uint32_t block() { return __builtin_amdgcn_workgroup_id_x(); }
BW_DEVICE uint32_t block_y() { return __builtin_amdgcn_workgroup_id_y(); }
BW_DEVICE uint32_t block_z() { return __builtin_amdgcn_workgroup_id_z(); }
/// All threads of the block; what they wrote to shared and global memory before is seen after.
BW_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
BW_DEVICE int32_t shuffle_bits(int32_t value, uint32_t lane) {
  return __builtin_amdgcn_ds_bpermute(static_cast<int>(lane << 2), value);
}
/// The thread's place in its wave.
BW_DEVICE uint32_t lane() { return thread() % kWave; }
BW_DEVICE void fence_device() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
#elif BW_NVIDIA
BW_DEVICE uint32_t thread() { return __nvvm_read_ptx_sreg_tid_x(); }
BW_DEVICE uint32_t block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
BW_DEVICE uint32_t block_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
BW_DEVICE uint32_t block_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
BW_DEVICE void barrier() { __syncthreads(); }
BW_DEVICE int32_t shuffle_bits(int32_t value, uint32_t lane) {
  return __nvvm_shfl_sync_idx_i32(0xffffffffu, value, static_cast<int>(lane), 31);
}
BW_DEVICE uint32_t lane() { return thread() % kWave; }
BW_DEVICE void fence_device() { __nvvm_membar_gl(); }
#endif

/// The value that another thread of the wave holds; all threads of the wave must take part. `lane` is a place
/// in the wave. For types of 1, 2, 4, 8 or 16 bytes.
template <class T>
BW_DEVICE T shuffle(T value, uint32_t lane) {
  if constexpr (sizeof(T) <= 4) {
    int32_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    word = shuffle_bits(word, lane);
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
  } else {
    static_assert(sizeof(T) % 4 == 0);
    int32_t words[sizeof(T) / 4];
    __builtin_memcpy(words, &value, sizeof(T));
    for (int32_t& word : words) word = shuffle_bits(word, lane);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
}
/// The value of the thread whose place differs by `mask` (a power of two below kWave).
template <class T>
BW_DEVICE T shuffle_xor(T value, uint32_t mask) {
  return shuffle(value, lane() ^ mask);
}
/// The value of the thread `delta` places further on; the thread's own where that is past a group of `width`
/// threads (a power of two up to kWave).
template <class T>
BW_DEVICE T shuffle_down(T value, uint32_t delta, uint32_t width = kWave) {
  const uint32_t from = lane() + delta;
  return shuffle(value, (lane() & (width - 1)) + delta < width ? from : lane());
}

/// Atomics on global or shared memory, relaxed, seen by the whole device.
template <class T>
BW_DEVICE T atomic_add(T* at, T value) {
#if BW_AMD
  return __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}
/// Writes `desired` where `expected` stood, and tells what stood there.
BW_DEVICE uint32_t atomic_swap_if(uint32_t* at, uint32_t expected, uint32_t desired) {
#if BW_AMD
  __hip_atomic_compare_exchange_strong(at, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_SYSTEM);
#else
  __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
  return expected;
}

/// The bits of a float rounded to binary16. AMD's compiler joins a product and this rounding into an
/// instruction that turns -0 into +0; the empty assembly keeps them apart.
BW_DEVICE uint16_t f16_bits(float value) {
#if BW_AMD
  asm("" : "+v"(value));
#endif
  return bit_cast<uint16_t>(static_cast<_Float16>(value));
}
#if BW_NVIDIA
BW_DEVICE uint16_t bf16_bits(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
#endif

/// The larger of two floats, NaN where one of them is; of two zeros either, or, where kMaximumInOne, +0
/// before -0.
#if BW_AMD
inline constexpr bool kMaximumInOne = false;
#else
inline constexpr bool kMaximumInOne = true;  // max.NaN is IEEE 754-2019's maximum
#endif
BW_DEVICE float larger_or_nan(float a, float b) {
#if BW_AMD
  return (a > b) | (a != a) ? a : b;
#else
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#endif
}

/// Stores an error unless one is there.
BW_DEVICE void report(const Reporter& to, uint32_t code, int64_t value, int64_t place, int64_t limit) {
  if (atomic_swap_if(&to.slot->state, kSlotEmpty, kSlotClaimed) != kSlotEmpty) return;
  to.slot->code = code;
  to.slot->value = value;
  to.slot->place = place;
  to.slot->limit = limit;
  to.slot->origin = to.origin;
#if BW_AMD
  __hip_atomic_store(&to.slot->state, kSlotReported, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  __nvvm_membar_sys();
  *static_cast<volatile uint32_t*>(&to.slot->state) = kSlotReported;
#endif
}

}  // namespace beeswax::gpu
