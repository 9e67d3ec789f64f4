// SPDX-License-Identifier: Apache-2.0
// Kernels of unary.def: unary_<method>_<dtype>, over dense operands (the host makes others dense first: a
// second kernel for each row and dtype would take longer to build than it saves).
#pragma once

#include "core/math/math.h"
#include "kernels/map.h"
#include "tables/unary_packs.h"

namespace beeswax::gpu {

struct Same {};  // what SAME in the `half` column is

#define BW_ROW(Name, expr, half_expr)                                               \
  struct Name##Row {                                                                \
    template <class T>                                                              \
    BW_DEVICE_MEMBER static T apply(T x, [[maybe_unused]] T p) {                    \
      return static_cast<T>(expr);                                                  \
    }                                                                               \
    template <class T>                                                              \
    BW_DEVICE_MEMBER static T apply_small(T x, [[maybe_unused]] T p) {              \
      namespace m = small_angles;                                                   \
      return static_cast<T>(expr);                                                  \
    }                                                                               \
    template <class T>                                                              \
    BW_DEVICE_MEMBER static auto half([[maybe_unused]] T x, [[maybe_unused]] T p) { \
      [[maybe_unused]] constexpr Same SAME;                                         \
      return half_expr;                                                             \
    }                                                                               \
    static constexpr bool kHasAngle = has_angle(#expr);                             \
    static constexpr bool kCostly = unary_is_costly(#expr, #half_expr);             \
  };
#define BW_UNARY(Name, method, dtypes, expr, half, ...) BW_ROW(Name, expr, half)
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ...) BW_ROW(Name, expr, half)
#include "tables/unary.def"
#undef BW_ROW

/// Whether narrow elements have an expression of their own: only for what is costly.
template <class S, class Row>
inline constexpr bool kHasHalf = m::Narrow<S> && !__is_same(decltype(Row::half(0.0f, 0.0f)), Same);

template <class S, class Row>
struct UnaryValue {
  using T = Compute<S>;
  double param;
  // Narrow elements are rounded two at a time, and packs without large angles skip their costly reduction.
  static constexpr bool kChooses = Row::kHasAngle && !kHasHalf<S, Row>;
  static constexpr bool kByPacks = m::Narrow<S> || kChooses;

  BW_DEVICE_MEMBER S operator()(uint32_t, S x) const { return narrow<S>(wide(widen(x))); }
  BW_DEVICE_MEMBER T wide(T x) const {
    const T p = static_cast<T>(param);
    if constexpr (kHasHalf<S, Row>) {
      // Compilers would compare halves, and take their magnitudes by conversions.
      auto hidden = m::bits(x);
      BW_HIDE_WORD(hidden);
      return Row::half(m::from_bits<T>(hidden), p);
    } else {
      return Row::apply(x, p);
    }
  }
  /// The same bits of all elements of a pack.
  template <int n>
  BW_DEVICE_MEMBER void wide_all(T (&x)[n]) const {
    if constexpr (kChooses) {
      bool small = true;
#pragma unroll
      for (const T& element : x) small &= m::is_small_angle(element);
      if (small) {
#pragma unroll
        for (T& element : x) element = Row::apply_small(element, static_cast<T>(param));
        return;
      }
    }
#pragma unroll
    for (T& element : x) element = wide(element);
  }
};

template <class S, class Row>
BW_DEVICE void unary_dense(const UnaryArgs& args) {
  map_dense<unary_packs(Row::kCostly, sizeof(S))>(static_cast<S*>(args.y), args.count,
                                                  UnaryValue<S, Row>{args.param},
                                                  Memory<S>{static_cast<const S*>(args.x)});
}
}  // namespace beeswax::gpu

#define BW_UNARY_KERNEL(Name, method, S, name)                                                 \
  BW_KERNEL(beeswax::gpu::kMapThreads) unary_##method##_##name(beeswax::gpu::UnaryArgs args) { \
    beeswax::gpu::unary_dense<S, beeswax::gpu::Name##Row>(args);                               \
  }
