// SPDX-License-Identifier: Apache-2.0
// scatter_add by blocks that have whole rows in shared memory.
#pragma once

#include "backends/gpu/backend.h"

namespace beeswax::gpu {

/// Adds where the rows along `axis` are short enough for a block; false, and nothing done, where not. Every
/// id has its own place in `ids`, which are not empty.
bool scatter_rows(Gpu& gpu, const Operand& ids, const Operand& source, int axis, const Target& out);

}  // namespace beeswax::gpu
