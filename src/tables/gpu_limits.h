// SPDX-License-Identifier: Apache-2.0
// Numbers that GPU kernels and the host code that launches them must agree on: block sizes, elements a thread
// makes, the largest rank. Kernels of one group use one row.
#pragma once

namespace beeswax::gpu {

inline constexpr int kMaxWalk = 8;  // axes of a strided operand

// Elementwise kernels.
inline constexpr int kMapThreads = 256;
/// Elements that a thread of a dense kernel makes at once, by the bytes of the narrowest and the widest
/// operand and of the output: 16 bytes of an output that is the widest, so that a wave's stores are whole
/// lines; else 16 bytes of the narrowest, as far as registers reach.
constexpr int map_elements(int narrowest, int widest, int output) {
  const int most = narrowest == 1 ? 8 : 16 / narrowest;
  const int by_output = output == widest ? 16 / output : most;
  const int elements = by_output < most ? by_output : most;
  return elements * widest > 64 ? 64 / widest : elements;
}
/// Elements that a thread of a strided kernel makes, a block's width apart.
inline constexpr int kStridedElements = 4;

/// Elements in a pack of a strided kernel whose innermost axis is dense, and packs that a thread makes.
constexpr int packed_elements(int bytes) { return 16 / bytes; }
inline constexpr int kPackedPacks = 2;

// Transposes (kernels/transpose_args.h): elements of 8 bytes have tiles of this side.
inline constexpr int kTile = 32;
inline constexpr int kTileThreads = 256;

}  // namespace beeswax::gpu
