// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/conv.h"

#include "backends/cpu/kernels/gemm_simd.h"

namespace beeswax::cpu::BW_ISA {
namespace {

template <class T>
BW_FN void clear(T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = T{};
}

template <class T, class Src>
BW_FN void widen_run(const Src* from, int64_t step, T* to, int64_t count) {
  int64_t i = 0;
  if (step == 1) {
    for (; i + kLanes<T> <= count; i += kLanes<T>) store(to + i, widen_load<T>(from + i));
    for (; i < count; ++i) to[i] = static_cast<T>(from[i]);
  } else if (step == 2) {
    for (; i < count; ++i) to[i] = static_cast<T>(from[2 * i]);
  } else {
    for (; i < count; ++i) to[i] = static_cast<T>(from[i * step]);
  }
}

template <class Src>
static void fill(const ConvFill& g) {
  using T = Compute<Src>;
  for (int64_t channel = 0; channel < g.channels; ++channel) {
    T* line = static_cast<T*>(g.to) + channel * g.plane;
    for (int64_t r = 0; r < g.rows; ++r, line += g.width) {
      const int64_t row = g.first_row + g.row_at[r];
      if (row < 0 || row >= g.height) {
        clear(line, g.width);
        continue;
      }
      const Src* from = static_cast<const Src*>(g.from) + channel * g.channel_stride + row * g.row_stride;
      for (int64_t i = 0; i < g.runs; ++i) {
        const ConvRun& run = g.run[i];
        T* to = line + run.at;
        clear(to, run.begin);
        if (run.begin < run.end)
          widen_run(from + run.column + run.begin * g.step, g.step, to + run.begin, run.end - run.begin);
        clear(to + run.end, run.count - run.end);
      }
    }
  }
}

// Consecutive columns of a panel that lie in one row of outputs.
struct Piece {
  int64_t lane, length, row, column;
};

// Whole vectors are stored where a piece ends inside one: what they write past it is written again, by the
// next piece, the next line or the next panel.
template <class T>
static void pack(const ConvPack& g) {
  constexpr int64_t n = kLanes<T>;
  const ConvTerms& terms = g.terms;
  const T* tile = static_cast<const T*>(terms.tile);
  const int64_t all = terms.rows * terms.columns;
  for (int64_t first = 0; first < all; first += g.width) {
    const int64_t lanes = all - first < g.width ? all - first : g.width;
    const int64_t wide = (lanes + n - 1) / n * n;
    T* to = static_cast<T*>(g.to) + first * terms.k;
    Piece pieces[kConvPanel];
    int64_t count = 0;
    for (int64_t lane = 0; lane < lanes; ++count) {
      const int64_t row = (first + lane) / terms.columns;
      const int64_t column = (first + lane) % terms.columns;
      const int64_t rest = terms.columns - column;
      const int64_t length = lanes - lane < rest ? lanes - lane : rest;
      pieces[count] = {lane, length, row * terms.taps_y, column};
      lane += length;
    }
    for (int64_t k = 0; k < terms.k; ++k, to += wide) {
      const int64_t* row_offset = terms.row_offset + terms.tap_row[k];
      const T* base = tile + terms.tap_offset[k];
      for (int64_t i = 0; i < count; ++i) {
        const Piece& piece = pieces[i];
        const T* from = base + row_offset[piece.row] + piece.column;
        T* line = to + piece.lane;
        store(line, load(from));
        for (int64_t j = n; j < piece.length; j += n) store(line + j, load(from + j));
      }
    }
  }
}

// R channels by V vectors of one row of outputs.
template <class T, int R, int V>
static void direct_tile(const ConvDirect& g, const int64_t* row_offset, const T* tile, const T* weights,
                        T* sums, int64_t columns) {
  constexpr int n = kLanes<T>;
  Vec<T> sum[R][V] = {};
  for (int64_t k = 0; k < g.terms.k; ++k) {
    const T* from = tile + g.terms.tap_offset[k] + row_offset[g.terms.tap_row[k]];
    Vec<T> line[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) line[j] = load(from + j * n);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const Vec<T> w = broadcast(weights[r * g.weight_row + k]);
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) sum[r][j] = multiply_add(w, line[j], sum[r][j]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) {
      T* to = sums + r * g.sum_channel + j * n;
      const int64_t rest = columns - j * n;
      if (rest >= n) {
        store(to, g.add ? load(to) + sum[r][j] : sum[r][j]);
      } else {
        store_first(to, g.add ? load_first(to, rest) + sum[r][j] : sum[r][j], rest);
      }
    }
  }
}

template <class T, int R>
BW_FN void direct_rows(const ConvDirect& g, int64_t channel) {
  constexpr int64_t n = kLanes<T>;
  constexpr int kMost = R == 4 ? 2 : 4;  // vectors: the accumulators stay in 16 registers
  const T* weights = static_cast<const T*>(g.weights) + channel * g.weight_row;
  for (int64_t r = 0; r < g.terms.rows; ++r) {
    const int64_t* row_offset = g.terms.row_offset + r * g.terms.taps_y;
    T* sums = static_cast<T*>(g.sums) + channel * g.sum_channel + r * g.sum_row;
    const T* tile = static_cast<const T*>(g.terms.tile);
    for (int64_t c = 0; c < g.terms.columns;) {
      const int64_t left = g.terms.columns - c;
      if (kMost == 4 && left > 3 * n) {
        direct_tile<T, R, kMost>(g, row_offset, tile + c, weights, sums + c, left);
        c += kMost * n;
      } else if (left > n) {
        direct_tile<T, R, 2>(g, row_offset, tile + c, weights, sums + c, left);
        c += 2 * n;
      } else {
        direct_tile<T, R, 1>(g, row_offset, tile + c, weights, sums + c, left);
        c += n;
      }
    }
  }
}

template <class T>
static void direct(const ConvDirect& g) {
  int64_t channel = 0;
  for (; channel + 4 <= g.channels; channel += 4) direct_rows<T, 4>(g, channel);
  for (; channel + 2 <= g.channels; channel += 2) direct_rows<T, 2>(g, channel);
  for (; channel < g.channels; ++channel) direct_rows<T, 1>(g, channel);
}

template <class Dst>
static void scatter(const void* from, int64_t count, void* to, int64_t stride) {
  const auto* x = static_cast<const Compute<Dst>*>(from);
  auto* y = static_cast<Dst*>(to);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<Dst>(x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i * stride] = static_cast<Dst>(x[i]);
  }
}

constexpr ConvKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) &fill<ctype>,
#include "tables/dtypes.def"
                                },
                                {&pack<float>, &pack<double>, &pack<uint32_t>, &pack<uint64_t>},
                                {&direct<float>, &direct<double>, &direct<uint32_t>, &direct<uint64_t>},
                                {
#define BW_DTYPE(Name, name, ctype, ...) &scatter<ctype>,
#include "tables/dtypes.def"
                                }};

}  // namespace

const ConvKernels& conv_kernels() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
