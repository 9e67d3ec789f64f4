// SPDX-License-Identifier: Apache-2.0
// Norms of rows in registers.
#pragma once

#include "kernels/rows.h"

namespace beeswax::gpu {

/// 1 / sqrt(mean + eps), of a sum of squares.
template <class A>
BW_DEVICE A norm_scale(A sum, int64_t n, double eps) {
  return A(1) / m::sqrt(sum / static_cast<A>(n) + static_cast<A>(eps));
}

/// y = finish(centered(x) * scale * weight, j), where b has the biases.
template <class S, class Rows, class Centered, class Finish, class A = Compute<S>>
BW_DEVICE void norm_store(const Rows& rows, const RowsArgs& args, A squares, typename Rows::Own& b,
                          Centered centered, Finish finish) {
  const A scale = norm_scale(squares, args.n, args.eps);
  const S* weight = static_cast<const S*>(args.weight);
  const S* bias = static_cast<const S*>(args.bias);
  typename Rows::Own w;
  rows.store(
      [&](uint32_t p) __attribute__((always_inline)) {
        rows.load_shared(weight, p, w);
        if (bias != nullptr) rows.load_shared(bias, p, b);
      },
      [&](A x, uint32_t i) __attribute__((always_inline)) {
        const uint32_t j = i % Rows::kOwn;
        return finish(centered(x) * scale * widen_at(w, j), j);
      });
}

/// RMS and layer norms of rows that are in registers.
template <class Rows>
BW_DEVICE void norm_rows(const Rows& rows, const RowsArgs& args,
                         typename Rows::A (&partials)[2][Rows::kPartials]) {
  using S = typename Rows::Element;
  using A = typename Rows::A;
  const bool layer = (args.flags & kRowsSecond) != 0;
  typename Rows::Own b;
  // The usual norm on its own; more threads have no registers for it.
  if (!Rows::kWide && !layer && args.bias == nullptr) {
    const A squares =
        rows.template join<Add>(partials[1], [](A x) __attribute__((always_inline)) { return x * x; });
    norm_store<S>(
        rows, args, squares, b, [](A x) __attribute__((always_inline)) { return x; },
        [](A y, uint32_t) __attribute__((always_inline)) { return y; });
    return;
  }
  A mean = A(0);
  if (layer)
    mean = rows.template join<Add>(partials[0], [](A x) __attribute__((always_inline)) { return x; }) /
           static_cast<A>(args.n);
  const auto centered = [=](A x) __attribute__((always_inline)) { return layer ? x - mean : x; };
  const A squares = rows.template join<Add>(partials[1], [&](A x) __attribute__((always_inline)) {
    const A distance = centered(x);
    return distance * distance;
  });
  norm_store<S>(rows, args, squares, b, centered, [&](A y, uint32_t j) __attribute__((always_inline)) {
    return args.bias != nullptr ? y + widen_at(b, j) : y;
  });
}

}  // namespace beeswax::gpu
