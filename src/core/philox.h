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

/// One round.
BW_FN PhiloxBlock philox_round(PhiloxBlock x, uint32_t key0, uint32_t key1) {
  const uint64_t left = uint64_t{kPhiloxMultiply0} * x.word[0];
  const uint64_t right = uint64_t{kPhiloxMultiply1} * x.word[2];
  return {{static_cast<uint32_t>(right >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(right),
           static_cast<uint32_t>(left >> 32) ^ x.word[3] ^ key1, static_cast<uint32_t>(left)}};
}

BW_FN PhiloxBlock philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
#pragma GCC unroll 10
  for (uint32_t round = 0; round < kPhiloxRounds; ++round)
    counter = philox_round(counter, key0 + round * kPhiloxBump0, key1 + round * kPhiloxBump1);
  return counter;
}

/// Block `block` of the stream of `seed`.
BW_FN PhiloxBlock random_block(uint64_t seed, uint64_t block) {
  return philox({{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}},
                static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

}  // namespace beeswax
