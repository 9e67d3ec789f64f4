// SPDX-License-Identifier: Apache-2.0
// Transposes: the tiles that blocks move.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

/// Rows and columns of a block's tile. Lines of narrow elements would be short, and loads few, in small ones.
constexpr int transpose_tile(int element_bytes) { return element_bytes > 4 ? kTile : 2 * kTile; }

}  // namespace beeswax::gpu
