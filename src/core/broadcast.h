// SPDX-License-Identifier: Apache-2.0
// Which shapes broadcast, as NumPy does it: sizes are compared from the last axis, and two fit where they are
// equal or one is 1. The one place that decides this; it throws nothing.
#pragma once

#include <algorithm>

#include "beeswax/shape.h"

namespace beeswax {

/// The first axis at which sizes of `a` and `b` do not fit, counted from the end (-1 is the last); 0 where
/// all fit. With `stretches_b` false only sizes of `a` may be 1 beside others.
inline int broadcast_misfit(const Shape& a, const Shape& b, bool stretches_b = true) {
  for (int axis = -std::min(a.rank(), b.rank()); axis < 0; ++axis) {
    const int64_t in_a = a[a.rank() + axis], in_b = b[b.rank() + axis];
    if (in_a != in_b && in_a != 1 && !(stretches_b && in_b == 1)) return axis;
  }
  return 0;
}

/// Whether there is a shape that both can be seen as.
inline bool broadcasts(const Shape& a, const Shape& b) { return broadcast_misfit(a, b) == 0; }

/// Whether `from` can be seen as `to`.
inline bool broadcasts_to(const Shape& from, const Shape& to) {
  return from.rank() <= to.rank() && broadcast_misfit(from, to, false) == 0;
}

}  // namespace beeswax
