// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/pool.h"

#include <type_traits>

#include "backends/cpu/kernels/tree.h"
#include "beeswax/half.h"
#include "core/math/basic.h"

namespace beeswax::cpu::BW_ISA {
namespace {

constexpr int64_t kStep = 16;     // outputs are computed in steps of this; tiles have slack behind them
constexpr int64_t kOutputs = 64;  // of one pass

// How elements of a dtype lie in a tile, as signed as they are.
template <class Src>
struct TileOf {
  using type = std::conditional_t<std::is_integral_v<Src>, int32_t, float>;
};
template <>
struct TileOf<double> {
  using type = double;
};
template <>
struct TileOf<int64_t> {
  using type = int64_t;
};
template <>
struct TileOf<uint32_t> {
  using type = uint32_t;
};
template <class Src>
using Tile = typename TileOf<Src>::type;

// What averages are summed in.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

template <class T>
BW_FN T quotient(Sum<T> sum, int64_t count) {
  return static_cast<T>(sum / static_cast<Sum<T>>(count));
}

BW_FN int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A place in a tile: term k of output (row, column) is at[k].
template <class T>
struct Window {
  const ConvTerms& terms;
  const int64_t* row_offset;
  const T* tile;
  BW_MEMBER_FN const T* term(int64_t k) const {
    return tile + terms.tap_offset[k] + row_offset[terms.tap_row[k]];
  }
};

// Windows of at most 64 elements for `count` outputs of one row, side by side: each lane has one element, and
// the tree's first level is taken while the elements are read. Computes whole steps of outputs.
template <class T>
static void average_across(const Window<T>& w, int64_t count, T* out) {
  Sum<T> lane[kLanes / 2][kOutputs];
  const int64_t elements = w.terms.k;
  const int64_t steps = (count + kStep - 1) / kStep;
  int64_t half = 1;
  while (2 * half < elements) half *= 2;
  for (int64_t l = 0; l < half; ++l) {
    Sum<T>* v = lane[l];
    const T* a = w.term(l);
    if (l + half < elements) {
      const T* b = w.term(l + half);
      for (int64_t i = 0; i < steps * kStep; ++i)
        v[i] = static_cast<Sum<T>>(a[i]) + static_cast<Sum<T>>(b[i]);
    } else {
      for (int64_t i = 0; i < steps * kStep; ++i) v[i] = static_cast<Sum<T>>(a[i]);
    }
  }
  while (half > 1) {
    half /= 2;
    for (int64_t l = 0; l < half; ++l) {
      Sum<T>* v = lane[l];
      const Sum<T>* b = lane[l + half];
      for (int64_t i = 0; i < steps * kStep; ++i) v[i] += b[i];
    }
  }
  for (int64_t i = 0; i < count; ++i) out[i] = quotient<T>(lane[0][i], elements);
}

// One output at a time, its lanes side by side.
template <class T>
BW_FN void average_along(const Window<T>& w, int64_t count, T* out, Sum<T>* elements) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < w.terms.k; ++k) elements[k] = static_cast<Sum<T>>(w.term(k)[i]);
    out[i] = quotient<T>(tree_join(elements, w.terms.k), w.terms.k);
  }
}

template <class T>
static void max_across(const Window<T>& w, int64_t count, T* out) {
  T most[kOutputs];
  const int64_t steps = (count + kStep - 1) / kStep;
  const T* first = w.term(0);
  for (int64_t i = 0; i < steps * kStep; ++i) most[i] = first[i];
  for (int64_t k = 1; k < w.terms.k; ++k) {
    const T* x = w.term(k);
    for (int64_t i = 0; i < steps * kStep; ++i) most[i] = m::maximum(most[i], x[i]);
  }
  for (int64_t i = 0; i < count; ++i) out[i] = most[i];
}

template <class T, class F>
BW_FN void each_pass(const PoolBlock& g, F pass) {
  for (int64_t r = 0; r < g.terms.rows; ++r) {
    T* out = static_cast<T*>(g.out) + r * g.out_row;
    for (int64_t c = 0; c < g.terms.columns; c += kOutputs) {
      const Window<T> window{g.terms, g.terms.row_offset + r * g.terms.taps_y,
                             static_cast<const T*>(g.terms.tile) + c};
      pass(window, smaller(kOutputs, g.terms.columns - c), out + c);
    }
  }
}

template <class Src>
static void average(const PoolBlock& g) {
  using T = Tile<Src>;
  const bool across = g.terms.k <= kLanes && (g.terms.columns >= 4 || g.terms.k <= 4);
  each_pass<T>(g, [&](const Window<T>& window, int64_t count, T* out) __attribute__((always_inline)) {
    if (across) {
      average_across<T>(window, count, out);
    } else {
      average_along<T>(window, count, out, static_cast<Sum<T>*>(g.window));
    }
  });
}

template <class Src>
static void max(const PoolBlock& g) {
  using T = Tile<Src>;
  each_pass<T>(g, [](const Window<T>& window, int64_t count, T* out)
                      __attribute__((always_inline)) { max_across<T>(window, count, out); });
}

constexpr PoolKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) &average<ctype>,
#include "tables/dtypes.def"
                                },
                                {
#define BW_DTYPE(Name, name, ctype, ...) &max<ctype>,
#include "tables/dtypes.def"
                                }};

}  // namespace

const PoolKernels& pool_kernels() { return kTable; }

}  // namespace beeswax::cpu::BW_ISA
