// SPDX-License-Identifier: Apache-2.0
// norm_<dtype>: RMS and layer norms of rows in registers, norm_short_<dtype> and norm_wide_<dtype> of shorter
// and longer ones, norm_loose_... of those that packs do not fit (RowKind); norm_apply_<dtype> for
// rows beyond (has_rows).
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

template <class Rows>
BW_DEVICE void norm_rows(const RowsArgs& args, typename Rows::A (&partials)[2][Rows::kGroups]) {
  using S = typename Rows::Element;
  using A = typename Rows::A;
  Rows rows(args);
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

template <class S>
BW_DEVICE void norm_apply(const RowsApplyArgs& args) {
  using A = Compute<S>;
  apply_rows<S>(args, [&](A x, uint32_t row, int64_t i) __attribute__((always_inline)) {
    const A scale = norm_scale(static_cast<const A*>(args.second)[row], args.n, args.eps);
    if (args.first != nullptr) x -= static_cast<const A*>(args.first)[row];
    const A y = x * scale * widen(static_cast<const S*>(args.weight)[i]);
    return args.bias != nullptr ? y + widen(static_cast<const S*>(args.bias)[i]) : y;
  });
}

/// Blocks that a multiprocessor has the registers for; two wide ones of bf16 would spill a few.
template <class Rows>
constexpr uint32_t norm_blocks() {
  using S = typename Rows::Element;
  if (Rows::kWide && !Rows::kLoose) return __is_same(S, f16) ? 2 : 1;
  const uint32_t blocks = Rows::kTurned ? 4 : Rows::kLoose ? 5 : blocks_side_by_side(sizeof(S));
  return blocks * kRowThreads / Rows::kBlock;
}
#define BW_NORM_IN(kind, infix, S, name)                                                  \
  using Norm##kind##_##name = RegisterRow<S, RowKind::kind>;                              \
  BW_KERNEL_SIDE_BY_SIDE(Norm##kind##_##name::kBlock, norm_blocks<Norm##kind##_##name>()) \
  norm_##infix##name(RowsArgs args) {                                                     \
    BW_SHARED static Norm##kind##_##name::A partials[2][Norm##kind##_##name::kGroups];    \
    norm_rows<Norm##kind##_##name>(args, partials);                                       \
  }
#define BW_NORM_APPLY(S, name) \
  BW_KERNEL(kMapThreads) norm_apply_##name(RowsApplyArgs args) { norm_apply<S>(args); }
#define BW_NORM(S, name)             \
  BW_NORM_IN(Short, short_, S, name) \
  BW_NORM_IN(Usual, , S, name)       \
  BW_NORM_APPLY(S, name)
#define BW_NORM_MORE(S, name)                   \
  BW_NORM(S, name)                              \
  BW_NORM_IN(Wide, wide_, S, name)              \
  BW_NORM_IN(LooseShort, loose_short_, S, name) \
  BW_NORM_IN(Loose, loose_, S, name)            \
  BW_NORM_IN(LooseWide, loose_wide_, S, name)
BW_NORM_MORE(float, f32)
BW_NORM(double, f64)
BW_NORM_MORE(f16, f16)
BW_NORM_MORE(bf16, bf16)
BW_NORM(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
