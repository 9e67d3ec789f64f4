// SPDX-License-Identifier: Apache-2.0
// The rows of unary.def as functors, for the files that instantiate their loops. Included inside no
// namespace; everything is in an unnamed one of the including file's level.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/lines.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// In the `half` column SAME names an object of this type.
struct Same {};

// Whether an expression's text calls a function of an angle.
constexpr bool mentions(const char* text, const char* word) {
  for (; *text != 0; ++text) {
    int i = 0;
    while (word[i] != 0 && text[i] == word[i]) ++i;
    if (word[i] == 0) return true;
  }
  return false;
}
constexpr bool has_angle(const char* text) {
  return mentions(text, "m::sin(") || mentions(text, "m::cos(") || mentions(text, "m::tan(");
}

#define BW_ROW(Name, expr, half_expr, has_param)                                                      \
  struct Name##Row {                                                                                  \
    template <class T>                                                                                \
    BW_MEMBER_FN static T apply(T x, [[maybe_unused]] T p) {                                          \
      return static_cast<T>(expr);                                                                    \
    }                                                                                                 \
    /* The same bits for |x| up to m::reduce_limit, without the costly reduction of larger angles. */ \
    template <class T>                                                                                \
    BW_MEMBER_FN static T apply_small(T x, [[maybe_unused]] T p) {                                    \
      namespace m = small_angles;                                                                     \
      return static_cast<T>(expr);                                                                    \
    }                                                                                                 \
    static constexpr bool kHasParam = has_param;                                                      \
    static constexpr bool kHasAngle = has_angle(#expr);                                               \
    template <class T>                                                                                \
    BW_MEMBER_FN static auto half([[maybe_unused]] T x, [[maybe_unused]] T p) {                       \
      [[maybe_unused]] constexpr Same SAME;                                                           \
      return half_expr;                                                                               \
    }                                                                                                 \
  };
#define BW_UNARY(Name, method, dtypes, expr, half, ...) BW_ROW(Name, expr, half, false)
#define BW_UNARY_PARAM(Name, method, param, dtypes, expr, half, ...) BW_ROW(Name, expr, half, true)
#include "tables/unary.def"
#undef BW_ROW

// Whether elements of S take the row's expression for narrow results.
template <class S, class Row>
constexpr bool has_half() {
  if constexpr (kNarrow<S>) {
    return !__is_same(decltype(Row::half(0.0f, 0.0f)), Same);
  } else {
    return false;
  }
}

// The value of a row for elements of S; `small` angles only.
template <class S, class Row, bool small>
BW_FN Compute<S> row_value(Compute<S> x, Compute<S> p) {
  if constexpr (has_half<S, Row>()) {
    return Row::half(x, p);
  } else if constexpr (small) {
    return Row::apply_small(x, p);
  } else {
    return Row::apply(x, p);
  }
}

template <class S, class Row>
void unary_loop(const void* x, void* y, int64_t count, double param, bool past_caches) {
  using T = Compute<S>;
  const S* from = static_cast<const S*>(x);
  S* to = static_cast<S*>(y);
  const T p = static_cast<T>(param);
  [[maybe_unused]] const auto small = [p](T v) __attribute__((always_inline)) {
    return row_value<S, Row, true>(v, p);
  };
  [[maybe_unused]] const auto any = [p](T v) __attribute__((always_inline)) {
    return row_value<S, Row, false>(v, p);
  };
  constexpr int64_t kBlock = 1024;
  if constexpr (Row::kHasParam) {
    // As an array: conditions on one parameter for all elements would stay branches, and those do not
    // vectorize.
    alignas(64) T params[kBlock];
    for (int64_t i = 0; i < (count < kBlock ? count : kBlock); ++i) params[i] = p;
    for (int64_t begin = 0; begin < count; begin += kBlock)
      map_lines(
          to + begin, begin + kBlock < count ? kBlock : count - begin, past_caches,
          [](T v, T q) __attribute__((always_inline)) { return row_value<S, Row, false>(v, q); },
          from + begin, static_cast<const T*>(params));
  } else if constexpr (!Row::kHasAngle) {
    map_lines(to, count, past_caches, any, from);
  } else if constexpr (kNarrow<S> && !__is_same(S, bf16)) {
    map_lines(to, count, past_caches, small, from);  // finite numbers are small here, and others give NaN
  } else {
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const int64_t size = begin + kBlock < count ? kBlock : count - begin;
      m::Bits<T> large = 0;
      for (int64_t i = begin; i < begin + size; ++i)
        large |= m::is_small_angle(static_cast<T>(from[i])) ? 0u : 1u;
      // The next block is requested meanwhile: its angles are looked at before anything else is done with
      // them.
      const S* ahead = from + (begin + size < count ? begin + size : begin);
      if (large == 0) {
        map_lines_requesting(ahead, to + begin, size, past_caches, small, from + begin);
      } else {
        map_lines_requesting(ahead, to + begin, size, past_caches, any, from + begin);
      }
    }
  }
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
