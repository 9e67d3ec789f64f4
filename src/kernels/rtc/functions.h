// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA and HIP, for clang: those of float and double are core/math's, the fast ones too, so
// that they have the same bits on every device.
#pragma once

#include "core/math/math.h"
#include "kernels/gpu.h"
#include "kernels/rtc/arctangent.h"
#include "kernels/rtc/bits.inc"
#include "kernels/rtc/infinity.h"

// The C library's names for functions of core/math, for float with an f at the end and for double.
#define BW_RTC_UNARY(name, function)                                          \
  BW_DEVICE float name##f(float x) { return beeswax::m::function<float>(x); } \
  BW_DEVICE double name(double x) { return beeswax::m::function<double>(x); } \
  BW_DEVICE float name(float x) { return beeswax::m::function<float>(x); }
BW_RTC_UNARY(exp, exp)
BW_RTC_UNARY(exp2, exp2)
BW_RTC_UNARY(expm1, expm1)
BW_RTC_UNARY(log, log)
BW_RTC_UNARY(log2, log2)
BW_RTC_UNARY(log10, log10)
BW_RTC_UNARY(log1p, log1p)
BW_RTC_UNARY(sin, sin)
BW_RTC_UNARY(cos, cos)
BW_RTC_UNARY(tan, tan)
BW_RTC_UNARY(sinh, sinh)
BW_RTC_UNARY(cosh, cosh)
BW_RTC_UNARY(tanh, tanh)
BW_RTC_UNARY(erf, erf)
BW_RTC_UNARY(erfc, erfc)
BW_RTC_UNARY(fabs, abs)
BW_RTC_UNARY(round, round_away)
#undef BW_RTC_UNARY
// Functions of basic.h that are overloads.
#define BW_RTC_OVERLOADED(name, function)                              \
  BW_DEVICE float name##f(float x) { return beeswax::m::function(x); } \
  BW_DEVICE double name(double x) { return beeswax::m::function(x); }  \
  BW_DEVICE float name(float x) { return beeswax::m::function(x); }
BW_RTC_OVERLOADED(sqrt, sqrt)
BW_RTC_OVERLOADED(floor, floor)
BW_RTC_OVERLOADED(ceil, ceil)
BW_RTC_OVERLOADED(trunc, trunc)
BW_RTC_OVERLOADED(rint, round_even)
#undef BW_RTC_OVERLOADED
// Two types are joined as the built-in operators join them: an int and an unsigned are unsigned, a float and
// an int are float. For functions of floating point, integers alone are double.
template <class T>
T BwMade();
template <class A, class B>
using BwJoined = decltype(true ? BwMade<A>() : BwMade<B>());
float BwFloatingOf(float);
template <class T>
double BwFloatingOf(T);
template <class A, class B>
using BwFloating = decltype(BwFloatingOf(BwMade<BwJoined<A, B>>()));
#define BW_RTC_BINARY(name, function)                                  \
  BW_DEVICE float name##f(float x, float y) { return function(x, y); } \
  template <class A, class B, class T = BwFloating<A, B>>              \
  BW_DEVICE T name(A x, B y) {                                         \
    return function(static_cast<T>(x), static_cast<T>(y));             \
  }
BW_RTC_BINARY(pow, beeswax::m::pow)
BW_RTC_BINARY(atan2, beeswax::m::atan2)
BW_RTC_BINARY(copysign, beeswax::m::copysign)
// C's rule: the other argument where one is NaN.
BW_DEVICE float BwLarger(float a, float b) { return __builtin_fmaxf(a, b); }
BW_DEVICE double BwLarger(double a, double b) { return __builtin_fmax(a, b); }
BW_DEVICE float BwSmaller(float a, float b) { return __builtin_fminf(a, b); }
BW_DEVICE double BwSmaller(double a, double b) { return __builtin_fmin(a, b); }
BW_RTC_BINARY(fmax, BwLarger)
BW_RTC_BINARY(fmin, BwSmaller)
#undef BW_RTC_BINARY
BW_DEVICE float fmaf(float a, float b, float c) { return beeswax::m::fma(a, b, c); }
template <class A, class B, class C, class T = BwFloating<BwJoined<A, B>, C>>
BW_DEVICE T fma(A a, B b, C c) {
  return beeswax::m::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
}
BW_DEVICE float abs(float x) { return fabsf(x); }
BW_DEVICE double abs(double x) { return fabs(x); }
BW_DEVICE float rsqrtf(float x) { return 1.0f / beeswax::m::sqrt(x); }

#define BW_RTC_CLASS(T)                                                                 \
  BW_DEVICE bool isnan(T x) { return x != x; }                                          \
  BW_DEVICE bool isinf(T x) { return beeswax::m::abs(x) == beeswax::m::infinity<T>(); } \
  BW_DEVICE bool isfinite(T x) { return beeswax::m::abs(x) < beeswax::m::infinity<T>(); }
BW_RTC_CLASS(float)
BW_RTC_CLASS(double)
#undef BW_RTC_CLASS

// What CUDA calls fast.
BW_DEVICE float __expf(float x) { return expf(x); }
BW_DEVICE float __logf(float x) { return logf(x); }
BW_DEVICE float __log2f(float x) { return log2f(x); }
BW_DEVICE float __log10f(float x) { return log10f(x); }
BW_DEVICE float __sinf(float x) { return sinf(x); }
BW_DEVICE float __cosf(float x) { return cosf(x); }
BW_DEVICE float __tanf(float x) { return tanf(x); }
BW_DEVICE float __powf(float x, float y) { return powf(x, y); }
BW_DEVICE float __fdividef(float x, float y) { return x / y; }

template <class A, class B, class T = BwJoined<A, B>>
BW_DEVICE T min(A a, B b) {
  const T first = a, second = b;
  if constexpr (beeswax::m::Floating<T>) {
    return fmin(first, second);
  } else {
    return second < first ? second : first;
  }
}
template <class A, class B, class T = BwJoined<A, B>>
BW_DEVICE T max(A a, B b) {
  const T first = a, second = b;
  if constexpr (beeswax::m::Floating<T>) {
    return fmax(first, second);
  } else {
    return first < second ? second : first;
  }
}
// A plain load: compilers see for themselves what no thread writes.
template <class T>
BW_DEVICE T __ldg(const T* at) {
  return *at;
}
