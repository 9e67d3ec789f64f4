// SPDX-License-Identifier: Apache-2.0
// Reciprocals, roots, exponentials, logarithms, sine and cosine. Hardware approximates them within about one
// unit in the last place; here they are computed in f64, with relative errors below 2^-50 (logarithms:
// 2^-44), and rounded once: few results are not the nearest float, and those by a hair. As LLVM's lowering
// assumes of hardware, the f32 forms take denormal inputs for zero and give zero for denormal results (sine
// and cosine excepted).
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/real.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/ops/wide.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Zero in place of denormals. (By a mask: a choice keeps compilers from making SIMD of what follows.)
EMU_FN float flush(float x) {
  const uint32_t normal = 0u - uint32_t((bits(x) & 0x7f800000u) != 0);
  return from_bits<float>(bits(x) & (normal | 0x80000000u));
}

/// A polynomial, the constant first: even and odd powers apart, so that half as many steps wait for each
/// other.
template <size_t I, size_t N, class D>
EMU_FN D every_second(const double (&c)[N], D squared) {
  if constexpr (I + 2 >= N)
    return D::of(c[I]);
  else
    return fused(every_second<I + 2>(c, squared), squared, D::of(c[I]));
}
template <size_t N, class D>
EMU_FN D polynomial(const double (&c)[N], D x) {
  const D squared = x * x;
  return fused(every_second<1>(c, squared), x, every_second<0>(c, squared));
}
// Interpolated at Chebyshev's nodes; the relative error of each is below 2^-51, that of the logarithm below
// 2^-45.
constexpr double kExp2[] = {1.0,
                            0.69314718055995,
                            0.24022650695910097,
                            0.05550410866444772,
                            0.009618129107606888,
                            0.0013333558230164974,
                            0.0001540353044173605,
                            1.5252657260200837e-05,
                            1.321544258792169e-06,
                            1.0208690299958306e-07,
                            7.072585949269223e-09};  // 2^x, |x| <= 1/2
// 2 atanh(s) / (s ln 2) in s^2, s <= 0.1716
constexpr double kLog2[] = {2.885390081777851,  0.9617966941122658,  0.577077942660018,
                            0.4122092240922807, 0.31990680244411646, 0.28288504399934017};
// sin(2 pi r) / r in r^2, |r| <= 1/4
constexpr double kSine[] = {6.283185307179585, -41.341702240398284, 81.60524927557977, -76.70585968962867,
                            42.05868995395094, -15.09450614073429,  3.817365633469135, -0.6925067010720717};

/// 2^x; denormal results are wrong ones of their size, or zero.
template <bool Flush, class F>
EMU_FN F exp2_of(F x) {
  // (A NaN passes both bounds.)
  const F limited = larger(F::of(Flush ? -127.0f : -126.0f), smaller(F::of(128.0f), x)), n = nearest(limited);
  const F r = scaled(floats(polynomial(kExp2, doubles(limited - n))), n);
  return Flush ? pick(less(r, F::of(0x1p-126f)), F::of(0.0f), r) : r;
}
/// log2 of a number; denormals count as zeros.
template <class F>
EMU_FN F log2_of(F x) {
  const auto is_regular = regular(x);
  F exponent, mantissa;
  split(x, exponent, mantissa);
  // s = (m - 1) / (m + 1), from a quotient of floats and one step that squares its error.
  const F above = mantissa - F::of(1.0f);
  const auto reciprocal = doubles(F::of(1.0f) / (mantissa + F::of(1.0f))), difference = doubles(above);
  using D = decltype(doubles(above));
  const D near = difference * reciprocal,
          s = fused(fused_rest(near, difference + D::of(2.0), difference), reciprocal, near);
  F r = floats(fused(polynomial(kLog2, s * s), s, doubles(exponent)));
  if (!all(is_regular)) [[unlikely]] {
    F other = pick(less(x, F::of(0.0f)), F::of(make_nan<float>()), x + x);
    other = pick(less(magnitude(x), F::of(0x1p-126f)), F::of(-kInfinity<float>), other);
    r = pick(is_regular, r, other);
  }
  return r;
}
/// sin(2 pi r) for |r| <= 1/4.
template <class D>
EMU_FN auto sine_of_quarter(D r) {
  return floats(polynomial(kSine, r * r) * r);
}
template <class F>
EMU_FN F or_nan(F r) {
  return pick(is_nan(r), F::of(make_nan<float>()), r);
}
/// sin(2 pi x).
template <class F>
EMU_FN F sine_of(F x) {
  // The fraction is exact, and so is its mirror image beyond a quarter. (A zero keeps its sign.)
  const F n = nearest(x), fraction = pick(equal(n, F::of(0.0f)), x, x - n), size = magnitude(fraction);
  return or_nan(sine_of_quarter(doubles(with_sign(smaller(size, F::of(0.5f) - size), fraction))));
}
/// cos(2 pi x), as the sine of a quarter less the distance from the nearest integer.
template <class F>
EMU_FN F cosine_of(F x) {
  const auto distance = doubles(magnitude(x - nearest(x)));
  return or_nan(sine_of_quarter(decltype(distance)::of(0.25) - distance));
}
EMU_FN float rsqrt(float x) { return float(1.0 / __builtin_sqrt(double(x))); }

/// A function of many lanes, or of one, as a type.
#define FUNCTION(name, call) \
  struct name {              \
    template <class F>       \
    EMU_FN F of(F x) {       \
      return call(x);        \
    }                        \
  };
FUNCTION(Exp2, exp2_of<true>)
FUNCTION(Exp2Half, exp2_of<false>)
FUNCTION(Log2, log2_of)
FUNCTION(Sine, sine_of)
FUNCTION(Cosine, cosine_of)
#undef FUNCTION

/// Function on 32 lanes at a time; T: float or Half.
template <class Function, class T>
const Op* run_function(Wave& w, const Op* op) {
  const FpScope<std::is_same_v<T, Half>> scope(w);
  alignas(64) uint32_t tmp[2][64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    const uint32_t* from = fetch<T>(w, op, op->src[0], half, tmp[0]).lo;
    const uint32_t enabled = enabled_lanes(w, op, half);
    uint32_t* d = in_registers<T>(op, enabled) ? w.v + op->dst_offset + half : tmp[1];
    for (unsigned i = 0; i < 32; i += Floats::kLanes) store(d + i, Function::of(Floats::load(from + i)));
    write_results<T>(w, op, half, d, enabled);
  }
  return op + 1;
}
template <class Function, class T>
constexpr Row function(const char* name, unsigned flags = 0) {
  return Lanes<[](T a) { return a; }>::row(name, Class::Transcendental, uint16_t(flags),
                                           &run_function<Function, T>);
}
/// Of one scalar.
template <class Function>
EMU_FN float one(float x) {
  return Function::of(OneFloat{x}).v;
}

// 2/pi, the first 1201 bits of its fraction, most significant first.
alignas(64) constexpr uint64_t kTwoOverPi[21] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b0000, 0x0000000000000000, 0,
};
EMU_FN double trig_preop(double x, uint32_t segment) {
  uint32_t shift = (segment & 31) * 53;
  const int e = exponent(x);
  if (e > 1077) shift += uint32_t(e - 1077);
  uint64_t top = 0;
  if (shift < 1201) {
    const uint32_t word = shift / 64, at = shift % 64;
    top = kTwoOverPi[word] << at;
    if (at != 0) top |= kTwoOverPi[word + 1] >> (64 - at);
  }
  int power = -53 - int(shift);
  if (e >= 1968) power += 128;
  return scale(double(top >> 11), power);
}

constexpr Class kMath = Class::Transcendental;
constexpr Row kRows[] = {
    valu<[](float a) { return flush(1.0f / flush(a)); }>("v_rcp_f32", 0, kMath),
    valu<[](float a) { return flush(1.0f / flush(a)); }>("v_rcp_iflag_f32", 0, kMath),
    valu<[](float a) { return rsqrt(flush(a)); }>("v_rsq_f32", 0, kMath),
    valu<[](float a) { return __builtin_sqrtf(flush(a)); }>("v_sqrt_f32", 0, kMath),
    function<Exp2, float>("v_exp_f32"),
    function<Log2, float>("v_log_f32"),
    function<Exp2, float>("v_exp_legacy_f32"),
    function<Log2, float>("v_log_legacy_f32"),
    function<Sine, float>("v_sin_f32"),
    function<Cosine, float>("v_cos_f32"),
    valu<[](Half a) { return Half{1.0f / a.f}; }>("v_rcp_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{rsqrt(a.f)}; }>("v_rsq_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{__builtin_sqrtf(a.f)}; }>("v_sqrt_f16", kZeroHigh9, kMath),
    function<Exp2Half, Half>("v_exp_f16", kZeroHigh9),
    function<Log2, Half>("v_log_f16", kZeroHigh9),
    function<Sine, Half>("v_sin_f16", kZeroHigh9),
    function<Cosine, Half>("v_cos_f16", kZeroHigh9),
    valu<[](double a) { return 1.0 / a; }>("v_rcp_f64", 0, kMath),
    valu<[](double a) { return 1.0 / __builtin_sqrt(a); }>("v_rsq_f64", 0, kMath),
    valu<[](double a) { return __builtin_sqrt(a); }>("v_sqrt_f64", 0, kMath),
    valu<[](double a, uint32_t b) { return trig_preop(a, b); }>("v_trig_preop_f64", 0, kMath),
    // gfx12: of one scalar, in the vector unit.
    salu<[](float a) { return flush(1.0f / flush(a)); }>("v_s_rcp_f32"),
    salu<[](float a) { return rsqrt(flush(a)); }>("v_s_rsq_f32"),
    salu<[](float a) { return __builtin_sqrtf(flush(a)); }>("v_s_sqrt_f32"),
    salu<[](float a) { return one<Exp2>(a); }>("v_s_exp_f32"),
    salu<[](float a) { return one<Log2>(a); }>("v_s_log_f32"),
    salu<[](Half a) { return Half{1.0f / a.f}; }>("v_s_rcp_f16"),
    salu<[](Half a) { return Half{rsqrt(a.f)}; }>("v_s_rsq_f16"),
    salu<[](Half a) { return Half{__builtin_sqrtf(a.f)}; }>("v_s_sqrt_f16"),
    salu<[](Half a) { return Half{one<Exp2Half>(a.f)}; }>("v_s_exp_f16"),
    salu<[](Half a) { return Half{one<Log2>(a.f)}; }>("v_s_log_f16"),
};

}  // namespace
EMU_GROUP(vector_math, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
