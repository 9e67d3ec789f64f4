// SPDX-License-Identifier: Apache-2.0
// The largest and least of dense floats by IEEE 754-2019 (NaN propagates, -0 < +0), on integers whose order
// is that of the numbers: a compare and a select for each, and none of the order's special cases in the loop.
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

template <class I>
struct Extremes {
  I least, largest;
};

template <int kHalf, class I>
BW_FN void fold_extremes(I* least, I* largest) {
  for (int l = 0; l < kHalf; ++l) {
    least[l] = least[l] < least[l + kHalf] ? least[l] : least[l + kHalf];
    largest[l] = largest[l] > largest[l + kHalf] ? largest[l] : largest[l + kHalf];
  }
  if constexpr (kHalf > 1) fold_extremes<kHalf / 2>(least, largest);
}

/// Of count >= 1 elements, as ordered bits.
template <class T>
BW_FN Extremes<typename SignedBits<T>::type> extremes(const T* x, int64_t count) {
  using I = typename SignedBits<T>::type;
  constexpr int kLanes = 128 / static_cast<int>(sizeof(I));
  const auto key = [x](int64_t i)
                       __attribute__((always_inline)) { return ordered<I>(SignedBits<T>::of(x[i])); };
  Extremes<I> e{key(0), key(0)};
  int64_t i = 0;
  if (count >= kLanes) {
    I least[kLanes], largest[kLanes];
    for (int l = 0; l < kLanes; ++l) least[l] = largest[l] = key(l);
    i = kLanes;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const I a = key(i + l), b = key(i + kLanes + l);
        const I c = key(i + 2 * kLanes + l), d = key(i + 3 * kLanes + l);
        const I low1 = a < b ? a : b, low2 = c < d ? c : d, low = low1 < low2 ? low1 : low2;
        const I high1 = a > b ? a : b, high2 = c > d ? c : d, high = high1 > high2 ? high1 : high2;
        least[l] = least[l] < low ? least[l] : low;
        largest[l] = largest[l] > high ? largest[l] : high;
      }
    }
    for (; i + kLanes <= count; i += kLanes)
      for (int l = 0; l < kLanes; ++l) {
        const I a = key(i + l);
        least[l] = least[l] < a ? least[l] : a;
        largest[l] = largest[l] > a ? largest[l] : a;
      }
    fold_extremes<kLanes / 2>(least, largest);
    e = {least[0], largest[0]};
  }
  for (; i < count; ++i) {
    const I a = key(i);
    e.least = e.least < a ? e.least : a;
    e.largest = e.largest > a ? e.largest : a;
  }
  return e;
}

/// The largest (or least) of count >= 1 elements.
template <bool kLargest, class T>
BW_FN T extreme(const T* x, int64_t count) {
  using I = typename SignedBits<T>::type;
  const Extremes<I> e = extremes(x, count);
  constexpr I kInfinity = SignedBits<T>::kInfinity;
  I found = ordered(kLargest ? e.largest : e.least);
  if (e.largest > kInfinity || e.least < ordered(static_cast<I>(~m::Int<I>::kMax | kInfinity)))
    found = static_cast<I>(kInfinity | (kInfinity >> 1));  // a quiet NaN
  return bit_cast<T>(found);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
