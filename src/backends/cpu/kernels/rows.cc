// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/row_blocks.h"
#include "backends/cpu/kernels/softmax_terms.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Terms are written late, from where they are kept; logarithms read their elements once more, and so only
// where those are still there.
template <class S, bool kLog>
void softmax(const RowArgs& args) {
  using A = Compute<S>;
  using LateRows = Rows<S, !kLog || kWidens<S>>;
  using Block = typename LateRows::Block;
  const LateRows rows(args);
  const int64_t n = args.n;
  A most[kMostRowsInBlock], tops[kMostRowsInBlock], scales[kMostRowsInBlock];
  rows.each_block(
      [&](const Block& block, auto before) __attribute__((always_inline)) {
        for (int64_t r = 0; r < block.count; ++r)
          most[r] = static_cast<A>(largest_number(block.x + r * n, n));
        for (int64_t r = 0; r < block.count; ++r) {
          const A top = most[r];
          const A sum =
              rows.sum(block.x + r * n, r, terms_kept<S, kLog>(top, rows.values + r * rows.padded), before);
          tops[r] = top;
          scales[r] = softmax_scale<kLog>(sum);
        }
      },
      [&](const Block& block, int64_t r, int64_t begin, int64_t count, bool past)
          __attribute__((always_inline)) {
            write_softmax<kLog>(rows.ahead(block, r, begin), block.y + r * n + begin, count, past,
                                block.x + r * n + begin, rows.values + r * rows.padded + begin, tops[r],
                                scales[r]);
          });
}

/// 1 / sqrt(mean + eps), of a sum of squares.
template <class A>
BW_FN A to_scale(A sum, int64_t n, A eps) {
  return A(1) / m::sqrt(sum / static_cast<A>(n) + eps);
}

// Norms read elements more than once: their first pass leaves those of narrow dtypes widened in `values`.
template <class S>
constexpr bool kKeepsWidened = kNarrow<S> && kWidens<S>;
// Rows that share what they read of the weights: two where they stay widened, which takes twice their bytes.
template <class S>
using NormRows = Rows<S, kWidens<S>, kNarrow<S> ? 2 : 4>;
template <class S, class Map, class Before>
BW_FN void first_sums(const NormRows<S>& rows, const typename NormRows<S>::Block& block, Compute<S>* sums,
                      Map map, Before before) {
  using A = Compute<S>;
  A* wide = rows.values;
  const int64_t padded = rows.padded;
  rows.sum_together(
      block, sums,
      [=](Register<A> v, int64_t r, int64_t i) __attribute__((always_inline)) {
        if constexpr (kKeepsWidened<S>) keep(wide + r * padded + i, v);
        return map(v);
      },
      before);
}
template <class S>
BW_FN const Compute<S>* widened(const NormRows<S>& rows, const typename NormRows<S>::X* x, int64_t r) {
  if constexpr (kKeepsWidened<S>) {
    return rows.values + r * rows.padded;
  } else {
    return x + r * rows.n;
  }
}

/// Idle instructions beside the lines that norms write. Two Zen 5 cores normalize rows of f64 (rms) at 0.84
/// to 0.87 of the speed of copying without and at 0.87 to 0.89 so, where they copy at 60 GB/s, at 0.65 to
/// 0.67 and 0.69 to 0.72 at 110; with means (layer norm) at 0.80 and 0.82 to 0.83, 0.64 to 0.66 and 0.72 to
/// 0.78. Rows of f32 gain as much at 60 GB/s and lose twice that at 110.
template <class S>
constexpr int kNormIdle = sizeof(S) == 8 ? 48 : 0;

template <class S>
void rms_norm(const RowArgs& args) {
  using A = Compute<S>;
  using Block = typename NormRows<S>::Block;
  const NormRows<S> rows(args);
  const int64_t n = args.n;
  const A* weight = static_cast<const A*>(args.weight);
  A scales[kMostRowsInBlock];
  rows.each_block(
      [&](const Block& block, auto before) __attribute__((always_inline)) {
        first_sums<S>(
            rows, block, scales, [](auto v) __attribute__((always_inline)) { return v * v; }, before);
        for (int64_t r = 0; r < block.count; ++r)
          scales[r] = to_scale(scales[r], n, static_cast<A>(args.eps));
      },
      [&](const Block& block, int64_t r, int64_t begin, int64_t count, bool past)
          __attribute__((always_inline)) {
            const A scale = scales[r];
            map_lines_requesting<kNormIdle<S>>(
                rows.ahead(block, r, begin), block.y + r * n + begin, count, past,
                [scale](A v, A w) __attribute__((always_inline)) { return v * scale * w; },
                widened<S>(rows, block.x, r) + begin, weight + begin);
          });
}

template <class S>
void layer_norm(const RowArgs& args) {
  using A = Compute<S>;
  using Block = typename NormRows<S>::Block;
  const NormRows<S> rows(args);
  const int64_t n = args.n;
  const A* weight = static_cast<const A*>(args.weight);
  const A* bias = static_cast<const A*>(args.bias);
  A means[kMostRowsInBlock], scales[kMostRowsInBlock];
  rows.each_block(
      [&](const Block& block, auto before) __attribute__((always_inline)) {
        first_sums<S>(rows, block, means, [](auto v) __attribute__((always_inline)) { return v; }, before);
        for (int64_t r = 0; r < block.count; ++r) {
          means[r] /= static_cast<A>(n);
          const A mean = means[r];
          const A sum = rows.sum(
              widened<S>(rows, block.x, r), r,
              [mean](Register<A> v, int64_t)
                  __attribute__((always_inline)) { return (v - mean) * (v - mean); },
              [](int64_t, int64_t) __attribute__((always_inline)) {});
          scales[r] = to_scale(sum, n, static_cast<A>(args.eps));
        }
      },
      [&](const Block& block, int64_t r, int64_t begin, int64_t count, bool past)
          __attribute__((always_inline)) {
            const A mean = means[r], scale = scales[r];
            S* y = block.y + r * n + begin;
            const S* ahead = rows.ahead(block, r, begin);
            const A* x = widened<S>(rows, block.x, r) + begin;
            if (bias == nullptr) {
              map_lines_requesting<kNormIdle<S>>(
                  ahead, y, count, past,
                  [=](A v, A w) __attribute__((always_inline)) { return (v - mean) * scale * w; }, x,
                  weight + begin);
            } else {
              map_lines_requesting<kNormIdle<S>>(
                  ahead, y, count, past,
                  [=](A v, A w, A b) __attribute__((always_inline)) { return (v - mean) * scale * w + b; }, x,
                  weight + begin, bias + begin);
            }
          });
}

template <class S>
constexpr RowLoops loops() {
  if constexpr (m::Floating<Compute<S>>) {
    return {softmax<S, false>, softmax<S, true>, rms_norm<S>, layer_norm<S>};
  } else {
    return {};
  }
}

}  // namespace

const RowKernels& row_kernels() {
  static constexpr RowKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) loops<ctype>(),
#include "tables/dtypes.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
