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

EMU_FN float flush(float x) { return from_bits<float>(exponent(x) == 0 ? bits(x) & 0x80000000u : bits(x)); }

/// 2^x for |x| < 2000, to about 1e-16: Taylor series of the fraction in [-1/2, 1/2].
EMU_FN double power_of_two(double x) {
  const double n = __builtin_rint(x), y = (x - n) * 0.6931471805599453;
  double p = 1.0 / 6227020800.0;
  p = p * y + 1.0 / 479001600.0;
  p = p * y + 1.0 / 39916800.0;
  p = p * y + 1.0 / 3628800.0;
  p = p * y + 1.0 / 362880.0;
  p = p * y + 1.0 / 40320.0;
  p = p * y + 1.0 / 5040.0;
  p = p * y + 1.0 / 720.0;
  p = p * y + 1.0 / 120.0;
  p = p * y + 1.0 / 24.0;
  p = p * y + 1.0 / 6.0;
  p = p * y + 0.5;
  p = p * y + 1.0;
  p = p * y + 1.0;
  return p * from_bits<double>(uint64_t(int64_t(n) + 1023) << 52);
}
EMU_FN float exp2_of(float x) {
  const double limited = x > 200.0f ? 200.0 : x < -200.0f ? -200.0 : double(x);
  const float r = float(power_of_two(is_nan(x) ? 0.0 : limited));
  return is_nan(x) ? quiet(x) : r;
}
/// log2 of a positive finite double.
EMU_FN double log2_of(double x) {
  uint64_t b = bits(x);
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const uint64_t shifted = b - 0x3fe6a09e667f3bcd;
  const int64_t e = int64_t(shifted) >> 52;
  const double m = from_bits<double>(b - (uint64_t(e) << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  return double(e) + p * s * 2.8853900817779268;
}
EMU_FN float log2_float(float x) {
  const bool regular = x > 0.0f && x < kInfinity<float>;
  const float r = float(log2_of(regular ? double(x) : 1.0));
  return regular     ? r
         : is_nan(x) ? quiet(x)
         : x == 0.0f ? -kInfinity<float>
         : x < 0.0f  ? make_nan<float>()
                     : x;
}
/// sin(2 pi x).
EMU_FN float sine_of_turns(double x) {
  double r = x - __builtin_rint(x);
  r = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
  const double y = r * 6.283185307179586, z = y * y;
  double p = -1.0 / 25852016738884976640000.0;
  p = p * z + 1.0 / 51090942171709440000.0;
  p = p * z - 1.0 / 121645100408832000.0;
  p = p * z + 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return float(y + y * z * p);
}
EMU_FN float sine(float x) {
  const bool finite = absolute(x) < kInfinity<float>;
  const float r = sine_of_turns(finite ? double(x) : 0.0);
  return finite ? (x == 0.0f ? x : r) : make_nan<float>();
}
EMU_FN float cosine(float x) {
  const bool finite = absolute(x) < kInfinity<float>;
  // A quarter turn further; the fraction is taken first, so that the sum is exact.
  const double turns = finite ? double(x) : 0.0, fraction = turns - __builtin_rint(turns);
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
const Row kRows[] = {
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
};

}  // namespace
EMU_GROUP(vector_math, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
