// SPDX-License-Identifier: Apache-2.0
// Memory pools: blocks that are allocated and freed in the order of streams.
#pragma once

namespace emu::hip {

/// hipFree of a block from a pool. False when it is none.
bool free_pooled_now(void* block);

}  // namespace emu::hip
