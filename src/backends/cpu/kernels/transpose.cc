// SPDX-License-Identifier: Apache-2.0
// A tile is one cache line of elements in both directions. It is read in whole lines, turned in registers
// into a small buffer, and written in whole lines. Tiles are walked eight deep along the input's dense axis,
// and the lines of the next tiles are fetched early: they are far apart, which the processor does not
// foresee.
#include "backends/cpu/kernels/transpose.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

using V8 = uint8_t __attribute__((vector_size(16)));
using V16 = uint16_t __attribute__((vector_size(16)));
using V32 = uint32_t __attribute__((vector_size(16)));
using V64 = uint64_t __attribute__((vector_size(16)));

// a0 b0 a1 b1 ... of the lower, then the upper halves.
BW_FN V8 lower(V8 a, V8 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
BW_FN V8 upper(V8 a, V8 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
BW_FN V16 lower(V16 a, V16 b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
BW_FN V16 upper(V16 a, V16 b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
BW_FN V32 lower(V32 a, V32 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
BW_FN V32 upper(V32 a, V32 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
BW_FN V64 lower(V64 a, V64 b) { return __builtin_shufflevector(a, b, 0, 2); }
BW_FN V64 upper(V64 a, V64 b) { return __builtin_shufflevector(a, b, 1, 3); }

template <class T>
struct VectorOf;
template <>
struct VectorOf<uint8_t> {
  using type = V8;
};
template <>
struct VectorOf<uint16_t> {
  using type = V16;
};
template <>
struct VectorOf<uint32_t> {
  using type = V32;
};
template <>
struct VectorOf<uint64_t> {
  using type = V64;
};

template <class T>
inline constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));

// A square of one vector by one vector: out[r * kLine + c] = from[c * from_col + r]. Each of log2(n) rounds
// interleaves vector i with vector i + n/2; the whole is a transpose.
template <class T>
BW_FN void turn(T* out, const T* from, int64_t from_col) {
  using V = typename VectorOf<T>::type;
  constexpr int kN = 16 / static_cast<int>(sizeof(T));
  V x[kN];
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) __builtin_memcpy(&x[i], from + i * from_col, 16);
#pragma GCC unroll 4
  for (int round = 1; round < kN; round *= 2) {
    V y[kN];
#pragma GCC unroll 8
    for (int i = 0; i < kN / 2; ++i) {
      y[2 * i] = lower(x[i], x[i + kN / 2]);
      y[2 * i + 1] = upper(x[i], x[i + kN / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kN; ++i) x[i] = y[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kN; ++i) __builtin_memcpy(out + i * kLine<T>, &x[i], 16);
}

BW_FN void write_line(void* out, const void* line, [[maybe_unused]] bool past_caches) {
#if defined(__x86_64__)
  if (past_caches) {
    for (int part = 0; part < 4; ++part)
      _mm_stream_si128(static_cast<__m128i*>(out) + part,
                       _mm_load_si128(static_cast<const __m128i*>(line) + part));
    return;
  }
#endif
  __builtin_memcpy(out, line, 64);
}

template <class T>
BW_FN void whole_tile(T* out, int64_t out_row, const T* from, int64_t from_col, bool past_caches) {
  constexpr int64_t kN = 16 / static_cast<int64_t>(sizeof(T));
  alignas(64) T tile[kLine<T> * kLine<T>];
  for (int64_t c = 0; c < kLine<T>; c += kN)
    for (int64_t r = 0; r < kLine<T>; r += kN)
      turn(tile + r * kLine<T> + c, from + c * from_col + r, from_col);
  for (int64_t r = 0; r < kLine<T>; ++r) write_line(out + r * out_row, tile + r * kLine<T>, past_caches);
}

template <class T>
BW_FN void part_tile(T* out, int64_t out_row, const T* from, int64_t from_col, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) out[r * out_row + c] = from[c * from_col + r];
}

template <class T>
void transpose(void* out, int64_t out_row, const void* from, int64_t from_col, int64_t rows, int64_t cols,
               bool past_caches) {
  constexpr int64_t kDeep = 8 * kLine<T>;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  // Only lines written whole, as lines, gain from going past the caches.
  const bool lines = (reinterpret_cast<uintptr_t>(out) | static_cast<uint64_t>(out_row * kBytes)) % 64 == 0;
  const bool past = past_caches && lines;
  for (int64_t r0 = 0; r0 < rows; r0 += kDeep) {
    const int64_t r_end = rows - r0 < kDeep ? rows : r0 + kDeep;
    for (int64_t c0 = 0; c0 < cols; c0 += kLine<T>) {
      const int64_t c_count = cols - c0 < kLine<T> ? cols - c0 : kLine<T>;
      for (int64_t c = c0 + kLine<T>; c < c0 + 2 * kLine<T> && c < cols; ++c)
        for (int64_t r = r0; r < r_end; r += kLine<T>) __builtin_prefetch(x + c * from_col + r);
      for (int64_t r = r0; r < r_end; r += kLine<T>) {
        T* to = y + r * out_row + c0;
        const T* source = x + c0 * from_col + r;
        if (c_count == kLine<T> && r_end - r >= kLine<T>) {
          whole_tile(to, out_row, source, from_col, past);
        } else {
          part_tile(to, out_row, source, from_col, r_end - r < kLine<T> ? r_end - r : kLine<T>, c_count);
        }
      }
    }
  }
}

}  // namespace

const TransposeKernels& transpose_kernels() {
  static constexpr TransposeKernels kTable = {
      {transpose<uint8_t>, transpose<uint16_t>, transpose<uint32_t>, transpose<uint64_t>},
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
