// SPDX-License-Identifier: Apache-2.0
// The rows of unary.def as functors, for the files that instantiate their loops. Included inside no
// namespace; everything is in an unnamed one of the including file's level.
#pragma once

#include <cstdint>

#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// In the `half` column SAME names an object of this type.
struct Same {};

#define BW_ROW(Name, expr, half_expr)                                           \
  struct Name##Row {                                                            \
    template <class T>                                                          \
    BW_MEMBER_FN static T apply(T x, [[maybe_unused]] T p) {                    \
      return static_cast<T>(expr);                                              \
    }                                                                           \
    template <class T>                                                          \
    BW_MEMBER_FN static auto half([[maybe_unused]] T x, [[maybe_unused]] T p) { \
      [[maybe_unused]] constexpr Same SAME;                                     \
      return half_expr;                                                         \
    }                                                                           \
  };
#define BW_UNARY(Name, method, dtypes, expr, half, ...) BW_ROW(Name, expr, half)
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ...) BW_ROW(Name, expr, half)
#include "tables/unary.def"
#undef BW_ROW

template <class T, class Row>
void unary_loop(const void* x, void* y, int64_t count, double param) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  const T p = static_cast<T>(param);
  for (int64_t i = 0; i < count; ++i) to[i] = Row::apply(from[i], p);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
