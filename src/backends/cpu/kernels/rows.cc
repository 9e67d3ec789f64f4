// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/kernels/softmax_terms.h"
#include "backends/cpu/kernels/tree.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// The rows of one call, a block at a time, and its working memory. With kLate, a block's results are written,
// and the block after the next is requested, line by line while the sums of the next one are made: memory
// then reads and writes all the time, and arithmetic fills what it waits.
template <class S, bool kLate = false>
struct Rows {
  using A = Compute<S>;
  static constexpr int64_t kLongestRequested = 1 << 14;
  // What the loops read: S itself, if the level can widen it in registers, or what a first pass widened.
  using X = std::conditional_t<kWidens<S>, S, A>;
  const RowArgs& args;
  int64_t n;
  int64_t padded;  // elements of a row in `values`: whole registers are kept there
  int64_t in_block;
  const S* end;
  A* values;    // for each element of a block
  A* wide;      // likewise, if a first pass widens
  A* partials;  // for each chunk of a row

  BW_MEMBER_FN explicit Rows(const RowArgs& a)
      : args(a),
        n(a.n),
        padded(padded_row(a.n)),
        in_block(kRowBlock < 2 * padded ? 1 : kRowBlock / padded),
        end(static_cast<const S*>(a.x) + a.rows * a.n),
        values(static_cast<A*>(a.scratch)),
        wide(values + in_block * padded),
        partials(wide + in_block * padded) {}

  // `count` rows; x is what the loops read.
  struct Block {
    const S* source;
    const X* x;
    int64_t count;
    S* y;
  };

  // Calls sums(block, before) for each block; before(r, i) is to be called before elements [i, i + kLanes) of
  // row r are replaced in `values`. Calls write(block, r, begin, count, past_caches) for each part of a row:
  // after the block's sums, or as late as that.
  template <class Sums, class Write>
  BW_MEMBER_FN void each_block(Sums sums, Write write) const {
    Block block{static_cast<const S*>(args.x), nullptr, 0, static_cast<S*>(args.y)};
    Block last = block;
    const auto write_to = [&](int64_t r, int64_t begin, int64_t upto) __attribute__((always_inline)) {
      // Rows need not begin at a line.
      const int64_t head =
          args.past_caches
              ? static_cast<int64_t>(-reinterpret_cast<uintptr_t>(last.y + r * n) % 64 / sizeof(S))
              : 0;
      if (begin == 0 && head > 0) write(last, r, int64_t{0}, head < n ? head : n, false);
      begin += head;
      upto = upto + head < n ? upto + head : n;
      if (begin < upto) write(last, r, begin, upto - begin, args.past_caches);
    };
    for (int64_t row = 0; row < args.rows; row += in_block) {
      block.count = args.rows - row < in_block ? args.rows - row : in_block;
      if constexpr (kWidens<S>) {
        block.x = block.source;
      } else {
        map_lines(
            wide, block.count * n, false, [](A v) __attribute__((always_inline)) { return v; }, block.source);
        block.x = wide;
      }
      sums(block, [&](int64_t r, int64_t i) __attribute__((always_inline)) {
        if (kLate && r < last.count) write_to(r, i, i + kLanes);
      });
      if (kLate)
        for (int64_t r = block.count; r < last.count; ++r) write_to(r, 0, n);
      last = block;
      if (!kLate || row + in_block >= args.rows)
        for (int64_t r = 0; r < last.count; ++r) write_to(r, 0, n);
      block.source += in_block * n;
      block.y += in_block * n;
    }
  }

  // The sum of map(v, i) over row r of a block, which is at x, for registers v of elements i and on
  // (sum_in_registers).
  template <class T, class Map, class Before>
  BW_MEMBER_FN A sum(const T* x, int64_t r, Map map, Before before) const {
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      partials[begin / kChunk] = sum_in_registers<A>(
          x + begin, n - begin < kChunk ? n - begin : kChunk,
          [=](Register<A> v, int64_t i) __attribute__((always_inline)) { return map(v, begin + i); },
          [&](int64_t i) __attribute__((always_inline)) { before(r, begin + i); });
    }
    return tree_join(partials, chunks_of(n));
  }

  // What is requested while the elements from `begin` on of row r of `block` are written: those of the next
  // block that nobody has read yet. Long rows fill the second cache by themselves; they request what is
  // there.
  BW_MEMBER_FN const S* ahead(const Block& block, int64_t r, int64_t begin) const {
    const S* next = block.source + (kLate ? 2 : 1) * in_block * n + r * n;
    if (next >= end || n > kLongestRequested) return reinterpret_cast<const S*>(values + r * padded + begin);
    return next + begin;
  }
};

template <class A>
BW_FN void keep(A* to, Register<A> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

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
          A* e = rows.values + r * rows.padded;
          const A sum = rows.sum(
              block.x + r * n, r,
              [=](Register<A> v, int64_t i) __attribute__((always_inline)) {
                const Register<A> term = terms<S>(v - top);
                if constexpr (!kLog) keep(e + i, term);
                return term;
              },
              before);
          tops[r] = top;
          scales[r] = softmax_scale<kLog>(sum);
        }
      },
      [&](const Block& block, int64_t r, int64_t begin, int64_t count,
          bool past) __attribute__((always_inline)) {
        const A scale = scales[r];
        if constexpr (kLog) {
          const A top = tops[r];
          map_lines_requesting(
              rows.ahead(block, r, begin), block.y + r * n + begin, count, past,
              [=](A v) __attribute__((always_inline)) { return (v - top) - scale; }, block.x + r * n + begin);
        } else {
          map_lines_requesting(
              rows.ahead(block, r, begin), block.y + r * n + begin, count, past,
              [=](A v) __attribute__((always_inline)) { return v * scale; },
              static_cast<const A*>(rows.values + r * rows.padded + begin));
        }
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
template <class S>
using NormRows = Rows<S, kWidens<S>>;
template <class S, class Map, class Before>
BW_FN Compute<S> first_sum(const NormRows<S>& rows, const typename Rows<S>::X* x, int64_t r, Map map,
                           Before before) {
  using A = Compute<S>;
  A* wide = rows.values + r * rows.padded;
  return rows.sum(
      x + r * rows.n, r,
      [=](Register<A> v, int64_t i) __attribute__((always_inline)) {
        if constexpr (kKeepsWidened<S>) keep(wide + i, v);
        return map(v);
      },
      before);
}
template <class S>
BW_FN const Compute<S>* widened(const NormRows<S>& rows, const typename Rows<S>::X* x, int64_t r) {
  if constexpr (kKeepsWidened<S>) {
    return rows.values + r * rows.padded;
  } else {
    return x + r * rows.n;
  }
}

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
        for (int64_t r = 0; r < block.count; ++r)
          scales[r] = to_scale(
              first_sum<S>(
                  rows, block.x, r, [](auto v) __attribute__((always_inline)) { return v * v; }, before),
              n, static_cast<A>(args.eps));
      },
      [&](const Block& block, int64_t r, int64_t begin, int64_t count, bool past)
          __attribute__((always_inline)) {
            const A scale = scales[r];
            map_lines_requesting(
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
        for (int64_t r = 0; r < block.count; ++r)
          means[r] = first_sum<S>(
                         rows, block.x, r, [](auto v) __attribute__((always_inline)) { return v; }, before) /
                     static_cast<A>(n);
        for (int64_t r = 0; r < block.count; ++r) {
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
              map_lines_requesting(
                  ahead, y, count, past,
                  [=](A v, A w) __attribute__((always_inline)) { return (v - mean) * scale * w; }, x,
                  weight + begin);
            } else {
              map_lines_requesting(
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
