// SPDX-License-Identifier: Apache-2.0
// Numbers that GPU kernels and the host code that launches them must agree on: block sizes, elements a thread
// makes, the largest rank. Kernels of one group use one row.
#pragma once

namespace beeswax::gpu {

inline constexpr int kMaxWalk = 8;  // axes of a strided operand

// Elementwise kernels.
inline constexpr int kMapThreads = 256;
/// Bytes of the narrowest operand that a thread takes at once.
inline constexpr int kMapBytes = 16;
/// Elements that a thread of a dense kernel makes, by the bytes of the narrowest and the widest operand.
constexpr int map_elements(int narrowest, int widest) {
  const int most = narrowest == 1 ? 8 : kMapBytes / narrowest;
  // At most 64 bytes of the widest operand: registers.
  return most * widest > 64 ? 64 / widest : most;
}
/// Times a thread of a dense kernel does that, a block's width apart. Once for 8-byte elements: their
/// functions fill the registers.
constexpr int map_unroll(int narrowest, int widest) {
  return narrowest == 8 || map_elements(narrowest, widest) * widest > 32 ? 1 : 2;
}
/// Elements that a thread of a strided kernel makes, a block's width apart.
inline constexpr int kStridedElements = 4;

// Transposes: a block moves a tile of kTile x kTile elements.
inline constexpr int kTile = 32;
inline constexpr int kTileThreads = 256;

}  // namespace beeswax::gpu
