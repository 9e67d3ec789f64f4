// SPDX-License-Identifier: Apache-2.0
// Vector arithmetic on f32 and f64.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/real.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN float mul_dx9(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }
EMU_FN float fma_dx9(float a, float b, float c) { return a == 0.0f || b == 0.0f ? c : fused(a, b, c); }
EMU_FN float fma_f32(float a, float b, float c) { return fused(a, b, c); }

template <class T>
EMU_FN T fract(T x) {
  // Below one also where x is a tiny negative number.
  const T r = x - floor_of(x), below = from_bits<T>(bits(T(1)) - 1);
  return r > below ? below : r;
}
template <class T>
EMU_FN int frexp_exponent(T x) {
  const BitsOf<T> magnitude = bits(x) & ~kSignBit<T>;
  if (exponent(x) == RealTraits<T>::kMaxExponent || magnitude == 0) return 0;
  if (exponent(x) == 0) {
    const int lead =
        sizeof(T) == 4 ? __builtin_clz(uint32_t(magnitude)) - 8 : __builtin_clzll(uint64_t(magnitude)) - 11;
    return 1 - RealTraits<T>::kBias + 1 - lead;
  }
  return exponent(x) - RealTraits<T>::kBias + 1;
}
template <class T>
EMU_FN T frexp_mantissa(T x) {
  if (exponent(x) == RealTraits<T>::kMaxExponent) return is_nan(x) ? quiet(x) : x;
  if (x == 0) return flushed(x);
  return scale(x, -frexp_exponent(x));
}

/// One operand of a division, scaled so that the Newton steps neither overflow nor lose bits.
template <class T>
EMU_FN With<T> div_scale(T s0, T s1, T s2) {
  constexpr int kStep = sizeof(T) == 4 ? 64 : 128, kNear = sizeof(T) == 4 ? 96 : 768,
                kTiny = sizeof(T) == 4 ? 23 : 53;
  constexpr int kReciprocalDenormal = sizeof(T) == 4 ? 253 : 2045;  // exponents whose reciprocal is denormal
  if (s2 == 0 || s1 == 0) return {make_nan<T>(), 0};
  const bool is_denominator = s0 == s1, is_numerator = s0 == s2;
  if (exponent(s2) - exponent(s1) >= kNear) return {is_denominator ? scale(s0, kStep) : s0, 1};
  if (is_denormal(s1)) return {scale(s0, kStep), 0};
  const T magnitude = absolute(s1);
  const bool small_reciprocal = exponent(s1) != RealTraits<T>::kMaxExponent &&
                                (exponent(s1) > kReciprocalDenormal ||
                                 (exponent(s1) == kReciprocalDenormal &&
                                  (bits(magnitude) << (8 * sizeof(T) - RealTraits<T>::kMantissa)) != 0));
  const bool small_quotient = is_denormal(s2 / s1);
  // (The pseudo-code scales up here, which would overflow.)
  if (small_reciprocal && small_quotient) return {is_denominator ? scale(s0, -kStep) : s0, 1};
  if (small_reciprocal) return {scale(s0, -kStep), 0};
  if (small_quotient) return {is_numerator ? scale(s0, kStep) : s0, 1};
  if (exponent(s2) <= kTiny) return {scale(s0, kStep), 0};
  return {s0, 0};
}
/// a * b + c, scaled back as div_scale's flag tells: one rounding, of the scaled value.
EMU_FN float div_fmas(float a, float b, float c, VccBit scaled) {
  const float plain = fused(a, b, c);
  if (!scaled.b) return plain;
  if (is_nan(plain) || absolute(plain) == kInfinity<float>) return plain;
  return float(scale(fused_odd(a, b, c), exponent(c) > 127 ? 64 : -64));
}
EMU_FN double div_fmas(double a, double b, double c, VccBit scaled) {
  const double plain = fused(a, b, c);
  if (!scaled.b) return plain;
  if (is_nan(plain) || absolute(plain) == kInfinity<double> || plain == 0) return plain;
  if (exponent(c) > 1023) return scale(plain, 128);
  if (exponent(plain) > 128) return scale(plain, -128);
  // The result is denormal: round the exact value once. It is the sum of s, low and less; long double has the
  // bits that make one rounding of its odd-rounded sum right.
  const double p = a * b, pe = fused(a, b, -p);
  const double t = c + pe, tb = t - c, te = (c - (t - tb)) + (pe - tb);
  const double s = p + t, sb = s - p, se = (p - (s - sb)) + (t - sb);
  const double low = add_odd(te, se);
  long double sum = static_cast<long double>(s) + low;
  const long double low_part = sum - s,
                    error = (static_cast<long double>(s) - (sum - low_part)) + (low - low_part);
  uint64_t low_bits = 0;
  std::memcpy(&low_bits, &sum, sizeof(low_bits));
  if (error != 0 && !(low_bits & 1))
    sum = __builtin_nextafterl(sum, (error > 0) == (sum > 0) ? sum * 2 : 0.0L);
  return double(sum * 2.938735877055718769921841343055614194546663891932e-39L);  // 2^-128
}
template <class T>
EMU_FN T div_fixup(T q, T d, T n) {
  const bool sign = negative(d) != negative(n);
  const auto with_sign = [sign](T x) { return sign ? -x : x; };
  if (is_nan(n)) return quiet(n);
  if (is_nan(d)) return quiet(d);
  if ((d == 0 && n == 0) || (absolute(d) == kInfinity<T> && absolute(n) == kInfinity<T>))
    return -make_nan<T>();
  if (d == 0 || absolute(n) == kInfinity<T>) return with_sign(kInfinity<T>);
  if (absolute(d) == kInfinity<T> || n == 0) return with_sign(T(0));
  constexpr int kUnder = sizeof(T) == 4 ? -150 : -1075;
  if (exponent(n) - exponent(d) < kUnder) return with_sign(T(0));
  // The pseudo-code's test for overflow can never be true where it stands; a quotient that is certainly too
  // large must be caught here, because the steps before it have turned into NaN.
  constexpr int kOver = sizeof(T) == 4 ? 130 : 1026;
  if (exponent(n) - exponent(d) >= kOver) return with_sign(kInfinity<T>);
  return with_sign(absolute(q));
}

EMU_FN uint32_t class_bit(int kind, bool minus, bool quiet_nan) {
  // kind: 0 zero, 1 denormal, 2 normal, 3 infinite, 4 NaN
  return kind == 4 ? (quiet_nan ? 1 : 0) : minus ? 5 - uint32_t(kind) : 6 + uint32_t(kind);
}
template <class T>
EMU_FN bool classify(T x, uint32_t wanted) {
  const int kind = is_nan(x)                     ? 4
                   : absolute(x) == kInfinity<T> ? 3
                   : exponent(x) != 0            ? 2
                   : (bits(x) << 1) != 0         ? 1
                                                 : 0;
  return wanted >> class_bit(kind, negative(x), !is_signaling(x)) & 1;
}

EMU_FN float cube_major(float x, float y, float z) {
  const float ax = absolute(x), ay = absolute(y), az = absolute(z);
  return az >= ax && az >= ay ? z : ay >= ax ? y : x;
}
EMU_FN float cube_face(float x, float y, float z) {
  const float ax = absolute(x), ay = absolute(y), az = absolute(z);
  return az >= ax && az >= ay ? (z < 0 ? 5.0f : 4.0f)
         : ay >= ax           ? (y < 0 ? 3.0f : 2.0f)
         : x < 0              ? 1.0f
                              : 0.0f;
}

constexpr Row kRows[] = {
    valu<[](float a, float b) { return a + b; }>("v_add_f32"),
    valu<[](float a, float b) { return a - b; }>("v_sub_f32"),
    valu<[](float a, float b) { return b - a; }>("v_subrev_f32"),
    valu<[](float a, float b) { return a * b; }>("v_mul_f32"),
    valu<[](float a, float b) { return mul_dx9(a, b); }>("v_mul_dx9_zero_f32"),
    valu<[](float a, float b) { return mul_dx9(a, b); }>("v_mul_legacy_f32"),
    valu<[](float a, float b, float c) { return fma_f32(a, b, c); }>("v_fma_f32"),
    valu<[](float a, float b, float c) { return fma_f32(a, b, c); }>("v_fmamk_f32"),
    valu<[](float a, float b, float c) { return fma_f32(a, b, c); }>("v_fmaak_f32"),
    valu<[](float a, float b, float c) { return fma_f32(a, b, c); }>("v_fmac_f32", kAccumulate),
    valu<[](float a, float b, float c) { return fma_dx9(a, b, c); }>("v_fma_dx9_zero_f32"),
    valu<[](float a, float b, float c) { return fma_dx9(a, b, c); }>("v_fma_legacy_f32"),
    valu<[](float a, float b, float c) { return fma_dx9(a, b, c); }>("v_fmac_dx9_zero_f32", kAccumulate),
    valu<[](float a, float b, float c) { return fma_dx9(a, b, c); }>("v_fmac_legacy_f32", kAccumulate),
    valu<[](float a, float b, float c) { return a * b + c; }>("v_mad_f32"),
    valu<[](float a, float b, float c) { return a * b + c; }>("v_madmk_f32"),
    valu<[](float a, float b, float c) { return a * b + c; }>("v_madak_f32"),
    valu<[](float a, float b, float c) { return a * b + c; }>("v_mac_f32", kAccumulate),
    valu<[](float a, float b, float c) { return mul_dx9(a, b) + c; }>("v_mad_legacy_f32"),
    valu<[](float a, float b, float c) { return mul_dx9(a, b) + c; }>("v_mac_legacy_f32", kAccumulate),
    valu<[](float a, float b, Mode m) { return smaller(a, b, m); }>("v_min_f32"),
    valu<[](float a, float b, Mode m) { return larger(a, b, m); }>("v_max_f32"),
    valu<[](float a, float b) { return smaller_number(a, b); }>("v_min_num_f32"),
    valu<[](float a, float b) { return larger_number(a, b); }>("v_max_num_f32"),
    valu<[](float a, float b) { return minimum(a, b); }>("v_minimum_f32"),
    valu<[](float a, float b) { return maximum(a, b); }>("v_maximum_f32"),
    valu<[](float a, float b, float c, Mode m) { return smaller(smaller(a, b, m), c, m); }>("v_min3_f32"),
    valu<[](float a, float b, float c, Mode m) { return larger(larger(a, b, m), c, m); }>("v_max3_f32"),
    valu<[](float a, float b, float c) { return smaller_number(smaller_number(a, b), c); }>("v_min3_num_f32"),
    valu<[](float a, float b, float c) { return larger_number(larger_number(a, b), c); }>("v_max3_num_f32"),
    valu<[](float a, float b, float c) { return minimum(minimum(a, b), c); }>("v_minimum3_f32"),
    valu<[](float a, float b, float c) { return maximum(maximum(a, b), c); }>("v_maximum3_f32"),
    valu<[](float a, float b, float c, Mode m) { return smaller(larger(a, b, m), c, m); }>("v_maxmin_f32"),
    valu<[](float a, float b, float c, Mode m) { return larger(smaller(a, b, m), c, m); }>("v_minmax_f32"),
    valu<[](float a, float b, float c) { return smaller_number(larger_number(a, b), c); }>(
        "v_maxmin_num_f32"),
    valu<[](float a, float b, float c) { return larger_number(smaller_number(a, b), c); }>(
        "v_minmax_num_f32"),
    valu<[](float a, float b, float c) { return minimum(maximum(a, b), c); }>("v_maximumminimum_f32"),
    valu<[](float a, float b, float c) { return maximum(minimum(a, b), c); }>("v_minimummaximum_f32"),
    valu<[](float a, float b, float c, Mode m) { return middle(a, b, c, m); }>("v_med3_f32"),
    valu<[](float a, float b, float c) { return middle_number(a, b, c); }>("v_med3_num_f32"),
    valu<[](float a) { return floor_of(a); }>("v_floor_f32"),
    valu<[](float a) { return __builtin_ceilf(a); }>("v_ceil_f32"),
    valu<[](float a) { return __builtin_truncf(a); }>("v_trunc_f32"),
    valu<[](float a) { return __builtin_roundevenf(a); }>("v_rndne_f32"),
    valu<[](float a) { return fract(a); }>("v_fract_f32"),
    valu<[](float a, int32_t n) { return scale(a, n); }>("v_ldexp_f32"),
    valu<[](float a) { return int32_t(frexp_exponent(a)); }>("v_frexp_exp_i32_f32"),
    valu<[](float a) { return frexp_mantissa(a); }>("v_frexp_mant_f32"),
    valu<[](float a, float b, float c) { return div_scale(a, b, c); }>("v_div_scale_f32"),
    valu<[](float a, float b, float c, VccBit v) { return div_fmas(a, b, c, v); }>("v_div_fmas_f32"),
    valu<[](float a, float b, float c) { return div_fixup(a, b, c); }>("v_div_fixup_f32"),
    valu<[](float a, float b, float c) {
      const float lowest = -3.402823466e+38f;
      return b == lowest || b == -kInfinity<float> || is_nan(b) || c <= 0.0f || is_nan(c) ? lowest : a * b;
    }>("v_mullit_f32"),
    valu<[](float x, float y, float z) { return cube_face(x, y, z); }>("v_cubeid_f32"),
    valu<[](float x, float y, float z) { return 2.0f * cube_major(x, y, z); }>("v_cubema_f32"),
    valu<[](float x, float y, float z) {
      const int face = int(cube_face(x, y, z));
      return face == 0 ? -z : face == 1 ? z : face == 5 ? -x : x;
    }>("v_cubesc_f32"),
    valu<[](float x, float y, float z) {
      const int face = int(cube_face(x, y, z));
      return face == 2 ? z : face == 3 ? -z : -y;
    }>("v_cubetc_f32"),
    valu<[](float a, uint32_t m) { return classify(a, m); }>("v_cmp_class_f32"),
    valu_exec<[](float a, uint32_t m) { return classify(a, m); }>("v_cmpx_class_f32"),

    valu<[](double a, double b) { return a + b; }>("v_add_f64", 0, Class::Double),
    valu<[](double a, double b) { return a * b; }>("v_mul_f64", 0, Class::Double),
    valu<[](double a, double b, double c) { return fused(a, b, c); }>("v_fma_f64", 0, Class::Double),
    valu<[](double a, double b, double c) { return fused(a, b, c); }>("v_fmac_f64", kAccumulate,
                                                                      Class::Double),
    valu<[](double a, double b, Mode m) { return smaller(a, b, m); }>("v_min_f64", 0, Class::Double),
    valu<[](double a, double b, Mode m) { return larger(a, b, m); }>("v_max_f64", 0, Class::Double),
    valu<[](double a, double b) { return smaller_number(a, b); }>("v_min_num_f64", 0, Class::Double),
    valu<[](double a, double b) { return larger_number(a, b); }>("v_max_num_f64", 0, Class::Double),
    valu<[](double a, double b) { return minimum(a, b); }>("v_minimum_f64", 0, Class::Double),
    valu<[](double a, double b) { return maximum(a, b); }>("v_maximum_f64", 0, Class::Double),
    valu<[](double a) { return floor_of(a); }>("v_floor_f64", 0, Class::Double),
    valu<[](double a) { return __builtin_ceil(a); }>("v_ceil_f64", 0, Class::Double),
    valu<[](double a) { return __builtin_trunc(a); }>("v_trunc_f64", 0, Class::Double),
    valu<[](double a) { return __builtin_roundeven(a); }>("v_rndne_f64", 0, Class::Double),
    valu<[](double a) { return fract(a); }>("v_fract_f64", 0, Class::Double),
    valu<[](double a, int32_t n) { return scale(a, n); }>("v_ldexp_f64", 0, Class::Double),
    valu<[](double a) { return int32_t(frexp_exponent(a)); }>("v_frexp_exp_i32_f64", 0, Class::Double),
    valu<[](double a) { return frexp_mantissa(a); }>("v_frexp_mant_f64", 0, Class::Double),
    valu<[](double a, double b, double c) { return div_scale(a, b, c); }>("v_div_scale_f64", 0,
                                                                          Class::Double),
    valu<[](double a, double b, double c, VccBit v) { return div_fmas(a, b, c, v); }>("v_div_fmas_f64", 0,
                                                                                      Class::Double),
    valu<[](double a, double b, double c) { return div_fixup(a, b, c); }>("v_div_fixup_f64", 0,
                                                                          Class::Double),
    valu<[](double a, uint32_t m) { return classify(a, m); }>("v_cmp_class_f64", 0, Class::Double),
    valu_exec<[](double a, uint32_t m) { return classify(a, m); }>("v_cmpx_class_f64"),
};

}  // namespace
EMU_GROUP(vector_float, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
