// SPDX-License-Identifier: Apache-2.0
// As many floats as one register of the level holds, each as a double where that is asked for, and one float
// with the same functions. What is written over both has the same bits on every level and in the scalar unit:
// each operation here rounds as the host's mode says, or not at all.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

struct OneDouble {
  double v;
  EMU_FN OneDouble of(double x) { return {x}; }
};
EMU_FN OneDouble operator+(OneDouble a, OneDouble b) { return {a.v + b.v}; }
EMU_FN OneDouble operator-(OneDouble a, OneDouble b) { return {a.v - b.v}; }
EMU_FN OneDouble operator*(OneDouble a, OneDouble b) { return {a.v * b.v}; }
EMU_FN OneDouble fused(OneDouble a, OneDouble b, OneDouble c) { return {__builtin_fma(a.v, b.v, c.v)}; }
/// c - a * b
EMU_FN OneDouble fused_rest(OneDouble a, OneDouble b, OneDouble c) { return {__builtin_fma(-a.v, b.v, c.v)}; }

struct OneFloat {
  static constexpr unsigned kLanes = 1;
  float v;
  EMU_FN OneFloat of(float x) { return {x}; }
  EMU_FN OneFloat load(const uint32_t* from) { return {std::bit_cast<float>(*from)}; }
  EMU_FN OneFloat load_halves(const uint16_t* from) {
    uint16_t bits;
    std::memcpy(&bits, from, sizeof(bits));  // the place may be one of words
    return {half_value(bits)};
  }
};
EMU_FN void store(uint32_t* to, OneFloat a) { *to = std::bit_cast<uint32_t>(a.v); }
/// Twice as many halves, rounded to nearest, into the enabled words.
EMU_FN void store_halves(uint32_t* to, OneFloat low, OneFloat high, uint32_t enabled) {
  if (enabled & 1) *to = half_bits(low.v) | half_bits(high.v) << 16;
}
EMU_FN OneFloat operator+(OneFloat a, OneFloat b) { return {a.v + b.v}; }
EMU_FN OneFloat operator-(OneFloat a, OneFloat b) { return {a.v - b.v}; }
EMU_FN OneFloat operator*(OneFloat a, OneFloat b) { return {a.v * b.v}; }
EMU_FN OneFloat operator/(OneFloat a, OneFloat b) { return {a.v / b.v}; }
/// The second where one is a NaN.
EMU_FN OneFloat smaller(OneFloat a, OneFloat b) { return a.v < b.v ? a : b; }
EMU_FN OneFloat larger(OneFloat a, OneFloat b) { return a.v > b.v ? a : b; }
/// The nearest integer, whatever the host's mode.
EMU_FN OneFloat nearest(OneFloat a) { return {__builtin_roundevenf(a.v)}; }
EMU_FN OneFloat magnitude(OneFloat a) { return {__builtin_fabsf(a.v)}; }
/// A number with another's sign.
EMU_FN OneFloat with_sign(OneFloat a, OneFloat sign) { return {__builtin_copysignf(a.v, sign.v)}; }
EMU_FN bool less(OneFloat a, OneFloat b) { return a.v < b.v; }
EMU_FN bool equal(OneFloat a, OneFloat b) { return a.v == b.v; }
EMU_FN bool is_nan(OneFloat a) { return a.v != a.v; }
EMU_FN bool all(bool a) { return a; }
EMU_FN OneFloat pick(bool choice, OneFloat a, OneFloat b) { return choice ? a : b; }
/// Positive, normal and finite.
EMU_FN bool regular(OneFloat a) { return std::bit_cast<uint32_t>(a.v) - 0x00800000 < 0x7f000000; }
/// Of a regular number: exponent, and mantissa in [sqrt(1/2), sqrt(2)).
EMU_FN void split(OneFloat a, OneFloat& exponent, OneFloat& mantissa) {
  const uint32_t bits = std::bit_cast<uint32_t>(a.v), above = bits - 0x3f3504f3;
  exponent = {float(int32_t(above) >> 23)};
  mantissa = {std::bit_cast<float>(bits - (above & 0xff800000))};
}
/// a * 2^n of an integer n, without rounding: both must be normal, or a a NaN.
EMU_FN OneFloat scaled(OneFloat a, OneFloat n) {
  return is_nan(a)
             ? a
             : OneFloat{std::bit_cast<float>(std::bit_cast<uint32_t>(a.v) + (uint32_t(int32_t(n.v)) << 23))};
}
/// Of halves, in the usual rounding: a float that rounds to the same half as a * b + c does. The product is
/// exact, the sum is rounded to odd: so it is no tie that the exact one is not.
EMU_FN OneFloat fused_nearly(OneFloat a, OneFloat b, OneFloat c) {
  const float p = a.v * b.v, s = p + c.v, t = s - p, error = (p - (s - t)) + (c.v - t);
  // (An error that is no number is none.)
  const uint32_t sum = std::bit_cast<uint32_t>(s), off = std::bit_cast<uint32_t>(error),
                 inexact = (off & 0x7fffffff) - 1 < 0x7f7fffff ? 1 : 0;
  return {std::bit_cast<float>((sum - (inexact & (off ^ sum) >> 31)) | inexact)};
}
EMU_FN OneDouble doubles(OneFloat a) { return {double(a.v)}; }
EMU_FN OneFloat floats(OneDouble a) { return {float(a.v)}; }

#if defined(__AVX512F__)
// (Masks of all lanes: without one GCC 12 warns of the headers' undefined registers.)
struct Doubles {
  __m512d low, high;
  EMU_FN Doubles of(double x) { return {_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
};
EMU_FN Doubles operator+(Doubles a, Doubles b) { return {a.low + b.low, a.high + b.high}; }
EMU_FN Doubles operator-(Doubles a, Doubles b) { return {a.low - b.low, a.high - b.high}; }
EMU_FN Doubles operator*(Doubles a, Doubles b) { return {a.low * b.low, a.high * b.high}; }
EMU_FN Doubles fused(Doubles a, Doubles b, Doubles c) {
  return {_mm512_fmadd_pd(a.low, b.low, c.low), _mm512_fmadd_pd(a.high, b.high, c.high)};
}
EMU_FN Doubles fused_rest(Doubles a, Doubles b, Doubles c) {
  return {_mm512_fnmadd_pd(a.low, b.low, c.low), _mm512_fnmadd_pd(a.high, b.high, c.high)};
}

struct Floats {
  static constexpr unsigned kLanes = 16;
  __m512 v;
  EMU_FN Floats of(float x) { return {_mm512_set1_ps(x)}; }
  EMU_FN Floats load(const uint32_t* from) { return {_mm512_loadu_ps(from)}; }
  EMU_FN Floats load_halves(const uint16_t* from) {
    return {_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
};
EMU_FN void store(uint32_t* to, Floats a) { _mm512_storeu_ps(to, a.v); }
EMU_FN void store_halves(uint32_t* to, Floats low, Floats high, uint32_t enabled) {
  const __m512i both =
      _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(_mm512_maskz_cvtps_ph(0xffff, low.v, 0)),
                               _mm512_maskz_cvtps_ph(0xffff, high.v, 0), 1);
  if (__mmask16(enabled) == 0xffff) [[likely]]
    _mm512_storeu_si512(to, both);  // (what a masked store writes waits for memory before it can be read)
  else
    _mm512_mask_storeu_epi32(to, __mmask16(enabled), both);
}
EMU_FN Floats operator+(Floats a, Floats b) { return {a.v + b.v}; }
EMU_FN Floats operator-(Floats a, Floats b) { return {a.v - b.v}; }
EMU_FN Floats operator*(Floats a, Floats b) { return {a.v * b.v}; }
EMU_FN Floats operator/(Floats a, Floats b) { return {a.v / b.v}; }
EMU_FN Floats smaller(Floats a, Floats b) { return {_mm512_maskz_min_ps(0xffff, a.v, b.v)}; }
EMU_FN Floats larger(Floats a, Floats b) { return {_mm512_maskz_max_ps(0xffff, a.v, b.v)}; }
EMU_FN Floats nearest(Floats a) { return {_mm512_maskz_roundscale_ps(0xffff, a.v, 8)}; }
EMU_FN __m512i bits_of(Floats a) { return _mm512_castps_si512(a.v); }
EMU_FN Floats magnitude(Floats a) {
  return {_mm512_castsi512_ps(_mm512_and_si512(bits_of(a), _mm512_set1_epi32(0x7fffffff)))};
}
EMU_FN Floats with_sign(Floats a, Floats sign) {
  return {_mm512_castsi512_ps(_mm512_ternarylogic_epi32(
      bits_of(a), bits_of(sign), _mm512_set1_epi32(int32_t(0x80000000)), 0xd8))};  // c ? b : a
}
EMU_FN __mmask16 less(Floats a, Floats b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
EMU_FN __mmask16 equal(Floats a, Floats b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ); }
EMU_FN __mmask16 is_nan(Floats a) { return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q); }
EMU_FN bool all(__mmask16 a) { return a == 0xffff; }
EMU_FN Floats pick(__mmask16 choice, Floats a, Floats b) { return {_mm512_mask_blend_ps(choice, b.v, a.v)}; }
EMU_FN __mmask16 regular(Floats a) {
  return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(bits_of(a), _mm512_set1_epi32(0x00800000)),
                                 _mm512_set1_epi32(0x7f000000));
}
EMU_FN void split(Floats a, Floats& exponent, Floats& mantissa) {
  const __m512i above = _mm512_sub_epi32(bits_of(a), _mm512_set1_epi32(0x3f3504f3));
  exponent.v = _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_srai_epi32(0xffff, above, 23));
  mantissa.v = _mm512_castsi512_ps(
      _mm512_sub_epi32(bits_of(a), _mm512_and_si512(above, _mm512_set1_epi32(int32_t(0xff800000)))));
}
EMU_FN Floats scaled(Floats a, Floats n) {
  // (A NaN as an integer is a zero above which only the highest bit stands.)
  const __m512i power = _mm512_maskz_slli_epi32(0xffff, _mm512_maskz_cvttps_epi32(0xffff, n.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(bits_of(a), power))};
}
EMU_FN Floats fused_nearly(Floats a, Floats b, Floats c) {
  // Rounded down and up: the same, or neighbours of one sign, one of them odd and the lesser the one towards
  // zero.
  const __m512i down = _mm512_castps_si512(
                    _mm512_fmadd_round_ps(a.v, b.v, c.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)),
                up = _mm512_castps_si512(
                    _mm512_fmadd_round_ps(a.v, b.v, c.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
  const __m512i odd = _mm512_ternarylogic_epi32(down, up, _mm512_set1_epi32(1), 0xa8);  // (a | b) & c
  return {_mm512_castsi512_ps(_mm512_or_si512(_mm512_maskz_min_epu32(0xffff, down, up), odd))};
}
EMU_FN Doubles doubles(Floats a) {
  return {_mm512_maskz_cvtps_pd(0xff, _mm512_maskz_extractf32x8_ps(0xff, a.v, 0)),
          _mm512_maskz_cvtps_pd(0xff, _mm512_maskz_extractf32x8_ps(0xff, a.v, 1))};
}
EMU_FN Floats floats(Doubles a) {
  return {_mm512_maskz_insertf32x8(0xffff, _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xff, a.low)),
                                   _mm512_maskz_cvtpd_ps(0xff, a.high), 1)};
}

#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
struct Doubles {
  __m256d low, high;
  EMU_FN Doubles of(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
};
EMU_FN Doubles operator+(Doubles a, Doubles b) { return {a.low + b.low, a.high + b.high}; }
EMU_FN Doubles operator-(Doubles a, Doubles b) { return {a.low - b.low, a.high - b.high}; }
EMU_FN Doubles operator*(Doubles a, Doubles b) { return {a.low * b.low, a.high * b.high}; }
EMU_FN Doubles fused(Doubles a, Doubles b, Doubles c) {
  return {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
}
EMU_FN Doubles fused_rest(Doubles a, Doubles b, Doubles c) {
  return {_mm256_fnmadd_pd(a.low, b.low, c.low), _mm256_fnmadd_pd(a.high, b.high, c.high)};
}

struct Floats {
  static constexpr unsigned kLanes = 8;
  __m256 v;
  EMU_FN Floats of(float x) { return {_mm256_set1_ps(x)}; }
  EMU_FN Floats load(const uint32_t* from) {
    return {_mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  EMU_FN Floats load_halves(const uint16_t* from) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
  }
};
EMU_FN __m256i bits_of(Floats a) { return _mm256_castps_si256(a.v); }
EMU_FN void store(uint32_t* to, Floats a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits_of(a)); }
EMU_FN void store_halves(uint32_t* to, Floats low, Floats high, uint32_t enabled) {
  const __m256i both = _mm256_set_m128i(_mm256_cvtps_ph(high.v, 0), _mm256_cvtps_ph(low.v, 0));
  auto* at = reinterpret_cast<__m256i*>(to);
  if ((enabled & 0xff) == 0xff) [[likely]] {
    _mm256_storeu_si256(at, both);
    return;
  }
  const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128),
                on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int32_t(enabled)), lane), lane);
  _mm256_storeu_si256(at, _mm256_blendv_epi8(_mm256_loadu_si256(at), both, on));
}
EMU_FN Floats operator+(Floats a, Floats b) { return {a.v + b.v}; }
EMU_FN Floats operator-(Floats a, Floats b) { return {a.v - b.v}; }
EMU_FN Floats operator*(Floats a, Floats b) { return {a.v * b.v}; }
EMU_FN Floats operator/(Floats a, Floats b) { return {a.v / b.v}; }
EMU_FN Floats smaller(Floats a, Floats b) { return {_mm256_min_ps(a.v, b.v)}; }
EMU_FN Floats larger(Floats a, Floats b) { return {_mm256_max_ps(a.v, b.v)}; }
EMU_FN Floats nearest(Floats a) { return {_mm256_round_ps(a.v, 8)}; }
EMU_FN Floats magnitude(Floats a) {
  return {_mm256_and_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)))};
}
EMU_FN Floats with_sign(Floats a, Floats sign) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(_mm256_andnot_ps(bit, a.v), _mm256_and_ps(sign.v, bit))};
}
EMU_FN __m256 less(Floats a, Floats b) { return _mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ); }
EMU_FN __m256 equal(Floats a, Floats b) { return _mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ); }
EMU_FN __m256 is_nan(Floats a) { return _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q); }
EMU_FN bool all(__m256 a) { return _mm256_movemask_ps(a) == 0xff; }
EMU_FN Floats pick(__m256 choice, Floats a, Floats b) { return {_mm256_blendv_ps(b.v, a.v, choice)}; }
EMU_FN __m256 regular(Floats a) {
  // There are signed comparisons only, so both sides are 2^31 further down.
  const __m256i above = _mm256_add_epi32(bits_of(a), _mm256_set1_epi32(0x7f800000));
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(int32_t(0xff000000)), above));
}
EMU_FN void split(Floats a, Floats& exponent, Floats& mantissa) {
  const __m256i above = _mm256_sub_epi32(bits_of(a), _mm256_set1_epi32(0x3f3504f3));
  exponent.v = _mm256_cvtepi32_ps(_mm256_srai_epi32(above, 23));
  mantissa.v = _mm256_castsi256_ps(
      _mm256_sub_epi32(bits_of(a), _mm256_and_si256(above, _mm256_set1_epi32(int32_t(0xff800000)))));
}
EMU_FN Floats scaled(Floats a, Floats n) {
  // (A NaN as an integer is a zero above which only the highest bit stands.)
  const __m256i power = _mm256_slli_epi32(_mm256_cvttps_epi32(n.v), 23);
  return {_mm256_castsi256_ps(_mm256_add_epi32(bits_of(a), power))};
}
EMU_FN Floats fused_nearly(Floats a, Floats b, Floats c) {
  const __m256 s = _mm256_fmadd_ps(a.v, b.v, c.v), t = s - c.v,
               error = _mm256_fmsub_ps(a.v, b.v, t) + (c.v - (s - t));
  const __m256i inexact = _mm256_castps_si256(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ)),
                apart = _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(error, s)), 31);
  const __m256i towards_zero = _mm256_add_epi32(_mm256_castps_si256(s), _mm256_and_si256(inexact, apart));
  return {_mm256_castsi256_ps(_mm256_or_si256(towards_zero, _mm256_srli_epi32(inexact, 31)))};
}
EMU_FN Doubles doubles(Floats a) {
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(a.v)), _mm256_cvtps_pd(_mm256_extractf128_ps(a.v, 1))};
}
EMU_FN Floats floats(Doubles a) { return {_mm256_set_m128(_mm256_cvtpd_ps(a.high), _mm256_cvtpd_ps(a.low))}; }

#else
using Floats = OneFloat;
#endif

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
