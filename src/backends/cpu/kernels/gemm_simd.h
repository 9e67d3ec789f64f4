// SPDX-License-Identifier: Apache-2.0
// The vectors that the matrix-product loops are written in: one register of the level's width, for the four
// compute types. Included by kernels/gemm*.cc only; everything is always inlined or has internal linkage.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels/register.h"
#include "beeswax/half.h"
#include "beeswax/portable.h"

#if defined(BW_ISA_v3) || defined(BW_ISA_v4)
#include <immintrin.h>
#endif

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
using Vec = Register<T>;
template <class T>
constexpr int kLanes = kRegister / static_cast<int>(sizeof(T));

template <class T>
BW_FN Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <class T>
BW_FN void store(T* to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

// The first `count` lanes, 0 <= count <= kLanes; no memory past them is touched.
#if defined(BW_ISA_v4)
BW_FN __mmask16 mask16(int64_t count) { return static_cast<__mmask16>((1u << count) - 1u); }
BW_FN __mmask8 mask8(int64_t count) { return static_cast<__mmask8>((1u << count) - 1u); }
BW_FN void store_first(float* to, Vec<float> v, int64_t n) { _mm512_mask_storeu_ps(to, mask16(n), v); }
BW_FN void store_first(double* to, Vec<double> v, int64_t n) { _mm512_mask_storeu_pd(to, mask8(n), v); }
BW_FN void store_first(uint32_t* to, Vec<uint32_t> v, int64_t n) {
  _mm512_mask_storeu_epi32(to, mask16(n), bit_cast<__m512i>(v));
}
BW_FN void store_first(uint64_t* to, Vec<uint64_t> v, int64_t n) {
  _mm512_mask_storeu_epi64(to, mask8(n), bit_cast<__m512i>(v));
}
BW_FN Vec<float> load_first(const float* from, int64_t n) { return _mm512_maskz_loadu_ps(mask16(n), from); }
BW_FN Vec<double> load_first(const double* from, int64_t n) { return _mm512_maskz_loadu_pd(mask8(n), from); }
BW_FN Vec<uint32_t> load_first(const uint32_t* from, int64_t n) {
  return bit_cast<Vec<uint32_t>>(_mm512_maskz_loadu_epi32(mask16(n), from));
}
BW_FN Vec<uint64_t> load_first(const uint64_t* from, int64_t n) {
  return bit_cast<Vec<uint64_t>>(_mm512_maskz_loadu_epi64(mask8(n), from));
}
#else
template <class T>
BW_FN void store_first(T* to, Vec<T> v, int64_t n) {
  T lanes[kLanes<T>];
  store(lanes, v);
  for (int64_t i = 0; i < n; ++i) to[i] = lanes[i];
}
template <class T>
BW_FN Vec<T> load_first(const T* from, int64_t n) {
  T lanes[kLanes<T>] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = from[i];
  return load(lanes);
}
#endif

#if defined(BW_ISA_v4)
BW_FN Vec<float> broadcast(float x) { return _mm512_set1_ps(x); }
BW_FN Vec<double> broadcast(double x) { return _mm512_set1_pd(x); }
BW_FN Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm512_fmadd_ps(a, b, c); }
BW_FN Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) {
  return _mm512_fmadd_pd(a, b, c);
}
#elif defined(BW_ISA_v3)
BW_FN Vec<float> broadcast(float x) { return _mm256_set1_ps(x); }
BW_FN Vec<double> broadcast(double x) { return _mm256_set1_pd(x); }
BW_FN Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm256_fmadd_ps(a, b, c); }
BW_FN Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else
BW_FN Vec<float> broadcast(float x) { return Vec<float>{x, x, x, x}; }
BW_FN Vec<double> broadcast(double x) { return Vec<double>{x, x}; }
BW_FN Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
  for (int i = 0; i < kLanes<float>; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}
BW_FN Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) {
  for (int i = 0; i < kLanes<double>; ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
  return c;
}
#endif
BW_FN Vec<uint32_t> broadcast(uint32_t x) { return Vec<uint32_t>{} + x; }
BW_FN Vec<uint64_t> broadcast(uint64_t x) { return Vec<uint64_t>{} + x; }
BW_FN Vec<uint32_t> multiply_add(Vec<uint32_t> a, Vec<uint32_t> b, Vec<uint32_t> c) { return a * b + c; }
BW_FN Vec<uint64_t> multiply_add(Vec<uint64_t> a, Vec<uint64_t> b, Vec<uint64_t> c) { return a * b + c; }

// The compute type of an element type. Integers use unsigned words, whose arithmetic wraps.
template <class Src>
struct ComputeOf {
  using type = float;
};
template <>
struct ComputeOf<double> {
  using type = double;
};
template <>
struct ComputeOf<int64_t> {
  using type = uint64_t;
};
#define BW_COMPUTE_U32(Src) \
  template <>               \
  struct ComputeOf<Src> {   \
    using type = uint32_t;  \
  };
BW_COMPUTE_U32(uint8_t)
BW_COMPUTE_U32(uint32_t)
BW_COMPUTE_U32(int16_t)
BW_COMPUTE_U32(int32_t)
#undef BW_COMPUTE_U32
template <class Src>
using Compute = typename ComputeOf<Src>::type;

// A vector of widened elements. Narrow integers sign-extend modulo 2^32.
template <class T, class Src>
BW_FN Vec<T> widen_load(const Src* from) {
  constexpr int n = kLanes<T>;
  if constexpr (sizeof(Src) == sizeof(T)) {
    Vec<T> v;
    __builtin_memcpy(&v, from, sizeof(v));
    return v;
#if defined(BW_ISA_v4)
  } else if constexpr (std::is_same_v<Src, f16>) {
    // The zeroing form: the plain one passes an undefined register, which g++ 12 warns about.
    return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  } else if constexpr (std::is_same_v<Src, bf16>) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return bit_cast<__m512>(bit_cast<Vec<uint32_t>>(_mm512_maskz_cvtepu16_epi32(0xffff, bits)) << 16);
#elif defined(BW_ISA_v3)
  } else if constexpr (std::is_same_v<Src, f16>) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  } else if constexpr (std::is_same_v<Src, bf16>) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
#endif
  } else {
    T lanes[n];
    for (int i = 0; i < n; ++i) lanes[i] = static_cast<T>(from[i]);
    return load(lanes);
  }
}

template <class T, class Src>
BW_FN Vec<T> widen_load_first(const Src* from, int64_t count) {
  if constexpr (std::is_same_v<Src, T>) {
    return load_first(from, count);
  } else {
    T lanes[kLanes<T>] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = static_cast<T>(from[i]);
    return load(lanes);
  }
}

// The first `count` lanes of v, the others zero.
template <class T>
BW_FN Vec<T> first_lanes(Vec<T> v, int64_t count) {
  using I = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  Vec<I> lane = {};
  for (int i = 0; i < kLanes<T>; ++i) lane[i] = static_cast<I>(i);
  const auto keep = lane < broadcast(static_cast<I>(count));
  return bit_cast<Vec<T>>(bit_cast<Vec<I>>(v) & bit_cast<Vec<I>>(keep));
}

// Transposition of a square of kLanes<T> vectors: first the 128-bit parts by interleaving, then parts.
template <class T, int Base, int... I>
BW_FN Vec<T> interleave(Vec<T> a, Vec<T> b, std::integer_sequence<int, I...>) {
  // Inside each 128-bit part of p elements: a[Base], b[Base], a[Base+1], b[Base+1], ... (p/2 pairs).
  constexpr int n = kLanes<T>;
  constexpr int part = 16 / static_cast<int>(sizeof(T));
  return __builtin_shufflevector(
      a, b, ((I / part) * part + (I % part) / 2 + Base * (part / 2) + ((I & 1) != 0 ? n : 0))...);
}
// The even or odd 128-bit parts of a, then those of b: one shuffle that needs no register of indices.
template <class T, int Odd, int... I>
BW_FN Vec<T> alternate_parts(Vec<T> a, Vec<T> b, std::integer_sequence<int, I...>) {
  constexpr int n = kLanes<T>;
  constexpr int part = 16 / static_cast<int>(sizeof(T));
  return __builtin_shufflevector(a, b,
                                 (2 * I / n * n + (2 * I % n / (2 * part) * 2 + Odd) * part + I % part)...);
}

// Transposes each 128-bit part of p elements inside its group of p vectors, of kCount.
template <class T, int kCount>
BW_FN void transpose_parts(const Vec<T>* v, Vec<T>* t) {
  constexpr int n = kLanes<T>;
  constexpr auto lanes = std::make_integer_sequence<int, n>{};
  if constexpr (sizeof(T) == 4) {
    using W = uint64_t;
    constexpr auto wide = std::make_integer_sequence<int, n / 2>{};
#pragma GCC unroll 16
    for (int g = 0; g < kCount; g += 4) {
      const Vec<W> low[] = {bit_cast<Vec<W>>(interleave<T, 0>(v[g + 0], v[g + 1], lanes)),
                            bit_cast<Vec<W>>(interleave<T, 0>(v[g + 2], v[g + 3], lanes))};
      const Vec<W> high[] = {bit_cast<Vec<W>>(interleave<T, 1>(v[g + 0], v[g + 1], lanes)),
                             bit_cast<Vec<W>>(interleave<T, 1>(v[g + 2], v[g + 3], lanes))};
      t[g + 0] = bit_cast<Vec<T>>(interleave<W, 0>(low[0], low[1], wide));
      t[g + 1] = bit_cast<Vec<T>>(interleave<W, 1>(low[0], low[1], wide));
      t[g + 2] = bit_cast<Vec<T>>(interleave<W, 0>(high[0], high[1], wide));
      t[g + 3] = bit_cast<Vec<T>>(interleave<W, 1>(high[0], high[1], wide));
    }
  } else {
#pragma GCC unroll 16
    for (int g = 0; g < kCount; g += 2) {
      t[g + 0] = interleave<T, 0>(v[g + 0], v[g + 1], lanes);
      t[g + 1] = interleave<T, 1>(v[g + 0], v[g + 1], lanes);
    }
  }
}

template <class T>
BW_FN void transpose(Vec<T>* v) {
  constexpr int n = kLanes<T>;
  constexpr auto lanes = std::make_integer_sequence<int, n>{};
  Vec<T> t[n];
  transpose_parts<T, n>(v, t);
  constexpr int part = 16 / static_cast<int>(sizeof(T));
  if constexpr (n == part) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) v[i] = t[i];
  } else if constexpr (n == 2 * part) {
#pragma GCC unroll 16
    for (int i = 0; i < part; ++i) {
      v[i] = alternate_parts<T, 0>(t[i], t[part + i], lanes);
      v[part + i] = alternate_parts<T, 1>(t[i], t[part + i], lanes);
    }
  } else if constexpr (n == 4 * part) {
#pragma GCC unroll 16
    for (int i = 0; i < part; ++i) {
      const Vec<T> low[] = {alternate_parts<T, 0>(t[i], t[part + i], lanes),
                            alternate_parts<T, 0>(t[2 * part + i], t[3 * part + i], lanes)};
      const Vec<T> high[] = {alternate_parts<T, 1>(t[i], t[part + i], lanes),
                             alternate_parts<T, 1>(t[2 * part + i], t[3 * part + i], lanes)};
      v[i] = alternate_parts<T, 0>(low[0], low[1], lanes);
      v[part + i] = alternate_parts<T, 0>(high[0], high[1], lanes);
      v[2 * part + i] = alternate_parts<T, 1>(low[0], low[1], lanes);
      v[3 * part + i] = alternate_parts<T, 1>(high[0], high[1], lanes);
    }
  }
}

#if defined(BW_ISA_v4)
// Eight vectors to sixteen halves: steps[q] gets element q of each.
BW_FN void transpose_eight(const Vec<float>* v, __m256* steps) {
  Vec<float> t[8];
  transpose_parts<float, 8>(v, t);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Vec<float> a = t[i], b = t[4 + i];
    const Vec<float> low =
        __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const Vec<float> high =
        __builtin_shufflevector(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    steps[i] = __builtin_shufflevector(low, low, 0, 1, 2, 3, 4, 5, 6, 7);
    steps[4 + i] = __builtin_shufflevector(low, low, 8, 9, 10, 11, 12, 13, 14, 15);
    steps[8 + i] = __builtin_shufflevector(high, high, 0, 1, 2, 3, 4, 5, 6, 7);
    steps[12 + i] = __builtin_shufflevector(high, high, 8, 9, 10, 11, 12, 13, 14, 15);
  }
}
#endif

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
