// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10: a counter-based generator of random bits, after Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (SC 2011). A block of four words is a function of a 128-bit counter and
// a 64-bit key alone, so any part of the stream can be made anywhere, in any order. Shared by the host and
// GPU kernels.
#pragma once

#include "beeswax/portable.h"

namespace beeswax {

inline constexpr uint32_t kPhiloxRounds = 10;
inline constexpr uint32_t kPhiloxMultiply0 = 0xd2511f53u;
inline constexpr uint32_t kPhiloxMultiply1 = 0xcd9e8d57u;
inline constexpr uint32_t kPhiloxBump0 = 0x9e3779b9u;  // added to the key after each round
inline constexpr uint32_t kPhiloxBump1 = 0xbb67ae85u;

struct PhiloxBlock {
  uint32_t word[4];
};

/// The whole product. Compilers for NVIDIA's GPUs make a longer one of it, and add zeros. LLVM 19's
/// vectorizer of straight-line code takes two of them for products of 32 bits, and makes the upper half of
/// the sign of the lower one (seen for gfx90a): it must not see the halves.
BW_FN uint64_t philox_product(uint32_t a, uint32_t b) {
#if defined(__NVPTX__)
  uint64_t product;
  __asm__("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#elif defined(__AMDGCN__)
  const uint64_t product = uint64_t{a} * b;
  auto low = static_cast<uint32_t>(product), high = static_cast<uint32_t>(product >> 32);
  __asm__("" : "+v"(low), "+v"(high));
  return uint64_t{high} << 32 | low;
#else
  return uint64_t{a} * b;
#endif
}
/// One round.
BW_FN PhiloxBlock philox_round(PhiloxBlock x, uint32_t key0, uint32_t key1) {
  const uint64_t left = philox_product(x.word[0], kPhiloxMultiply0);
  const uint64_t right = philox_product(x.word[2], kPhiloxMultiply1);
  return {{static_cast<uint32_t>(right >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(right),
           static_cast<uint32_t>(left >> 32) ^ x.word[3] ^ key1, static_cast<uint32_t>(left)}};
}

/// The keys of all rounds.
struct PhiloxKeys {
  uint32_t of_round[kPhiloxRounds][2];
};
BW_FN PhiloxKeys philox_keys(uint32_t key0, uint32_t key1) {
  PhiloxKeys keys{};
#pragma GCC unroll 10
  for (uint32_t round = 0; round < kPhiloxRounds; ++round) {
    keys.of_round[round][0] = key0 + round * kPhiloxBump0;
    keys.of_round[round][1] = key1 + round * kPhiloxBump1;
  }
  return keys;
}
/// Those of the stream of `seed`.
BW_FN PhiloxKeys random_keys(uint64_t seed) {
  return philox_keys(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

BW_FN PhiloxBlock philox(PhiloxBlock counter, const PhiloxKeys& keys) {
#pragma GCC unroll 10
  for (const uint32_t(&key)[2] : keys.of_round) counter = philox_round(counter, key[0], key[1]);
  return counter;
}

/// Block `block` of the stream with these keys.
BW_FN PhiloxBlock random_block(const PhiloxKeys& keys, uint64_t block) {
  return philox({{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}}, keys);
}

}  // namespace beeswax
