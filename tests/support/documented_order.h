// SPDX-License-Identifier: Apache-2.0
// The order of sums in docs/numerics.md, word by word and one element at a time: what the library's own loops
// are compared with.
#pragma once

#include <vector>

namespace beeswax::test {

/// `values` (at least one) combined in the documented order.
template <class A, class Combine>
A in_order(std::vector<A> values, const Combine& combine) {
  do {
    std::vector<A> results;
    for (size_t chunk = 0; chunk < values.size(); chunk += 512) {
      std::vector<A> lanes;
      for (size_t i = 0; i < 512 && chunk + i < values.size(); ++i) {
        const A x = values[chunk + i];
        if (i < 64) {
          lanes.push_back(x);
        } else {
          lanes[i % 64] = combine(lanes[i % 64], x);
        }
      }
      for (size_t half = 32; half >= 1; half /= 2)
        for (size_t l = 0; l < half; ++l)
          if (l + half < lanes.size() && l + half < 2 * half) lanes[l] = combine(lanes[l], lanes[l + half]);
      results.push_back(lanes[0]);
    }
    values = results;
  } while (values.size() > 1);
  return values[0];
}

/// Their sum; integers wrap in their own type.
template <class A>
A ordered_sum(const std::vector<A>& values) {
  return in_order(values, [](A a, A b) { return static_cast<A>(a + b); });
}

}  // namespace beeswax::test
