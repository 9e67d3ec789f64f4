// SPDX-License-Identifier: Apache-2.0
// Maximum and minimum of floats by IEEE 754-2019 (NaN propagates, -0 < +0) on integers whose order is that of
// the numbers: a compare and a select for each, and none of the order's special cases in a loop.
// Included by kernels only, after their namespace is chosen.
#pragma once

#include <cstdint>

#include "beeswax/half.h"
#include "core/math/basic.h"
#include "tables/same_text.h"

namespace beeswax::cpu::BW_ISA {
namespace {

enum class Extreme { None, Largest, Least };

/// What the expression of a table's row means, given those that mean the largest and the least.
constexpr Extreme extreme_of(const char* expression, const char* largest, const char* least) {
  if (same_text(expression, largest)) return Extreme::Largest;
  return same_text(expression, least) ? Extreme::Least : Extreme::None;
}

/// The bits of a float as a signed integer, and those of infinity, beyond which are the NaNs.
template <class T>
struct SignedBits;
#define BW_SIGNED_BITS(T, Int, infinity_, raw_)          \
  template <>                                            \
  struct SignedBits<T> {                                 \
    using type = Int;                                    \
    static constexpr Int kInfinity = infinity_;          \
    BW_FN Int of(T x) { return static_cast<Int>(raw_); } \
  };
BW_SIGNED_BITS(float, int32_t, 0x7f800000, m::bits(x))
BW_SIGNED_BITS(double, int64_t, 0x7ff0000000000000, m::bits(x))
BW_SIGNED_BITS(f16, int16_t, 0x7c00, x.bits)
BW_SIGNED_BITS(bf16, int16_t, 0x7f80, x.bits)
BW_SIGNED_BITS(f8e4m3, int8_t, 0x7e, x.bits)  // it has none: the largest number
#undef BW_SIGNED_BITS

/// Ascending with the number; its own inverse. NaNs lie outside the infinities.
template <class I>
BW_FN I ordered(I bits) {
  return static_cast<I>(bits ^ ((bits >> (8 * sizeof(I) - 1)) & m::Int<I>::kMax));
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
