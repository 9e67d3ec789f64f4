// SPDX-License-Identifier: Apache-2.0
// Transposes: the tiles that blocks move.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

/// Rows and columns of a block's tile. Lines of narrow elements would be short, and loads few, in small ones.
constexpr int transpose_tile(int element_bytes) { return element_bytes > 4 ? kTile : 2 * kTile; }

/// Elements of one or two bytes that a thread takes at a time where rows and columns are whole packs.
constexpr int transpose_pack(int element_bytes) { return 4 / element_bytes; }
/// Rows and columns of a tile of packs: a line of 128 bytes.
constexpr int transpose_pack_tile(int element_bytes) { return kTile * transpose_pack(element_bytes); }

}  // namespace beeswax::gpu
