// SPDX-License-Identifier: Apache-2.0
// Transposes: the tiles that blocks move.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

/// Rows and columns of a block's tile. Lines of narrow elements would be short, and loads few, in small ones.
constexpr int transpose_tile(int element_bytes) { return element_bytes > 4 ? kTile : 2 * kTile; }

/// Elements of one or two bytes move by squares, whose rows and columns are this many elements: as many as a
/// few words hold.
constexpr int transpose_square(int element_bytes, int words) { return 4 * words / element_bytes; }
/// Squares of a tile, from the top down and from left to right. Two words a row make lines of 256 bytes on
/// both sides; of bytes only where they are written, for a square tile of them would not fit.
struct SquareTile {
  int down, across;
};
constexpr SquareTile square_tile(int element_bytes, int words) {
  return {kTile, words == 2 && element_bytes == 1 ? kTile / 2 : kTile};
}

}  // namespace beeswax::gpu
