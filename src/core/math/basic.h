// SPDX-License-Identifier: Apache-2.0
// The exact operations of the shared math: rounding, signs, minimum and maximum, wrapping integers, and the
// bit-level helpers that the other headers are built from. Nothing here has a rounding error except fma, sqrt
// and recip, which are correctly rounded.
#pragma once

#include "beeswax/portable.h"

namespace beeswax::m {

/// The layout of a floating-point type.
template <class T>
struct Fp {
  static constexpr bool kIs = false;
};
template <>
struct Fp<float> {
  static constexpr bool kIs = true;
  using U = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr U kBias = 127;
  static constexpr U kSign = 0x80000000u;
  static constexpr U kInf = 0x7f800000u;
  static constexpr U kNan = 0x7fc00000u;
  static constexpr U kSqrtHalf = 0x3f3504f3u;
  static constexpr float kMax = 0x1.fffffep127f;
  static constexpr float kMinNormal = 0x1p-126f;
  // Adding 1.5 * 2^23 rounds to an integer (ties to even) and leaves it in the low bits.
  static constexpr float kMagic = 0x1.8p23f;
};
template <>
struct Fp<double> {
  static constexpr bool kIs = true;
  using U = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr U kBias = 1023;
  static constexpr U kSign = 0x8000000000000000u;
  static constexpr U kInf = 0x7ff0000000000000u;
  static constexpr U kNan = 0x7ff8000000000000u;
  static constexpr U kSqrtHalf = 0x3fe6a09e667f3bcdu;
  static constexpr double kMax = 0x1.fffffffffffffp1023;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kMagic = 0x1.8p52;
};
template <class T>
concept Floating = Fp<T>::kIs;

/// The layout of an integer type.
template <class T>
struct Int {
  static constexpr bool kIs = false;
};
#define BW_INT(T, Unsigned, least, most)        \
  template <>                                   \
  struct Int<T> {                               \
    static constexpr bool kIs = true;           \
    using U = Unsigned;                         \
    static constexpr T kMin = least;            \
    static constexpr T kMax = most;             \
    static constexpr bool kSigned = least != 0; \
  };
BW_INT(uint8_t, uint8_t, 0, 255)
BW_INT(uint32_t, uint32_t, 0, 4294967295u)
BW_INT(int16_t, uint16_t, -32768, 32767)
BW_INT(int32_t, uint32_t, -2147483647 - 1, 2147483647)
BW_INT(int64_t, uint64_t, -9223372036854775807 - 1, 9223372036854775807)
#undef BW_INT
template <class T>
concept Integer = Int<T>::kIs;

template <class T>
using Bits = typename Fp<T>::U;

/// The constant for T: most formulas are the same for float and double up to their constants.
template <Floating T>
BW_FN constexpr T pick(float single, double twice) {
  if constexpr (sizeof(T) == 4) {
    return single;
  } else {
    return twice;
  }
}

template <Floating T>
BW_FN Bits<T> bits(T x) {
  return bit_cast<Bits<T>>(x);
}
template <Floating T>
BW_FN T from_bits(Bits<T> x) {
  return bit_cast<T>(x);
}
template <Floating T>
BW_FN T infinity() {
  return from_bits<T>(Fp<T>::kInf);
}
template <Floating T>
BW_FN T nan() {
  return from_bits<T>(Fp<T>::kNan);
}

BW_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BW_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
BW_FN float sqrt(float x) { return __builtin_sqrtf(x); }
BW_FN double sqrt(double x) { return __builtin_sqrt(x); }

template <Floating T>
BW_FN T abs(T x) {
  return from_bits<T>(bits(x) & ~Fp<T>::kSign);
}
/// The magnitude of x with the sign of s.
template <Floating T>
BW_FN T copysign(T x, T s) {
  return from_bits<T>((bits(x) & ~Fp<T>::kSign) | (bits(s) & Fp<T>::kSign));
}
/// x, negative if s is; for results that have the sign of s but may have lost it on the way to zero.
template <Floating T>
BW_FN T negative_if(T x, T s) {
  return from_bits<T>(bits(x) | (bits(s) & Fp<T>::kSign));
}
template <Floating T>
BW_FN bool is_nan(T x) {
  return x != x;
}
/// 1, 0 or -1; 0 for NaN.
template <Floating T>
BW_FN T sign(T x) {
  return (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0));
}
template <Floating T>
BW_FN T recip(T x) {
  return T(1) / x;
}

// x86-64 has a rounding instruction from SSE4.1 on; before it the builtins are calls, so bits do the work.
#if defined(__x86_64__) && !defined(__SSE4_1__)
/// To the nearest integer, ties to even.
template <Floating T>
BW_FN T round_even(T x) {
  const T unit = pick<T>(0x1p23f, 0x1p52);
  const T magnitude = abs(x);
  const T rounded = copysign((magnitude + unit) - unit, x);
  return magnitude < unit ? rounded : x;
}
template <Floating T>
BW_FN T floor(T x) {
  const T near = round_even(x);
  return copysign(near > x ? near - T(1) : near, x);
}
template <Floating T>
BW_FN T ceil(T x) {
  const T near = round_even(x);
  return copysign(near < x ? near + T(1) : near, x);
}
template <Floating T>
BW_FN T trunc(T x) {
  return copysign(floor(abs(x)), x);
}
#else
BW_FN float round_even(float x) { return __builtin_rintf(x); }
BW_FN double round_even(double x) { return __builtin_rint(x); }
BW_FN float floor(float x) { return __builtin_floorf(x); }
BW_FN double floor(double x) { return __builtin_floor(x); }
BW_FN float ceil(float x) { return __builtin_ceilf(x); }
BW_FN double ceil(double x) { return __builtin_ceil(x); }
BW_FN float trunc(float x) { return __builtin_truncf(x); }
BW_FN double trunc(double x) { return __builtin_trunc(x); }
#endif

/// To the nearest integer, ties away from zero. What is added is the number just below 1/2: with 1/2 itself,
/// 0.49999997 would round up.
template <Floating T>
BW_FN T round_away(T x) {
  return trunc(x + copysign(pick<T>(0x1.fffffep-2f, 0x1.fffffffffffffp-2), x));
}

/// IEEE 754-2019 minimum: NaN propagates, -0 < +0.
template <Floating T>
BW_FN T minimum(T a, T b) {
  const T less = a < b ? a : b;  // b, too, when one is NaN
  const T zero = a == b ? from_bits<T>(bits(a) | bits(b)) : less;
  return a != a ? a : zero;
}
/// IEEE 754-2019 maximum: NaN propagates, -0 < +0.
template <Floating T>
BW_FN T maximum(T a, T b) {
  const T more = a > b ? a : b;
  const T zero = a == b ? from_bits<T>(bits(a) & bits(b)) : more;
  return a != a ? a : zero;
}

// Integers wrap; rounding an integer changes nothing.
template <Integer T>
BW_FN T abs(T x) {
  using U = typename Int<T>::U;
  if constexpr (Int<T>::kSigned) {
    return x < 0 ? static_cast<T>(static_cast<U>(0u - static_cast<U>(x))) : x;
  } else {
    return x;
  }
}
template <Integer T>
BW_FN T sign(T x) {
  return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
}
template <Integer T>
BW_FN T floor(T x) {
  return x;
}
template <Integer T>
BW_FN T ceil(T x) {
  return x;
}
template <Integer T>
BW_FN T trunc(T x) {
  return x;
}
template <Integer T>
BW_FN T round_away(T x) {
  return x;
}
template <Integer T>
BW_FN T round_even(T x) {
  return x;
}
template <Integer T>
BW_FN bool is_nan(T) {
  return false;
}
template <Integer T>
BW_FN T minimum(T a, T b) {
  return a < b ? a : b;
}
template <Integer T>
BW_FN T maximum(T a, T b) {
  return a > b ? a : b;
}
/// Quotient, truncated toward zero. x / 0 gives 0 (the caller reports it) and the least value / -1 wraps to
/// itself.
template <Integer T>
BW_FN T div(T x, T y) {
  using U = typename Int<T>::U;
  if constexpr (sizeof(T) <= 2) {
    // 16-bit quotients are exact after truncation in float, and float division has vectors.
    const float quotient = static_cast<float>(x) / static_cast<float>(y == 0 ? T(1) : y);
    const int32_t whole = static_cast<int32_t>(quotient);
    return y == 0 ? T(0) : static_cast<T>(static_cast<U>(whole));
  } else if constexpr (sizeof(T) == 4) {
    // 32-bit quotients likewise in double. Those of 2^31 and above (unsigned, and the least value / -1) are
    // taken below it for the conversion.
    const double quotient = static_cast<double>(x) / static_cast<double>(y == 0 ? T(1) : y);
    const bool high = quotient >= 0x1p31;
    const int32_t whole = static_cast<int32_t>(high ? quotient - 0x1p31 : quotient);
    const U result = static_cast<U>(whole) + (high ? U(1) << 31 : U(0));
    return y == 0 ? T(0) : static_cast<T>(result);
  } else if constexpr (Int<T>::kSigned) {
    const bool special = y == 0 || y == -1;
    const T quotient = x / (special ? T(1) : y);
    const T negated = static_cast<T>(U(0) - static_cast<U>(x));
    return y == 0 ? T(0) : (y == -1 ? negated : quotient);
  } else {
    const T quotient = x / (y == 0 ? T(1) : y);
    return y == 0 ? T(0) : quotient;
  }
}

/// Quotient, correctly rounded.
template <Floating T>
BW_FN T div(T x, T y) {
  return x / y;
}

/// c0 + c1 x + c2 x^2 + ... by Horner's rule.
template <Floating T>
BW_FN T horner(T, T c0) {
  return c0;
}
template <Floating T, class... C>
BW_FN T horner(T x, T c0, C... rest) {
  return fma(horner(x, rest...), x, c0);
}

/// c0 + c1 x + c2 x^2 + ... in pairs: each c0 + c1 x at once, then Horner's rule in x^2. Half the latency of
/// Horner's rule in x for one multiplication more (which callers mostly need anyway).
template <Floating T>
BW_FN T pairs(T, T, T c0) {
  return c0;
}
template <Floating T>
BW_FN T pairs(T x, T, T c0, T c1) {
  return fma(c1, x, c0);
}
template <Floating T, class... C>
BW_FN T pairs(T x, T square, T c0, T c1, C... rest) {
  return fma(pairs(x, square, rest...), square, fma(c1, x, c0));
}
/// The same in fours, for long polynomials.
template <Floating T, class... C>
BW_FN T fours(T x, T square, T fourth, T c0, T c1, T c2, T c3, C... rest) {
  const T four = pairs(x, square, c0, c1, c2, c3);
  if constexpr (sizeof...(C) > 4) {
    return fma(fours(x, square, fourth, rest...), fourth, four);
  } else {
    return fma(pairs(x, square, rest...), fourth, four);
  }
}
template <Floating T, class... C>
BW_FN T polynomial(T x, C... c) {
  const T square = x * x;
  if constexpr (sizeof...(C) > 12) {
    return fours(x, square, square * square, c...);
  } else {
    return pairs(x, square, c...);
  }
}

/// An integer k in two forms: as a number, and as k + Offset in the low bits of `raw`. The bits above them
/// are those of the rounding constant; shifts by kMantissa push them out.
template <Floating T, int Offset>
struct Rounded {
  T value;
  Bits<T> raw;
};
/// a * b to the nearest integer; |a * b| is below 2^21.
template <int Offset, Floating T>
BW_FN Rounded<T, Offset> round_product(T a, T b) {
  const T magic = Fp<T>::kMagic + static_cast<T>(Offset);
  const T raw = fma(a, b, magic);
  return {raw - magic, bits(raw)};
}
/// 2^k for an integer k for which that is a normal number.
template <Floating T>
BW_FN T pow2(T k) {
  return from_bits<T>(bits(k + (Fp<T>::kMagic + static_cast<T>(Fp<T>::kBias))) << Fp<T>::kMantissa);
}
/// 2^k as a product of two normal numbers of about equal size, for |k| up to 2000 (double) or 200 (float).
template <Floating T>
struct Scale {
  T first, second;
};
template <Floating T>
using WideRounded = Rounded<T, 2 * static_cast<int>(Fp<T>::kBias)>;
template <Floating T>
BW_FN Scale<T> scale_of(WideRounded<T> k) {
  // Half of k + 2 bias is half of k, plus the bias.
  const Bits<T> half = k.raw >> 1;
  return {from_bits<T>(half << Fp<T>::kMantissa), from_bits<T>((k.raw - half) << Fp<T>::kMantissa)};
}
/// x * 2^k with one rounding when x is normal: gradual underflow and overflow are right.
template <Floating T>
BW_FN T scale(T x, WideRounded<T> k) {
  const Scale<T> s = scale_of(k);
  return x * s.first * s.second;
}
/// (1 + q) * 2^k.
template <Floating T>
BW_FN T scale_one_plus(T q, WideRounded<T> k) {
  const Scale<T> s = scale_of(k);
  return fma(s.first, q, s.first) * s.second;
}
/// x * 2^k where x and the result are normal numbers.
template <Floating T>
BW_FN T scale_normal(T x, Rounded<T, 0> k) {
  return from_bits<T>(bits(x) + (k.raw << Fp<T>::kMantissa));
}

/// x held inside [low, high]; NaN stays. Both comparisons are with x: compilers then make two selects of it.
template <Floating T>
BW_FN T clamp(T x, T low, T high) {
  const T above = low > x ? low : x;
  return high < x ? high : above;
}
template <Floating T>
BW_FN T at_most(T x, T high) {
  return high < x ? high : x;
}
template <Floating T>
BW_FN T at_least(T x, T low) {
  return x < low ? low : x;
}

/// An unevaluated sum; `low` is small beside `high`.
template <Floating T>
struct Pair {
  T high, low;
};
/// a + b without error, if |a| >= |b| or a is a multiple of b's last place.
template <Floating T>
BW_FN Pair<T> fast_two_sum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}
/// a + b without error.
template <Floating T>
BW_FN Pair<T> two_sum(T a, T b) {
  const T sum = a + b;
  const T part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
/// a * b without error (if nothing underflows).
template <Floating T>
BW_FN Pair<T> two_product(T a, T b) {
  const T product = a * b;
  return {product, fma(a, b, -product)};
}

}  // namespace beeswax::m
