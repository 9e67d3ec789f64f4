// SPDX-License-Identifier: Apache-2.0
// Argument reduction by multiples of pi/2.
#pragma once

#include "core/math/polynomials.h"

namespace beeswax::m {

/// x = quadrant pi/2 + r + low; only the low two bits of the quadrant count.
template <Floating T>
struct Reduced {
  T r, low;
  Bits<T> quadrant;
};

/// For |x| up to kSmall: three-part pi/2.
template <Floating T>
BW_FN Reduced<T> reduce_small(T x) {
  const Rounded<T> q = round_product(x, pick<T>(0x1.45f306p-1f, 0x1.45f306dc9c883p-1));
  const T high = fma(q.value, pick<T>(-0x1.921fb6p0f, -0x1.921fb54442d18p0), x);  // exact
  const Pair<T> second = two_product(q.value, pick<T>(0x1.777a5cp-25f, -0x1.1a62633145c07p-54));
  const T r = high + second.high;
  // Exact: `high` is a multiple of the last place of second.high.
  const T error = (second.high - (r - high)) + second.low;
  const T low = fma(q.value, pick<T>(0x1.ee59dap-50f, 0x1.f1976b7ed8fbcp-110), error);
  return {r, low, q.raw};
}

template <Floating T>
BW_FN Reduced<T> reduce(T x) {
  return reduce_small(x);
}

}  // namespace beeswax::m
