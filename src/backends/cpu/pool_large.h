// SPDX-License-Identifier: Apache-2.0
// Pooling where windows are too large for tables of their taps: reductions over windows, which are views of
// the input, in the same bits. It takes no memory by the tap.
#pragma once

#include "backends/cpu/backend.h"

namespace beeswax::cpu {

inline constexpr int64_t kLargeWindow = 1 << 16;  // taps

void pool_large(const PoolShape& s, const Operand& x, const Target& out);

}  // namespace beeswax::cpu
