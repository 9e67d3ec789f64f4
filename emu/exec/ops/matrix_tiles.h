// SPDX-License-Identifier: Apache-2.0
// What WMMA, MFMA and the sparse products share: elements, sums of products in the order of k, halves of 16
// lanes, rows of the tables. Matrices lie as the registers hold them, A by columns, B and the sums by rows.
#pragma once
#include "emu/exec/ops/small_float.h"
#include "emu/exec/registers.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

enum class Element { F64, F32, Xf32, F16, Bf16, Fp8, Bf8, I8, I4 };
enum class Result { F32, I32, F16, Bf16 };

constexpr unsigned bits_of(Element e) {
  switch (e) {
    case Element::F64:
      return 64;
    case Element::F32:
    case Element::Xf32:
      return 32;
    case Element::F16:
    case Element::Bf16:
      return 16;
    case Element::I4:
      return 4;
    default:
      return 8;
  }
}
/// A float with 10 bits of mantissa: the nearest one, ties to even (a choice: AMD documents only the format).
EMU_FN float rounded_xf32(uint32_t x) {
  const uint32_t rounded = (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu;
  return std::bit_cast<float>((x & 0x7f800000) == 0x7f800000 ? x : rounded);
}
/// An element of at most 32 bits, which are the lowest ones of x. Fnuz: which 8-bit floats the chip has.
template <Element E, bool Fnuz>
EMU_FN auto element(uint32_t x, bool is_signed) {
  if constexpr (E == Element::I8)
    return is_signed ? int32_t(int8_t(x)) : int32_t(x & 0xff);
  else if constexpr (E == Element::I4)
    return is_signed ? int32_t(x << 28) >> 28 : int32_t(x & 15);
  else if constexpr (E == Element::F32)
    return std::bit_cast<float>(x);
  else if constexpr (E == Element::Xf32)
    return rounded_xf32(x);
  else if constexpr (E == Element::F16)
    return half_value(x & 0xffff);
  else if constexpr (E == Element::Bf16)
    return std::bit_cast<float>(x << 16);
  else
    return from_small < E == Element::Fp8 ? 4 : 5, Fnuz > (x);
}

/// A row of the tables; c: the type of the third operand where it is a constant.
constexpr Row matrix_row(const char* name, Handler run, Type c, unsigned flags = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Custom;
  r.cls = Class::Matrix;
  r.dst = r.src[0] = r.src[1] = Type::Wide;
  r.src[2] = c;
  r.dst_words = r.src_words[0] = r.src_words[1] = r.src_words[2] = kAsWritten;
  r.flags = uint16_t(flags | kCrossLane);
  return r;
}

/// sum[m][n] += a[k][m] * b[k][n] for k = 0, 1, ..., each by one fused operation.
template <unsigned M, unsigned K>
EMU_FN void add_products(const float (&a)[K][M], const float (&b)[K][M], float (&sum)[M][M]) {
#if defined(__AVX512F__)
  if constexpr (M % 16 == 0) {
    for (unsigned m = 0; m < M; m += 16)
      for (unsigned n = 0; n < M; n += 16) {
        __m512 s[16];
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; ++i) s[i] = _mm512_loadu_ps(&sum[m + i][n]);
        for (unsigned k = 0; k < K; ++k) {
          const __m512 row = _mm512_loadu_ps(&b[k][n]);
#pragma GCC unroll 16
          for (unsigned i = 0; i < 16; ++i) s[i] = _mm512_fmadd_ps(_mm512_set1_ps(a[k][m + i]), row, s[i]);
        }
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; ++i) _mm512_storeu_ps(&sum[m + i][n], s[i]);
      }
    return;
  }
#elif defined(__FMA__) && defined(__AVX2__)
  if constexpr (M % 16 == 0) {
    for (unsigned m = 0; m < M; m += 4)
      for (unsigned n = 0; n < M; n += 16) {
        __m256 s[8];
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; ++i) s[i] = _mm256_loadu_ps(&sum[m + i / 2][n + i % 2 * 8]);
        for (unsigned k = 0; k < K; ++k) {
          const __m256 left = _mm256_loadu_ps(&b[k][n]), right = _mm256_loadu_ps(&b[k][n + 8]);
#pragma GCC unroll 4
          for (unsigned i = 0; i < 4; ++i) {
            const __m256 one = _mm256_broadcast_ss(&a[k][m + i]);
            s[2 * i] = _mm256_fmadd_ps(one, left, s[2 * i]);
            s[2 * i + 1] = _mm256_fmadd_ps(one, right, s[2 * i + 1]);
          }
        }
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; ++i) _mm256_storeu_ps(&sum[m + i / 2][n + i % 2 * 8], s[i]);
      }
    return;
  }
#endif
  for (unsigned m = 0; m < M; ++m)
    for (unsigned k = 0; k < K; ++k)
      for (unsigned n = 0; n < M; ++n) sum[m][n] = __builtin_fmaf(a[k][m], b[k][n], sum[m][n]);
}
template <unsigned M, unsigned K>
EMU_FN void add_products(const double (&a)[K][M], const double (&b)[K][M], double (&sum)[M][M]) {
  for (unsigned m = 0; m < M; ++m)
    for (unsigned k = 0; k < K; ++k)
      for (unsigned n = 0; n < M; ++n) sum[m][n] = __builtin_fma(a[k][m], b[k][n], sum[m][n]);
}
/// Integers wrap around.
template <unsigned M, unsigned K>
EMU_FN void add_products(const int32_t (&a)[K][M], const int32_t (&b)[K][M], int32_t (&sum)[M][M]) {
  for (unsigned m = 0; m < M; ++m)
    for (unsigned k = 0; k < K; ++k)
      for (unsigned n = 0; n < M; ++n)
        sum[m][n] = int32_t(uint32_t(sum[m][n]) + uint32_t(a[k][m]) * uint32_t(b[k][n]));
}

/// 16 lanes' halves, `shift` (0 or 16) bits up in their registers, as floats.
EMU_FN void widen_16(const uint32_t* v, unsigned shift, float* out) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_maskz_srl_epi32(0xffff, _mm512_loadu_si512(v), _mm_cvtsi32_si128(int(shift)));
  _mm512_storeu_ps(out, _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtepi32_epi16(0xffff, low)));
#elif defined(__F16C__) && defined(__AVX2__)
  const __m128i count = _mm_cvtsi32_si128(int(shift));
  const __m256i mask = _mm256_set1_epi32(0xffff);
  const auto* at = reinterpret_cast<const __m256i*>(v);
  const __m256i a = _mm256_and_si256(_mm256_srl_epi32(_mm256_loadu_si256(at), count), mask),
                b = _mm256_and_si256(_mm256_srl_epi32(_mm256_loadu_si256(at + 1), count), mask),
                packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
  _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
  _mm256_storeu_ps(out + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1)));
#else
  for (unsigned i = 0; i < 16; ++i) out[i] = half_value(v[i] >> shift & 0xffff);
#endif
}
/// 16 floats rounded to the nearest halves, in the low bits.
EMU_FN void narrow_16(const float* in, uint32_t* out) {
#if defined(__AVX512F__)
  _mm512_storeu_si512(
      out, _mm512_maskz_cvtepu16_epi32(0xffff, _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(in), 0)));
#elif defined(__F16C__) && defined(__AVX2__)
  for (unsigned i = 0; i < 16; i += 8)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0)));
#else
  for (unsigned i = 0; i < 16; ++i) out[i] = half_bits(in[i]);
#endif
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
