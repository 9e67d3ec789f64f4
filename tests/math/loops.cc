// SPDX-License-Identifier: Apache-2.0
#include "math/loops.h"

#include <math.h>  // NOLINT(modernize-deprecated-headers): vector variants belong to the global names

#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// The C library's vector functions, good to 4 units of a double's last place, make the reference fast.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(BW_ISA_v4)
#define BW_WIDE_LANES 8
#define BW_WIDE_NAME(name) _ZGVeN8v_##name
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(BW_ISA_v3)
#define BW_WIDE_LANES 4
#define BW_WIDE_NAME(name) _ZGVdN4v_##name
#else
#define BW_WIDE_LANES 1
#define BW_WIDE_NAME(name) ::name
#endif

#if BW_WIDE_LANES > 1
typedef double W __attribute__((vector_size(8 * BW_WIDE_LANES)));
typedef int64_t I __attribute__((vector_size(8 * BW_WIDE_LANES)));
typedef float F __attribute__((vector_size(4 * BW_WIDE_LANES)));
BW_FN W widen(const float* x) {
  F narrow;
  __builtin_memcpy(&narrow, x, sizeof(narrow));
  return __builtin_convertvector(narrow, W);
}
BW_FN W choose(I mask, W a, W b) {
  return reinterpret_cast<W>((mask & reinterpret_cast<I>(a)) | (~mask & reinterpret_cast<I>(b)));
}
BW_FN I to_bits(W x) { return reinterpret_cast<I>(x); }
BW_FN W of_bits(I x) { return reinterpret_cast<W>(x); }
BW_FN I maximum(I a, int64_t b) { return a > b ? a : a - a + b; }
#else
using W = double;
using I = int64_t;
BW_FN W widen(const float* x) { return static_cast<double>(*x); }
BW_FN W choose(bool mask, W a, W b) { return mask ? a : b; }
BW_FN I to_bits(W x) { return bit_cast<int64_t>(x); }
BW_FN W of_bits(I x) { return bit_cast<double>(x); }
BW_FN I maximum(I a, int64_t b) { return a > b ? a : b; }
#endif

}  // namespace
}  // namespace beeswax::cpu::BW_ISA

#if BW_WIDE_LANES > 1
// NOLINTBEGIN(clang-diagnostic-reserved-identifier): the C library's names
#define BW_WIDE_DECLARE(name) extern "C" beeswax::cpu::BW_ISA::W BW_WIDE_NAME(name)(beeswax::cpu::BW_ISA::W);
BW_WIDE_DECLARE(exp)
BW_WIDE_DECLARE(exp2)
BW_WIDE_DECLARE(expm1)
BW_WIDE_DECLARE(log)
BW_WIDE_DECLARE(log2)
BW_WIDE_DECLARE(log10)
BW_WIDE_DECLARE(log1p)
BW_WIDE_DECLARE(sin)
BW_WIDE_DECLARE(cos)
BW_WIDE_DECLARE(tan)
BW_WIDE_DECLARE(tanh)
BW_WIDE_DECLARE(sinh)
BW_WIDE_DECLARE(cosh)
BW_WIDE_DECLARE(erf)
BW_WIDE_DECLARE(erfc)
// NOLINTEND(clang-diagnostic-reserved-identifier)
#endif

namespace beeswax::cpu::BW_ISA {
namespace {

namespace wide {
#define BW_WIDE(name) \
  BW_FN W name(W x) { return BW_WIDE_NAME(name)(x); }
BW_WIDE(exp)
BW_WIDE(exp2)
BW_WIDE(expm1)
BW_WIDE(log)
BW_WIDE(log2)
BW_WIDE(log10)
BW_WIDE(log1p)
BW_WIDE(sin)
BW_WIDE(cos)
BW_WIDE(tan)
BW_WIDE(tanh)
BW_WIDE(sinh)
BW_WIDE(cosh)
BW_WIDE(erf)
BW_WIDE(erfc)
#undef BW_WIDE
BW_FN W elu(W x) { return choose(x > 0.0, x, 1.5 * expm1(x)); }
BW_FN W sqrt(W x) {
#if BW_WIDE_LANES > 1
  W root = x;
  for (int i = 0; i < BW_WIDE_LANES; ++i) root[i] = __builtin_sqrt(x[i]);
  return root;
#else
  return __builtin_sqrt(x);
#endif
}
}  // namespace wide

/// |y - r| in units of the last place that a float near r has; huge where they differ in kind.
BW_FN W float_error(W y, W r) {
  const W none = of_bits(to_bits(y) ^ to_bits(y));
  const W limit = none + 0x1p128;
  const W huge = none + 0x1p1000;
  // Infinity is the number that would follow the largest.
  W y_held = choose(y > limit, limit, y);
  y_held = choose(y_held < -limit, -limit, y_held);
  W r_held = choose(r > limit, limit, r);
  r_held = choose(r_held < -limit, -limit, r_held);
  const I exponent = maximum((to_bits(r_held) >> 52) & 0x7ff, 1023 - 126);
  const W difference = y_held - r_held;
  const W size = choose(difference < 0.0, -difference, difference);
  const W error = size * of_bits((1023 + 1023 + 23 - exponent) << 52);
  const auto signs_differ = ((to_bits(y) ^ to_bits(r)) < 0) & (y == 0.0);
  const W number = choose(signs_differ, huge, error);
  const auto both_nan = (y != y) & (r != r);
  const auto one_nan = ((y != y) | (r != r));
  return choose(both_nan, none, choose(one_nan, huge, number));
}

template <class Reference>
BW_FN double screen(const float* x, const float* y, int64_t count, Reference reference) {
  W worst = widen(x) * 0.0;
  worst = of_bits(to_bits(worst) ^ to_bits(worst));
  for (int64_t i = 0; i < count; i += BW_WIDE_LANES) {
    const W error = float_error(widen(y + i), reference(widen(x + i)));
    worst = choose(error > worst, error, worst);
  }
#if BW_WIDE_LANES > 1
  double most = 0;
  for (int i = 0; i < BW_WIDE_LANES; ++i) most = worst[i] > most ? worst[i] : most;
  return most;
#else
  return worst;
#endif
}

#define BW_MATH(name, value, wide_value, ...)                                                      \
  template <class T>                                                                               \
  void name##_loop(const T* from, T* to, int64_t count) {                                          \
    for (int64_t i = 0; i < count; ++i) {                                                          \
      const T x = from[i];                                                                         \
      to[i] = value;                                                                               \
    }                                                                                              \
  }                                                                                                \
  double name##_screen(const float* from, const float* to, int64_t count) {                        \
    return screen(from, to, count, [](W x) __attribute__((always_inline)) { return wide_value; }); \
  }
#include "math/functions.def"

template <class T>
void pow_loop(const T* x, const T* y, T* z, int64_t count) {
  for (int64_t i = 0; i < count; ++i) z[i] = m::pow(x[i], y[i]);
}

}  // namespace

const MathLoops& math_loops() {
  static constexpr MathLoops kTable = {
      {
#define BW_MATH(name, ...) {name##_loop<float>, name##_loop<double>, name##_screen},
#include "math/functions.def"
      },
      pow_loop<float>,
      pow_loop<double>,
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
