// SPDX-License-Identifier: Apache-2.0
// Reciprocals, roots, exponentials, logarithms, sine and cosine. Hardware approximates them within about one
// unit in the last place; here they are computed in f64 and rounded once, so at most one unit of the f64
// result away from the correctly rounded one. As LLVM's lowering assumes of hardware, the f32 forms take
// denormal inputs for zero and give zero for denormal results (sine and cosine excepted).
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/real.h"
#include "emu/exec/ops/scalars.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Zero in place of denormals. (By a mask: a choice keeps compilers from making SIMD of what follows.)
EMU_FN float flush(float x) {
  const uint32_t normal = 0u - uint32_t((bits(x) & 0x7f800000u) != 0);
  return from_bits<float>(bits(x) & (normal | 0x80000000u));
}

/// A polynomial by Horner's rule, the constant first; fused, so that every instruction-set level has the same
/// bits. (Not a loop: compilers do not unroll it early enough to make SIMD of what is around it.)
template <size_t I = 0, size_t N>
EMU_FN double polynomial(const double (&c)[N], double x) {
  if constexpr (I + 1 == N)
    return c[I];
  else
    return __builtin_fma(polynomial<I + 1>(c, x), x, c[I]);
}
// Interpolated at Chebyshev's nodes; the relative error of each is below 2^-51.
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
constexpr double kLog2[] = {
    2.8853900817779268, 0.9617966939259898, 0.5770780163455203, 0.4121985858409005, 0.32059853491395984,
    0.262334352504183,  0.2209130842311768, 0.2136589569431927};  // 2 atanh(s) / (s ln 2) in s^2, s <= 0.1716
constexpr double kSine[] = {6.283185307179586,  -41.341702240399755, 81.60524927607362,  -76.70585975282492,
                            42.058693925428685, -15.0946416761179,   3.8199280942271643, -0.7177337921413454,
                            0.10089695501646812};  // sin(2 pi r) / r in r^2, |r| <= 1/4
// Added to a small number, it leaves the nearest integer in the low bits.
constexpr double kToInteger = 6755399441055744.0;

/// 2^x for |x| < 1000.
EMU_FN double power_of_two(double x) {
  const double shifted = x + kToInteger, fraction = x - (shifted - kToInteger);
  return polynomial(kExp2, fraction) * from_bits<double>((bits(shifted) + 1023) << 52);
}
EMU_FN float exp2_of(float x) {
  // Selected as floats, so that one width follows the other.
  const float limited = x > 200.0f ? 200.0f : x > -200.0f ? x : -200.0f;
  const float r = float(power_of_two(double(limited)));
  return is_nan(x) ? quiet(x) : r;
}
/// log2 of a positive normal number.
EMU_FN double log2_of(float x) {
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const int32_t e = int32_t(bits(x) - 0x3f3504f3) >> 23;
  const double m = from_bits<float>(bits(x) - (uint32_t(e) << 23));
  const double s = (m - 1.0) / (m + 1.0);
  return __builtin_fma(polynomial(kLog2, s * s), s, double(e));
}
EMU_FN float log2_float(float x) {
  const bool regular = (x > 0.0f) & (x < kInfinity<float>);
  float r = float(log2_of(regular ? x : 1.0f));
  r = x == 0.0f ? -kInfinity<float> : r;
  r = x < 0.0f ? make_nan<float>() : r;
  r = x == kInfinity<float> ? x : r;
  return is_nan(x) ? quiet(x) : r;
}
/// sin(2 pi x).
EMU_FN float sine_of_turns(double x) {
  double r = x - __builtin_rint(x);
  r = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
  return float(polynomial(kSine, r * r) * r);
}
EMU_FN float sine(float x) {
  const bool finite = absolute(x) < kInfinity<float>;
  const float r = sine_of_turns(double(finite ? x : 0.0f));
  return finite ? (x == 0.0f ? x : r) : make_nan<float>();
}
EMU_FN float cosine(float x) {
  const bool finite = absolute(x) < kInfinity<float>;
  // A quarter turn further; the fraction is taken first, so that the sum is exact.
  const double turns = double(finite ? x : 0.0f), fraction = turns - __builtin_rint(turns);
  const float r = sine_of_turns(fraction + 0.25);
  return finite ? r : make_nan<float>();
}
EMU_FN float rsqrt(float x) { return float(1.0 / __builtin_sqrt(double(x))); }

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
    valu<[](float a) { return flush(exp2_of(flush(a))); }>("v_exp_f32", 0, kMath),
    valu<[](float a) { return log2_float(flush(a)); }>("v_log_f32", 0, kMath),
    valu<[](float a) { return flush(exp2_of(flush(a))); }>("v_exp_legacy_f32", 0, kMath),
    valu<[](float a) { return log2_float(flush(a)); }>("v_log_legacy_f32", 0, kMath),
    valu<[](float a) { return sine(a); }>("v_sin_f32", 0, kMath),
    valu<[](float a) { return cosine(a); }>("v_cos_f32", 0, kMath),
    valu<[](Half a) { return Half{1.0f / a.f}; }>("v_rcp_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{rsqrt(a.f)}; }>("v_rsq_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{__builtin_sqrtf(a.f)}; }>("v_sqrt_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{exp2_of(a.f)}; }>("v_exp_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{log2_float(a.f)}; }>("v_log_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{sine(a.f)}; }>("v_sin_f16", kZeroHigh9, kMath),
    valu<[](Half a) { return Half{cosine(a.f)}; }>("v_cos_f16", kZeroHigh9, kMath),
    valu<[](double a) { return 1.0 / a; }>("v_rcp_f64", 0, kMath),
    valu<[](double a) { return 1.0 / __builtin_sqrt(a); }>("v_rsq_f64", 0, kMath),
    valu<[](double a) { return __builtin_sqrt(a); }>("v_sqrt_f64", 0, kMath),
    valu<[](double a, uint32_t b) { return trig_preop(a, b); }>("v_trig_preop_f64", 0, kMath),
    // gfx12: of one scalar, in the vector unit.
    salu<[](float a) { return flush(1.0f / flush(a)); }>("v_s_rcp_f32"),
    salu<[](float a) { return rsqrt(flush(a)); }>("v_s_rsq_f32"),
    salu<[](float a) { return __builtin_sqrtf(flush(a)); }>("v_s_sqrt_f32"),
    salu<[](float a) { return flush(exp2_of(flush(a))); }>("v_s_exp_f32"),
    salu<[](float a) { return log2_float(flush(a)); }>("v_s_log_f32"),
    salu<[](Half a) { return Half{1.0f / a.f}; }>("v_s_rcp_f16"),
    salu<[](Half a) { return Half{rsqrt(a.f)}; }>("v_s_rsq_f16"),
    salu<[](Half a) { return Half{__builtin_sqrtf(a.f)}; }>("v_s_sqrt_f16"),
    salu<[](Half a) { return Half{exp2_of(a.f)}; }>("v_s_exp_f16"),
    salu<[](Half a) { return Half{log2_float(a.f)}; }>("v_s_log_f16"),
};

}  // namespace
EMU_GROUP(vector_math, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
