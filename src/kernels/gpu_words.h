// SPDX-License-Identifier: Apache-2.0
// The rest of the dialect of gpu.h, for kernels on bytes: dot products of four and loads from even addresses.
#pragma once

#include "kernels/gpu.h"

/// As BW_KERNEL, for kernels to which registers matter: `blocks` of them are to fit a multiprocessor at once,
/// and the compiler spends the registers that this leaves on loads in flight.
#if BW_AMD
#define BW_KERNEL_OF(threads, blocks)                                                         \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, threads))) \
  __attribute__((used)) void
#else
#define BW_KERNEL_OF(threads, blocks)                                                \
  extern "C" __attribute__((global)) __attribute__((launch_bounds(threads, blocks))) \
  __attribute__((used)) void
#endif

namespace beeswax::gpu {

/// The number itself; the compiler takes it for another, and so makes what follows from it here and not
/// earlier. The second is for a number that all threads have alike.
BW_DEVICE uint32_t hidden(uint32_t value) {
#if BW_AMD
  __asm__ volatile("" : "+v"(value));
#else
  __asm__ volatile("" : "+r"(value));
#endif
  return value;
}
BW_DEVICE uint32_t hidden_uniform(uint32_t value) {
#if BW_AMD
  __asm__ volatile("" : "+s"(value));
  return value;
#else
  return hidden(value);
#endif
}

/// A half as a float by the hardware: exact, but a NaN may change.
BW_DEVICE float widen_half(uint32_t half) {
  return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<uint16_t>(half)));
}

// Which instruction there is for products of four signed bytes: 0 none, 1 NVIDIA's, 2 and 3 AMD's.
#if BW_NVIDIA
#define BW_DOT4 1
#elif defined(__GFX11__) || defined(__GFX12__)
#define BW_DOT4 2
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || \
    defined(__gfx950__) || (defined(__GFX10__) && defined(__gfx1030__))
#define BW_DOT4 3
#else
#define BW_DOT4 0
#endif
/// c plus the sum of the products of four signed bytes.
BW_DEVICE int32_t dot4(uint32_t a, uint32_t b, int32_t c) {
#if BW_DOT4 == 1
  int32_t sum;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
#elif BW_DOT4 == 2
  return __builtin_amdgcn_sudot4(true, static_cast<int>(a), true, static_cast<int>(b), c, false);
#elif BW_DOT4 == 3
  return __builtin_amdgcn_sdot4(static_cast<int>(a), static_cast<int>(b), c, false);
#else
  for (int i = 0; i < 32; i += 8)
    c +=
        static_cast<int32_t>(static_cast<int8_t>(a >> i)) * static_cast<int32_t>(static_cast<int8_t>(b >> i));
  return c;
#endif
}

#if BW_NVIDIA
/// The lower word of high:low >> shift, shift up to 32.
BW_DEVICE uint32_t shift_right(uint32_t low, uint32_t high, uint32_t shift) {
  uint32_t out;
  __asm__("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(low), "r"(high), "r"(shift));
  return out;
}
#endif

/// n 32-bit words from an even address. Reads only aligned words that overlap them.
template <int n>
BW_DEVICE void load_words_at_even(const void* from, uint32_t (&to)[n]) {
#if BW_AMD
  __builtin_memcpy(to, from, 4 * n);
#else
  const auto odd = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 2);
  const char* bytes = static_cast<const char*>(from);
  const auto* words = reinterpret_cast<const uint32_t*>(bytes - odd);
  uint32_t low = words[0];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    // Where the address is that of a word, the word past the end is not touched.
    const uint32_t high =
        i + 1 < n ? words[i + 1] : *reinterpret_cast<const uint32_t*>(bytes + (4 * n - 4) + odd);
    to[i] = shift_right(low, high, 8 * odd);
    low = high;
  }
#endif
}
/// A 16-bit number at an even address and the n words that follow it.
template <int n>
BW_DEVICE void load_half_and_words(const void* from, uint16_t& half, uint32_t (&to)[n]) {
#if BW_AMD
  __builtin_memcpy(&half, from, 2);
  __builtin_memcpy(to, static_cast<const char*>(from) + 2, 4 * n);
#else
  const auto odd = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 2);
  const auto* words = reinterpret_cast<const uint32_t*>(static_cast<const char*>(from) - odd);
  uint32_t low = words[0];
  half = static_cast<uint16_t>(low >> (8 * odd));
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const uint32_t high = words[i + 1];
    to[i] = shift_right(low, high, 16 + 8 * odd);
    low = high;
  }
#endif
}

/// Products of a 16 x (4 n) matrix of signed bytes and a (4 n) x 8 one, added to `sum`, by the 32 threads of
/// a wave; n is 4 or 8. Of thread t, a[2 j] and a[2 j + 1] are word t % 4 + 4 j of rows t / 4 and t / 4 + 8,
/// b[j] is that of column t / 4; sum has rows t / 4 (first two) and t / 4 + 8, columns 2 (t % 4) and the
/// next.
#if BW_NVIDIA
inline constexpr bool kByteMatrices = true;
BW_DEVICE void multiply_bytes(const uint32_t (&a)[2], const uint32_t (&b)[1], int32_t (&sum)[4]) {
  __asm__(
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
BW_DEVICE void multiply_bytes(const uint32_t (&a)[4], const uint32_t (&b)[2], int32_t (&sum)[4]) {
  __asm__(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
inline constexpr bool kByteMatrices = false;
BW_DEVICE void multiply_bytes(const uint32_t (&)[2], const uint32_t (&)[1], int32_t (&)[4]) {}
BW_DEVICE void multiply_bytes(const uint32_t (&)[4], const uint32_t (&)[2], int32_t (&)[4]) {}
#endif

}  // namespace beeswax::gpu
