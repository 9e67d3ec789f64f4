// SPDX-License-Identifier: Apache-2.0
// What a draw of random numbers means for a dtype; for the host.
#pragma once

#include "beeswax/dtype.h"

namespace beeswax {

/// Numbers that one block of four words makes.
inline int64_t random_numbers_in_block(DType dtype) { return dtype == DType::F64 ? 2 : 4; }

/// The smallest value of `dtype` >= lo and the largest < hi; first > last (or NaN) where there is none.
struct RandomBounds {
  double first, last;
};
RandomBounds random_bounds(DType dtype, double lo, double hi);

}  // namespace beeswax
