// SPDX-License-Identifier: Apache-2.0
// Conversion of 32 lanes between half and float, in place.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// f rounded to a half as the host's mode says; NaNs keep their sign and upper bits and become quiet.
[[gnu::always_inline]] inline uint32_t half_bits(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f), sign = x >> 16 & 0x8000, magnitude = x & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  // Added to a number of its sign that is 2^13 times as large (or to that of the least normal half), f loses
  // what a half has no room for.
  uint32_t exponent = magnitude & 0x7f800000;
  exponent = exponent < 0x38800000 ? 0x38800000 : exponent > 0x47000000 ? 0x47000000 : exponent;
  const float large = std::bit_cast<float>((x & 0x80000000) | (exponent + 0x06800000));
  const float rounded = (f + large) - large;
  const uint32_t r = std::bit_cast<uint32_t>(rounded) & 0x7fffffff;
  if (r >= 0x47800000)  // 65536 and more: infinity or the largest half, as it is with floats
    return sign | ((std::bit_cast<uint32_t>(f * 3e38f) & 0x7fffffff) == 0x7f800000 ? 0x7c00 : 0x7bff);
  if (r < 0x38800000) return sign | uint32_t(int32_t(std::bit_cast<float>(r) * 16777216.0f));
  return sign | ((r - 0x38000000) >> 13);
}
[[gnu::always_inline]] inline float half_value(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 |
                                (magnitude > 0x7c00 ? 0x400000 : 0));
  // (Exact and +0 for 0 in every rounding mode.)
  const float exact = magnitude < 0x400 ? float(int32_t(magnitude)) * 5.9604644775390625e-08f
                                        : std::bit_cast<float>((magnitude << 13) + 0x38000000);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(exact) | sign);
}

/// f rounded to a half as the host's mode says.
[[gnu::always_inline]] inline float rounded_half(float f) {
#if defined(__F16C__)
  return _cvtsh_ss(_cvtss_sh(f, 4));
#else
  return half_value(half_bits(f));
#endif
}

/// Halves in the low 16 bits of 32 words -> floats; `to` may be `from`.
[[gnu::always_inline]] inline void widen_halves(const uint32_t* from, uint32_t* to) {
#if defined(__AVX512F__)
  for (int i = 0; i < 32; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(
                                 0xffff, _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_loadu_si512(from + i))));
#elif defined(__F16C__) && defined(__AVX2__)
  const __m256i low = _mm256_set1_epi32(0xffff);
  for (int i = 0; i < 32; i += 16) {
    const auto* in = reinterpret_cast<const __m256i*>(from + i);
    auto* out = reinterpret_cast<__m256i*>(to + i);
    const __m256i a = _mm256_and_si256(_mm256_loadu_si256(in), low),
                  b = _mm256_and_si256(_mm256_loadu_si256(in + 1), low),
                  packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
    _mm256_storeu_si256(out, _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed))));
    _mm256_storeu_si256(out + 1, _mm256_castps_si256(_mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1))));
  }
#else
  for (int i = 0; i < 32; ++i) to[i] = std::bit_cast<uint32_t>(half_value(from[i]));
#endif
}
/// Floats -> halves in the low 16 bits, in place, rounded as the host's mode says (to nearest where it lacks
/// the instruction).
[[gnu::always_inline]] inline void narrow_halves(uint32_t* words) {
#if defined(__AVX512F__)
  for (int i = 0; i < 32; i += 16)
    _mm512_storeu_si512(words + i, _mm512_maskz_cvtepu16_epi32(
                                       0xffff, _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(words + i), 4)));
#elif defined(__F16C__) && defined(__AVX2__)
  for (int i = 0; i < 32; i += 8) {
    auto* at = reinterpret_cast<__m256i*>(words + i);
    _mm256_storeu_si256(
        at, _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_castsi256_ps(_mm256_loadu_si256(at)), 4)));
  }
#else
  for (int i = 0; i < 32; ++i) words[i] = half_bits(std::bit_cast<float>(words[i]));
#endif
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
