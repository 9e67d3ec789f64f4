// SPDX-License-Identifier: Apache-2.0
// The register tiles: R rows by C vectors of accumulators, one broadcast of A against C vectors of B per row.
#include "backends/cpu/kernels/gemm.h"

#include "backends/cpu/kernels/gemm_simd.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Register tiles, rows of A packed at a time, and columns of a convolution's block. 14 x 2 accumulators leave
// two of AVX-512's 32 registers for B and two for broadcasts; 6 x 2 fill AVX2's 16 the same way.
#if defined(BW_ISA_v4)
constexpr int kRows = 14;
constexpr int kBand = 56, kConvColumns = 256;
#elif defined(BW_ISA_v3)
constexpr int kRows = 6;
constexpr int kBand = 48, kConvColumns = 256;
#else
constexpr int kRows = 4;
constexpr int kBand = 64, kConvColumns = 64;
#endif
constexpr int kVectors = 2;

// c[R, columns] = or += the product of a panel of A [k][R] and a panel of B [k][C vectors].
template <class T, int R, int C>
static void tile(int64_t k, const T* a, const T* b, T* c, int64_t c_row, int64_t columns, bool add) {
  constexpr int n = kLanes<T>;
  Vec<T> sum[R][C] = {};
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int j = 0; j < C; ++j) __builtin_prefetch(c + r * c_row + j * n, 1);
#pragma GCC unroll 4
  for (int64_t p = 0; p < k; ++p) {
    Vec<T> line[C];
#pragma GCC unroll 4
    for (int j = 0; j < C; ++j) line[j] = load(b + j * n);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec<T> x = broadcast(a[r]);
#pragma GCC unroll 4
      for (int j = 0; j < C; ++j) sum[r][j] = multiply_add(x, line[j], sum[r][j]);
    }
    a += R;
    b += C * n;
  }
  const bool whole = columns == C * n;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < C; ++j) {
      T* to = c + r * c_row + j * n;
      if (whole || j + 1 < C) {
        store(to, add ? load(to) + sum[r][j] : sum[r][j]);
      } else {
        const int64_t rest = columns - j * n;
        store_first(to, add ? load_first(to, rest) + sum[r][j] : sum[r][j], rest);
      }
    }
  }
}

template <class T>
using TileFn = void (*)(int64_t, const T*, const T*, T*, int64_t, int64_t, bool);

template <class T, int C, int... R>
BW_FN TileFn<T> pick(int64_t rows, std::integer_sequence<int, R...>) {
  static constexpr TileFn<T> kTiles[] = {tile<T, R + 1, C>...};
  return kTiles[rows - 1];
}

// Panels of A stay in the first-level cache while those of B go by.
template <class T>
static void block(const GemmBlock& g) {
  constexpr int n = kLanes<T>;
  constexpr int width = n * kVectors;
  constexpr auto all = std::make_integer_sequence<int, kRows>{};
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  T* c = static_cast<T*>(g.c);
  for (int64_t i = 0; i < g.m; i += kRows) {
    const int64_t rows = g.m - i < kRows ? g.m - i : kRows;
    const TileFn<T> whole = pick<T, 2>(rows, all);
    for (int64_t j = 0; j < g.n; j += width) {
      const int64_t columns = g.n - j < width ? g.n - j : width;
      (columns > n ? whole : pick<T, 1>(rows, all))(g.k, a + i * g.k, b + j * g.k, c + i * g.c_row + j,
                                                    g.c_row, columns, g.add);
    }
  }
}

template <class T>
constexpr GemmTile describe() {
  constexpr int nr = kLanes<T> * kVectors;
  // Blocks of 8-byte elements have half the columns, so that the same bytes stay in the second-level cache.
  return {kRows, nr, kLanes<T>, kBand, kConvColumns * 4 / static_cast<int>(sizeof(T)), block<T>};
}

constexpr GemmTiles kTable = {
    {describe<float>(), describe<double>(), describe<uint32_t>(), describe<uint64_t>()}};

}  // namespace

const GemmTiles& gemm_tiles() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
