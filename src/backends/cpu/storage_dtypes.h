// SPDX-License-Identifier: Apache-2.0
// Casts of the dtypes that are only stored: f8e8m0, f6e2m3, f6e3m2, f4 (the OCP microscaling formats).
#pragma once

#include "backends/backend.h"

namespace beeswax::cpu {

/// One side or both are storage dtypes, dense. Decoding is exact, and rounds once to a narrower dtype;
/// encoding takes any dtype, rounds once to nearest even from the source and saturates. NaN becomes 0.
/// f8e8m0: to the nearest power of two, of two as near the one with the even code; negative numbers and NaN
/// become NaN.
void cast_storage(const Operand& x, const Target& out);

}  // namespace beeswax::cpu
