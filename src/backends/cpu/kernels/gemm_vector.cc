// SPDX-License-Identifier: Apache-2.0
// Thin products: a few rows of X against a matrix W that is read once, in the order in which it lies. A lane
// is an output; every lane keeps the order of additions of backends/cpu/gemm.h.
//
// Floors: the bytes of W over the read bandwidth; and, where k is dense, one transposed square of vectors for
// every kLanes steps (16 loads, 64 shuffles and 16 multiply-adds for 1 KiB of f32 with AVX-512), which two
// Zen 4 cores do at about 100 GB/s.
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/gemm_simd.h"
#include "backends/cpu/processor.h"

namespace beeswax::cpu::BW_ISA {
namespace {

BW_FN int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// What is requested while a square is read: as much of the next lines, in the order of memory where lines
// follow each other, else at the same place in them, which no pattern leads the processor to; or, where lines
// are so long that the second-level cache could not hold that, this far ahead.
constexpr int64_t kAhead = 512;
constexpr int64_t kMostAhead = 256 << 10;

// `steps` multiply-adds (kLanes at most) of one vector of lanes against M rows. With kInOrder `ahead` is from
// the first line to the next lines, which follow the last one.
template <class Src, int M, bool kInOrder>
BW_FN void dot_square(const Src* const* line, int64_t p, int64_t steps, int64_t ahead, const Compute<Src>* x,
                      int64_t x_row, Vec<Compute<Src>>* sum) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  Vec<T> v[n];
  if (steps == n) {
    constexpr int kCacheLine = 64, kRow = n * static_cast<int>(sizeof(Src));
    const char* next = reinterpret_cast<const char*>(line[0] + p * n) + ahead;
#pragma GCC unroll 16
    for (int r = 0; r < n; ++r) {
      v[r] = widen_load<T>(line[r] + p);
      if constexpr (!kInOrder) {
        __builtin_prefetch(reinterpret_cast<const char*>(line[r] + p) + ahead, 0, 2);
      } else if (r * kRow % kCacheLine == 0) {
        __builtin_prefetch(next + r * kRow, 0, 2);
      }
    }
  } else {
    for (int r = 0; r < n; ++r) v[r] = widen_load_first<T>(line[r] + p, steps);
  }
  transpose<T>(v);
  if (steps == n) {
#pragma GCC unroll 16
    for (int q = 0; q < n; ++q)
#pragma GCC unroll 4
      for (int i = 0; i < M; ++i) sum[i] = multiply_add(broadcast(x[i * x_row + p + q]), v[q], sum[i]);
  } else {
    for (int64_t q = 0; q < steps; ++q)
      for (int i = 0; i < M; ++i) sum[i] = multiply_add(broadcast(x[i * x_row + p + q]), v[q], sum[i]);
  }
}

// k is dense in W: lane j is the line at w + j * stride.
template <class Src, int M, bool kInOrder>
BW_FN void dots_of(const GemmVector& g, const Compute<Src>* x, Compute<Src>* y, int64_t ahead) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  const Src* w = static_cast<const Src*>(g.w);
  const int64_t block = gemm_block(g.k);
  for (int64_t j = 0; j < g.n; j += n) {
    const int64_t lanes = smaller(n, g.n - j);
    const Src* line[n];
    for (int r = 0; r < n; ++r) line[r] = w + (j + smaller(r, lanes - 1)) * g.stride;
    Vec<T> total[M] = {};
    for (int64_t first = 0; first < g.k; first += block) {
      const int64_t end = smaller(g.k, first + block);
      Vec<T> sum[M] = {};
      int64_t p = first;
      for (; p + n <= end; p += n) dot_square<Src, M, kInOrder>(line, p, n, ahead, x, g.x_row, sum);
      if (p < end) dot_square<Src, M, kInOrder>(line, p, end - p, ahead, x, g.x_row, sum);
      for (int i = 0; i < M; ++i) total[i] = first == 0 ? sum[i] : total[i] + sum[i];
    }
    for (int i = 0; i < M; ++i) store_first(y + i * g.y_row + j, total[i], lanes);
  }
}

#if defined(BW_ISA_v4)
// The same of one row of X by floats in order, eight lanes at a time: on Zen 5 eight lines are streams that
// the processor foresees beside the requests. Two of its cores take lines of 4096 at 0.90 of the speed of
// reading so, at 0.79 sixteen at a time (at 50 GB/s; at 82 GB/s 0.76 and 0.74); of 16-bit elements a quarter
// slower.
constexpr int64_t kFewLines = 8;

void dots_of_few(const GemmVector& g, const float* x, float* y) {
  constexpr int64_t n = kLanes<float>;
  const auto* w = static_cast<const float*>(g.w);
  const int64_t block = gemm_block(g.k), few = g.n / kFewLines * kFewLines;
  for (int64_t j = 0; j < few; j += kFewLines) {
    const float* lines = w + j * g.k;
    __m256 total = {};
    for (int64_t first = 0; first < g.k; first += block) {
      const int64_t end = smaller(g.k, first + block);
      __m256 sum = {};
      for (int64_t p = first; p < end; p += n) {
        const int64_t steps = smaller(n, end - p);
        const float* next = lines + (kFewLines * g.k + p * kFewLines);
        Vec<float> v[kFewLines];
        __m256 step[n];
        if (steps == n) {
#pragma GCC unroll 8
          for (int r = 0; r < kFewLines; ++r) {
            v[r] = load(lines + r * g.k + p);
            __builtin_prefetch(next + r * n, 0, 2);
          }
          transpose_eight(v, step);
#pragma GCC unroll 16
          for (int q = 0; q < n; ++q) sum = _mm256_fmadd_ps(_mm256_set1_ps(x[p + q]), step[q], sum);
        } else {
          for (int r = 0; r < kFewLines; ++r) v[r] = load_first(lines + r * g.k + p, steps);
          transpose_eight(v, step);
          for (int64_t q = 0; q < steps; ++q) sum = _mm256_fmadd_ps(_mm256_set1_ps(x[p + q]), step[q], sum);
        }
      }
      total = first == 0 ? sum : total + sum;
    }
    __builtin_memcpy(y + j, &total, sizeof(total));
  }
  if (few < g.n) {
    GemmVector left = g;
    left.w = w + few * g.k;
    left.n = g.n - few;
    dots_of<float, 1, true>(left, x, y + few, n * g.k * static_cast<int64_t>(sizeof(float)));
  }
}
#endif

// Steps of k whose products are added to a vector of sums before it goes back to memory.
template <int M>
constexpr int kSteps = M == 1 ? 8 : 4;

// sum[i][j] += the products of Q steps from p on; whole vectors of lanes only.
template <class Src, int M, int Q>
BW_FN void add_lines(const GemmVector& g, int64_t p, const Compute<Src>* x, Compute<Src>* sum) {
  using T = Compute<Src>;
  constexpr int n = kLanes<T>;
  const Src* w = static_cast<const Src*>(g.w) + p * g.stride;
  Vec<T> factor[M][Q];
  for (int i = 0; i < M; ++i)
    for (int q = 0; q < Q; ++q) factor[i][q] = broadcast(x[i * g.x_row + p + q]);
  const int64_t whole = g.n / n * n;
  for (int64_t j = 0; j < whole; j += n) {
    Vec<T> s[M];
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i) s[i] = load(sum + i * kGemmVectorColumns + j);
#pragma GCC unroll 8
    for (int q = 0; q < Q; ++q) {
      const Vec<T> v = widen_load<T>(w + q * g.stride + j);
#pragma GCC unroll 4
      for (int i = 0; i < M; ++i) s[i] = multiply_add(factor[i][q], v, s[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i) store(sum + i * kGemmVectorColumns + j, s[i]);
  }
  for (int64_t j = whole; j < g.n; ++j)
    for (int i = 0; i < M; ++i)
      for (int q = 0; q < Q; ++q) {
        T& s = sum[i * kGemmVectorColumns + j];
        s = multiply_add(broadcast(x[i * g.x_row + p + q]), broadcast(static_cast<T>(w[q * g.stride + j])),
                         broadcast(s))[0];
      }
}

// Lanes are dense in W: step p is the line at w + p * stride.
template <class Src, int M>
BW_FN void lines_of(const GemmVector& g, const Compute<Src>* x, Compute<Src>* y) {
  using T = Compute<Src>;
  constexpr int q = kSteps<M>;
  alignas(64) T sum[M * kGemmVectorColumns];
  const int64_t block = gemm_block(g.k);
  for (int64_t first = 0; first < g.k; first += block) {
    const int64_t end = smaller(g.k, first + block);
    for (int i = 0; i < M; ++i)
      for (int64_t j = 0; j < g.n; ++j) sum[i * kGemmVectorColumns + j] = T{};
    int64_t p = first;
    for (; p + q <= end; p += q) add_lines<Src, M, q>(g, p, x, sum);
    for (; p < end; ++p) add_lines<Src, M, 1>(g, p, x, sum);
    for (int i = 0; i < M; ++i) {
      const T* from = sum + i * kGemmVectorColumns;
      T* to = y + i * g.y_row;
      for (int64_t j = 0; j < g.n; ++j) to[j] = first == 0 ? from[j] : to[j] + from[j];
    }
  }
}

template <class Src>
static void dots(const GemmVector& g) {
  using T = Compute<Src>;
  const T* x = static_cast<const T*>(g.x);
  T* y = static_cast<T*>(g.y);
  const int64_t group = kLanes<T> * g.stride * static_cast<int64_t>(sizeof(Src));
  const int64_t ahead = group <= kMostAhead ? group : kAhead;
#if defined(BW_ISA_v4)
  if constexpr (std::is_same_v<Src, float>) {
    if (g.rows == 1 && g.stride == g.k && kFewLines * g.k <= kMostAhead / 4 && reads_further())
      return dots_of_few(g, x, y);
  }
#endif
  if (g.rows == 1)
    return g.stride == g.k && ahead == group ? dots_of<Src, 1, true>(g, x, y, ahead)
                                             : dots_of<Src, 1, false>(g, x, y, ahead);
  for (int64_t i = 0; i < g.rows; i += kGemmVectorRows)
    dots_of<Src, kGemmVectorRows, false>(g, x + i * g.x_row, y + i * g.y_row, ahead);
}

template <class Src>
static void lines(const GemmVector& g) {
  using T = Compute<Src>;
  const T* x = static_cast<const T*>(g.x);
  T* y = static_cast<T*>(g.y);
  if (g.rows == 1) return lines_of<Src, 1>(g, x, y);
  for (int64_t i = 0; i < g.rows; i += kGemmVectorRows)
    lines_of<Src, kGemmVectorRows>(g, x + i * g.x_row, y + i * g.y_row);
}

constexpr GemmVectors kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) &lines<ctype>,
#define BW_STORAGE_DTYPE(...) nullptr,
#include "tables/dtypes.def"
                                },
                                {
#define BW_DTYPE(Name, name, ctype, ...) &dots<ctype>,
#define BW_STORAGE_DTYPE(...) nullptr,
#include "tables/dtypes.def"
                                }};

}  // namespace

const GemmVectors& gemm_vectors() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
