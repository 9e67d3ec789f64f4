// SPDX-License-Identifier: Apache-2.0
// convert<To>(from) between every two element types with arithmetic: one rule on every device.
//   to an integer    saturates; a fraction is truncated toward zero; NaN gives 0
//   to a float type  one rounding, to nearest, ties to even (f8e4m3 saturates, f16 overflows to infinity)
#pragma once

#include "beeswax/half.h"
#include "core/math/basic.h"

namespace beeswax::m {

template <class A, class B>
struct Same {
  static constexpr bool kIs = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool kIs = true;
};

/// The 8- and 16-bit floating-point types.
template <class T>
concept Narrow = Same<T, f16>::kIs || Same<T, bf16>::kIs || Same<T, f8e4m3>::kIs;

/// A double rounded to float so that a second rounding to a narrower type gives what one rounding would: to
/// nearest when exact, else to the neighbour whose last bit is 1.
BW_FN float float_round_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  const uint32_t raw = bit_cast<uint32_t>(nearest);
  const uint32_t toward_zero = raw - (abs(back) > abs(x) ? 1u : 0u);
  return bit_cast<float>(back == x || x != x ? raw : toward_zero | 1u);
}

template <Integer To, Integer From>
BW_FN To convert_integer(From x) {
  // Both fit int32 or, else, int64 (there is no 64-bit unsigned element type).
  constexpr bool kSmall = (sizeof(To) < 4 || (sizeof(To) == 4 && Int<To>::kSigned)) &&
                          (sizeof(From) < 4 || (sizeof(From) == 4 && Int<From>::kSigned));
  if constexpr (kSmall) {
    const int32_t wide = x;
    const int32_t low = wide < Int<To>::kMin ? static_cast<int32_t>(Int<To>::kMin) : wide;
    return static_cast<To>(low > Int<To>::kMax ? static_cast<int32_t>(Int<To>::kMax) : low);
  } else {
    const int64_t wide = x;
    constexpr int64_t kLeast = Int<To>::kMin;
    constexpr int64_t kMost = Int<To>::kMax;
    const int64_t low = wide < kLeast ? kLeast : wide;
    return static_cast<To>(low > kMost ? kMost : low);
  }
}

template <Integer To, Floating From>
BW_FN To convert_to_integer(From x) {
  // The first value above the range: a power of two, exact in both types.
  constexpr From kLimit = static_cast<From>((Int<To>::kMax >> 1) + 1) * From(2);
  constexpr From kLeast = static_cast<From>(Int<To>::kMin);
  if constexpr (sizeof(To) < 4) {
    const From held = x == x ? clamp(x, kLeast, static_cast<From>(Int<To>::kMax)) : From(0);
    return static_cast<To>(static_cast<int32_t>(held));
  } else {
    const bool inside = x >= kLeast && x < kLimit;
    const To value = static_cast<To>(inside ? x : From(0));
    const To high = x >= kLimit ? Int<To>::kMax : value;
    return x < kLeast ? Int<To>::kMin : high;
  }
}

/// A float whose rounding to a narrow type is the conversion of x.
template <Narrow To, Integer From>
BW_FN float narrow_source(From x) {
  if constexpr (sizeof(From) <= 2) {
    return static_cast<float>(x);
  } else if constexpr (Same<To, bf16>::kIs) {
    if constexpr (sizeof(From) == 4) {
      return float_round_odd(static_cast<double>(x));
    } else {
      // Above 2^53 the low 16 bits only matter as "not zero".
      const uint64_t magnitude = static_cast<uint64_t>(abs(x));
      const uint64_t sticky = (magnitude | ((magnitude & 0xffffu) != 0 ? 0x10000u : 0u)) & ~uint64_t{0xffff};
      const double value = static_cast<double>(magnitude >> 53 != 0 ? sticky : magnitude);
      return float_round_odd(x < 0 ? -value : value);
    }
  } else {
    // f16 is infinite and f8e4m3 saturated long before 2^20, and float is exact up to there.
    constexpr From kHigh = 1 << 20;
    const From held = x > kHigh ? kHigh : x;
    if constexpr (Int<From>::kSigned) {
      return static_cast<float>(held < -kHigh ? -kHigh : held);
    } else {
      return static_cast<float>(held);
    }
  }
}
template <Narrow To>
BW_FN float narrow_source(float x) {
  return x;
}
template <Narrow To>
BW_FN float narrow_source(double x) {
  return float_round_odd(x);
}

/// `from` as a To.
template <class To, class From>
BW_FN To convert(From from) {
  if constexpr (Same<To, From>::kIs) {
    return from;
  } else if constexpr (Narrow<From>) {
    return convert<To>(static_cast<float>(from));  // exact
  } else if constexpr (Narrow<To>) {
    return To(narrow_source<To>(from));
  } else if constexpr (Floating<To>) {
    return static_cast<To>(from);
  } else if constexpr (Floating<From>) {
    return convert_to_integer<To>(from);
  } else {
    return convert_integer<To>(from);
  }
}

}  // namespace beeswax::m
