// SPDX-License-Identifier: Apache-2.0
// Whole chunks of the documented order (docs/numerics.md), straight from the elements of a dtype: widened,
// mapped and combined in registers, in the order in which they lie in memory. Included by kernels only, after
// their namespace is chosen.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/kernels/register.h"
#include "backends/cpu/kernels/request.h"
#include "beeswax/half.h"
#include "beeswax/portable.h"
#include "core/math/basic.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace beeswax::cpu::BW_ISA {
namespace {

template <class A>
BW_FN Register<A> load_widened(const A* x) {
  Register<A> v;
  __builtin_memcpy(&v, x, sizeof(v));
  return v;
}
// GCC 12 widens a vector in halves, and so needs the instruction by name.
BW_FN Register<float> load_widened(const bf16* x) {
#if defined(__AVX512F__)
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  const auto wide = reinterpret_cast<Register<uint32_t>>(_mm512_maskz_cvtepu16_epi32(0xffff, half));
#elif defined(__AVX2__)
  const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  const auto wide = reinterpret_cast<Register<uint32_t>>(_mm256_cvtepu16_epi32(half));
#else
  typedef uint16_t Half __attribute__((vector_size(kRegister / 2)));
  Half half;
  __builtin_memcpy(&half, x, sizeof(half));
  const Register<uint32_t> wide = __builtin_convertvector(half, Register<uint32_t>);
#endif
  return reinterpret_cast<Register<float>>(wide << 16);
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

/// load_widened of what may come from memory. AVX-512 registers take floats in halves there: two Zen 4 cores
/// sum rows of f32 and f64 in 0.9 of the time that whole loads take while memory reads at 64 GB/s, and one
/// sums in 1.1 of it what lies in its second cache; two of an Emerald Rapids server take 1.03 to 1.06 of it,
/// and read as fast as memory either way.
template <class Src>
BW_FN auto load_streamed(const Src* x) {
#if defined(__AVX512F__)
  if constexpr (m::Floating<Src>) {
    const auto* halves = reinterpret_cast<const __m256i*>(x);
    const __m512i low = _mm512_castsi256_si512(_mm256_loadu_si256(halves));
    return reinterpret_cast<Register<Src>>(
        _mm512_maskz_inserti64x4(0xff, low, _mm256_loadu_si256(halves + 1), 1));
  } else
#endif
  {
    return load_widened(x);
  }
}

template <class A>
BW_FN void keep(A* to, Register<A> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

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

/// combine(lower half, upper half) of v, of kBytes, again and again down to kCount lanes.
template <class A, int kBytes, int kCount, class V, class Combine>
BW_FN void fold_halves(V v, Combine combine, A* left) {
  if constexpr (kBytes == kCount * static_cast<int>(sizeof(A))) {
    __builtin_memcpy(left, &v, kBytes);
  } else if constexpr (kBytes == 2 * static_cast<int>(sizeof(A))) {
    A both[2];
    __builtin_memcpy(both, &v, kBytes);
    *left = combine(both[0], both[1]);
  } else {
    typedef A Half __attribute__((vector_size(kBytes / 2)));
    Half halves[2];
    __builtin_memcpy(halves, &v, kBytes);
    fold_halves<A, kBytes / 2, kCount>(combine(halves[0], halves[1]), combine, left);
  }
}

/// The larger numbers; b where one is NaN.
template <class A>
BW_FN Register<A> larger(Register<A> a, Register<A> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(A) == 4) {
    return _mm512_maskz_max_ps(0xffff, a, b);
  } else {
    return _mm512_maskz_max_pd(0xff, a, b);
  }
#else
  return a > b ? a : b;
#endif
}

/// The largest of `count` >= 1 floats. NaNs, and which zero it is, are left open.
template <class T>
BW_FN T largest_number(const T* x, int64_t count) {
  constexpr int kWidth = kRegister / static_cast<int>(sizeof(T));
  const auto larger_half = [](auto a, auto b) __attribute__((always_inline)) { return a > b ? a : b; };
  if constexpr (m::Floating<T>) {
    T most = x[0];
    int64_t i = 0;
    if (count >= 4 * kWidth) {
      Register<T> lanes[4];
      for (int r = 0; r < 4; ++r) lanes[r] = load_widened(x + r * kWidth);
      for (i = 4 * kWidth; i + 4 * kWidth <= count; i += 4 * kWidth)
        for (int r = 0; r < 4; ++r) lanes[r] = larger<T>(lanes[r], load_widened(x + i + r * kWidth));
      lanes[0] = larger<T>(larger<T>(lanes[0], lanes[1]), larger<T>(lanes[2], lanes[3]));
      fold_halves<T, kRegister, 1>(lanes[0], larger_half, &most);
    }
    for (; i < count; ++i) most = x[i] > most ? x[i] : most;
    return most;
  } else {
    // As integers in the numbers' order.
    const auto key = [](auto bits) __attribute__((always_inline)) { return bits ^ ((bits >> 15) & 0x7fff); };
    const auto load = [x](int64_t i) __attribute__((always_inline)) {
      return load_widened(reinterpret_cast<const int16_t*>(x) + i);
    };
    auto most = static_cast<int16_t>(key(static_cast<int16_t>(x[0].bits)));
    int64_t i = 0;
    if (count >= 2 * kWidth) {
      Register<int16_t> lanes[2] = {key(load(0)), key(load(kWidth))};
      for (i = 2 * kWidth; i + 2 * kWidth <= count; i += 2 * kWidth)
        for (int r = 0; r < 2; ++r) lanes[r] = larger_half(lanes[r], key(load(i + r * kWidth)));
      fold_halves<int16_t, kRegister, 1>(larger_half(lanes[0], lanes[1]), larger_half, &most);
    }
    for (; i < count; ++i)
      most = larger_half(most, static_cast<int16_t>(key(static_cast<int16_t>(x[i].bits))));
    return bit_cast<T>(static_cast<int16_t>(key(most)));
  }
}

/// f of every element of a register; f takes and gives elements.
template <class A, class F>
BW_FN Register<A> each(Register<A> v, F f) {
  constexpr int kWidth = kRegister / static_cast<int>(sizeof(A));
  alignas(kRegister) A from[kWidth];
  alignas(kRegister) A to[kWidth];
  __builtin_memcpy(from, &v, sizeof(v));
  // GCC unrolls so short a loop before it looks for vectors.
#if !defined(__clang__)
#pragma GCC unroll 1
#endif
  for (int l = 0; l < kWidth; ++l) to[l] = f(from[l]);
  __builtin_memcpy(&v, to, sizeof(v));
  return v;
}

/// The lanes of one chunk in registers. They begin with -0, which changes nothing that is added to it: so a
/// lane's first element needs no case of its own, and a lane that has no element takes no part.
template <class A>
struct ChunkLanes {
  static constexpr int kWidth = kRegister / static_cast<int>(sizeof(A));
  static constexpr int kCount = static_cast<int>(kLanes) / kWidth;
  Register<A> lanes[kCount];

  BW_MEMBER_FN ChunkLanes() {
#pragma GCC unroll 32
    for (int r = 0; r < kCount; ++r) lanes[r] = -Register<A>{};
  }
  /// Adds value(r), which makes the register of lanes r * kWidth and on of the next row.
  template <class Value>
  BW_MEMBER_FN void add_row(Value value) {
#pragma GCC unroll 32
    for (int r = 0; r < kCount; ++r) lanes[r] += value(r);
  }
  /// The same for a long `value`, which is repeated only as often as the lanes fit into the registers anyway.
  template <class Value>
  BW_MEMBER_FN void add_long_row(Value value) {
    if constexpr (kCount <= 8) {
      add_row(value);
    } else {
#pragma GCC unroll 1
      for (int r = 0; r < kCount; ++r) lanes[r] += value(r);
    }
  }
  /// The same for the first `count` lanes only.
  template <class Value>
  BW_MEMBER_FN void add_part_of_row(int64_t count, Value value) {
    Register<A> place;
    for (int l = 0; l < kWidth; ++l) place[l] = static_cast<A>(l);
    add_long_row([&](int r) __attribute__((always_inline)) {
      const Register<A> v = value(r);
      return place < static_cast<A>(count - r * kWidth) ? v : -Register<A>{};
    });
  }
  /// The tree's first levels: `left` gets the first kLeft<A> lanes.
  BW_MEMBER_FN void fold(A* left) {
#pragma GCC unroll 8
    for (int half = kCount / 2; half > 0; half /= 2) {
#pragma GCC unroll 32
      for (int r = 0; r < half; ++r) lanes[r] += lanes[r + half];
    }
    const auto add = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
    fold_halves<A, kRegister, kLeft<A>>(lanes[0], add, left);
  }
};

/// The sum of map(x[i]) over `count` floats, a multiple of kLanes and at most a chunk, but for the last
/// levels: the first kLeft<A> lanes. `map` takes registers.
template <class A, class Src, class Map>
BW_FN void chunk_in_registers(const Src* x, A* left, Map map, int64_t count = kChunk) {
  ChunkLanes<A> lanes;
  const int64_t ahead = kReadAhead;
  // Each load walks through memory in small steps, as processors foresee them; unrolled, each would make one
  // step a chunk.
#pragma GCC unroll 1
  for (int64_t row = 0; row < count; row += kLanes) {
    if (ahead != 0) request_lines<kLanes>(x + row, ahead);
    lanes.add_row([&](int r) __attribute__((always_inline)) {
      return map(load_streamed(x + row + r * ChunkLanes<A>::kWidth));
    });
  }
  lanes.fold(left);
}

/// The sum of map(v, i) over one chunk of 0 < count <= kChunk floats, where v is a register of elements i and
/// on. Behind the last element, v holds copies of an element, up to the next multiple of kLanes; what map
/// makes of them is not added. before(i) is called before elements [i, i + kLanes).
template <class A, class Src, class Map, class Before>
BW_FN A sum_in_registers(const Src* x, int64_t count, Map map, Before before) {
  using Lanes = ChunkLanes<A>;
  Lanes lanes;
  int64_t row = 0;
#pragma GCC unroll 1
  for (; row + kLanes <= count; row += kLanes) {
    before(row);
    lanes.add_long_row([&](int r) __attribute__((always_inline)) {
      return map(load_streamed(x + row + r * Lanes::kWidth), row + r * Lanes::kWidth);
    });
  }
  if (row < count) {
    before(row);
    Src some[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) some[l] = x[row];
    __builtin_memcpy(some, x + row, static_cast<size_t>(count - row) * sizeof(Src));
    lanes.add_part_of_row(count - row, [&](int r) __attribute__((always_inline)) {
      return map(load_widened(some + r * Lanes::kWidth), row + r * Lanes::kWidth);
    });
  }
  A left[kLeft<A>];
  lanes.fold(left);
  if constexpr (kLeft<A> == 4) {
    left[0] += left[2];
    left[1] += left[3];
  }
  return left[0] + left[1];
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
