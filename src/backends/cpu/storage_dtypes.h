// SPDX-License-Identifier: Apache-2.0
// Casts of the dtypes that are only stored: f8e8m0, f6e2m3, f6e3m2, f4 (the OCP microscaling formats).
#pragma once

#include "backends/backend.h"

namespace beeswax::cpu {

/// One side is a storage dtype, dense. Decoding is exact and goes to any dtype; encoding takes f32 and
/// narrower floats, rounds to nearest even and saturates (f8e8m0: to the nearest power of two; what is
/// negative is NaN).
void cast_storage(const Operand& x, const Target& out);

}  // namespace beeswax::cpu
