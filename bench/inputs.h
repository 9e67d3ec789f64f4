// SPDX-License-Identifier: Apache-2.0
// Inputs of the cases: numbers that depend on the element's index only, made without the library's own
// operations, so that a case needs nothing but what it times.
#pragma once

#include "beeswax/tensor.h"

namespace beeswax::bench {

/// A new tensor of numbers spread evenly over [lo, hi). Any dtype with arithmetic.
Tensor random_tensor(const Shape& shape, DType dtype, double lo = -1, double hi = 1);

/// The same, shared with earlier cases that asked for the same thing: read it, never write it.
Tensor shared_input(const Shape& shape, DType dtype, double lo = -1, double hi = 1);

/// Forgets the shared ones.
void drop_shared_inputs();

/// u32 ids below `limit`, in random order with repetitions.
Tensor random_ids(const Shape& shape, int64_t limit);

}  // namespace beeswax::bench
