// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 (core/philox.h) for a vector of blocks at a time. Each word of the state takes the low half
// of a 64-bit lane; what is in the upper halves does not matter, since the multiplication reads the low ones
// only.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/philox.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Blocks b and b + kHalf of a group lie in neighbouring lanes, so that joining lanes pairwise puts them in
// order.
#if defined(__AVX512F__)
constexpr int kPhiloxLanes = 8;
typedef uint64_t PhiloxLanes __attribute__((vector_size(64)));
BW_FN PhiloxLanes multiply_low(PhiloxLanes a, PhiloxLanes b) {
  // The masked form: g++ 12 warns about the undefined register inside the plain one.
  return (PhiloxLanes)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
}
BW_FN PhiloxLanes join_even(PhiloxLanes a, PhiloxLanes b) {
  return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
}
BW_FN PhiloxLanes join_odd(PhiloxLanes a, PhiloxLanes b) {
  return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}
BW_FN constexpr PhiloxLanes block_of_lane() { return PhiloxLanes{0, 4, 1, 5, 2, 6, 3, 7}; }
#elif defined(__AVX2__)
constexpr int kPhiloxLanes = 4;
typedef uint64_t PhiloxLanes __attribute__((vector_size(32)));
BW_FN PhiloxLanes multiply_low(PhiloxLanes a, PhiloxLanes b) {
  return (PhiloxLanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
BW_FN PhiloxLanes join_even(PhiloxLanes a, PhiloxLanes b) {
  return __builtin_shufflevector(a, b, 0, 4, 2, 6);
}
BW_FN PhiloxLanes join_odd(PhiloxLanes a, PhiloxLanes b) { return __builtin_shufflevector(a, b, 1, 5, 3, 7); }
BW_FN constexpr PhiloxLanes block_of_lane() { return PhiloxLanes{0, 2, 1, 3}; }
#else
constexpr int kPhiloxLanes = 2;
typedef uint64_t PhiloxLanes __attribute__((vector_size(16)));
#if defined(__x86_64__)
BW_FN PhiloxLanes multiply_low(PhiloxLanes a, PhiloxLanes b) {
  return (PhiloxLanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
}
#else
BW_FN PhiloxLanes multiply_low(PhiloxLanes a, PhiloxLanes b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
#endif
BW_FN PhiloxLanes join_even(PhiloxLanes a, PhiloxLanes b) { return __builtin_shufflevector(a, b, 0, 2); }
BW_FN PhiloxLanes join_odd(PhiloxLanes a, PhiloxLanes b) { return __builtin_shufflevector(a, b, 1, 3); }
BW_FN constexpr PhiloxLanes block_of_lane() { return PhiloxLanes{0, 1}; }
#endif

/// Groups made side by side: a round waits for the one before it, another group fills the time.
constexpr int kPhiloxGroups = 2;

/// The words of kPhiloxGroups * kPhiloxLanes blocks of the stream of `seed` from `block` on, in order.
BW_FN void philox_words(uint32_t* words, uint64_t seed, uint64_t block) {
  const PhiloxLanes zero = {};
  PhiloxLanes x0[kPhiloxGroups], x1[kPhiloxGroups], x2[kPhiloxGroups], x3[kPhiloxGroups];
  for (uint64_t g = 0; g < kPhiloxGroups; ++g) {
    x0[g] = zero + (block + g * kPhiloxLanes) + block_of_lane();
    x1[g] = x0[g] >> 32;
    x2[g] = zero;
    x3[g] = zero;
  }
#pragma GCC unroll 10
  for (uint32_t round = 0; round < kPhiloxRounds; ++round) {
    const PhiloxLanes key0 = zero + (static_cast<uint32_t>(seed) + round * kPhiloxBump0);
    const PhiloxLanes key1 = zero + (static_cast<uint32_t>(seed >> 32) + round * kPhiloxBump1);
#pragma GCC unroll 2
    for (int g = 0; g < kPhiloxGroups; ++g) {
      const PhiloxLanes left = multiply_low(x0[g], zero + kPhiloxMultiply0);
      const PhiloxLanes right = multiply_low(x2[g], zero + kPhiloxMultiply1);
      x0[g] = (right >> 32) ^ x1[g] ^ key0;
      x1[g] = right;
      x2[g] = (left >> 32) ^ x3[g] ^ key1;
      x3[g] = left;
    }
  }
#pragma GCC unroll 2
  for (int g = 0; g < kPhiloxGroups; ++g, words += 4 * kPhiloxLanes) {
    const PhiloxLanes low = (x0[g] & 0xffffffffu) | (x1[g] << 32);
    const PhiloxLanes high = (x2[g] & 0xffffffffu) | (x3[g] << 32);
    const PhiloxLanes first = join_even(low, high);
    const PhiloxLanes second = join_odd(low, high);
    __builtin_memcpy(words, &first, sizeof(first));
    __builtin_memcpy(words + 2 * kPhiloxLanes, &second, sizeof(second));
  }
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
