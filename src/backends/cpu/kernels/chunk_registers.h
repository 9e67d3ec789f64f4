// SPDX-License-Identifier: Apache-2.0
// Whole chunks of the documented order (docs/numerics.md), straight from the elements of a dtype: widened,
// mapped and combined in registers, in the order in which they lie in memory. Included by kernels only, after
// their namespace is chosen.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/reduce.h"
#include "beeswax/half.h"
#include "beeswax/portable.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace beeswax::cpu::BW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kRegister = 64;
#elif defined(__AVX2__)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif

// Of numbers only, so that narrow floats choose among load_widened's overloads without an error.
template <class A>
struct RegisterOf {};
template <class A>
  requires std::is_arithmetic_v<A>
struct RegisterOf<A> {
  typedef A type __attribute__((vector_size(kRegister)));
};
template <class A>
using Register = typename RegisterOf<A>::type;

template <class A>
BW_FN Register<A> load_widened(const A* x) {
  Register<A> v;
  __builtin_memcpy(&v, x, sizeof(v));
  return v;
}
BW_FN Register<float> load_widened(const bf16* x) {
  typedef uint16_t Half __attribute__((vector_size(kRegister / 2)));
  Half half;
  __builtin_memcpy(&half, x, sizeof(half));
  return bit_cast<Register<float>>(__builtin_convertvector(half, Register<uint32_t>) << 16);
}
#if defined(__AVX512F__)
BW_FN Register<float> load_widened(const f16* x) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}
#elif defined(__F16C__)
BW_FN Register<float> load_widened(const f16* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
#endif

/// Whether the level has load_widened for the dtype.
template <class Src>
constexpr bool kWidens = false;
template <>
constexpr bool kWidens<float> = true;
template <>
constexpr bool kWidens<double> = true;
template <>
constexpr bool kWidens<bf16> = true;
#if defined(__F16C__)
template <>
constexpr bool kWidens<f16> = true;
#endif

/// Lanes that chunk_in_registers leaves: four, or two where a register has no more.
template <class A>
constexpr int kLeft =
    kRegister / static_cast<int>(sizeof(A)) < 4 ? kRegister / static_cast<int>(sizeof(A)) : 4;

/// The sum of map(x[i]) over one chunk of floats, but for the last levels: the first kLeft<A> lanes. `map`
/// takes registers.
template <class A, class Src, class Map>
BW_FN void chunk_in_registers(const Src* x, A* left, Map map) {
  constexpr int kWidth = kRegister / static_cast<int>(sizeof(A));
  constexpr int kCount = static_cast<int>(kLanes) / kWidth;
  // -0 changes nothing that is added to it, so the first row needs no loads of its own. Each load of the loop
  // walks through memory in small steps, as processors foresee them; unrolled, each would make one step a
  // chunk.
  Register<A> lanes[kCount];
#pragma GCC unroll 32
  for (int r = 0; r < kCount; ++r) lanes[r] = -Register<A>{};
#pragma GCC unroll 1
  for (int64_t row = 0; row < kChunk; row += kLanes) {
#pragma GCC unroll 32
    for (int r = 0; r < kCount; ++r) lanes[r] += map(load_widened(x + row + r * kWidth));
  }
#pragma GCC unroll 8
  for (int half = kCount / 2; half > 0; half /= 2) {
#pragma GCC unroll 32
    for (int r = 0; r < half; ++r) lanes[r] += lanes[r + half];
  }
  A v[kWidth];
  __builtin_memcpy(v, &lanes[0], sizeof(v));
  if constexpr (kWidth > 8)
    for (int l = 0; l < 8; ++l) v[l] += v[l + 8];
  if constexpr (kWidth > 4)
    for (int l = 0; l < 4; ++l) v[l] += v[l + 4];
  for (int l = 0; l < kLeft<A>; ++l) left[l] = v[l];
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
