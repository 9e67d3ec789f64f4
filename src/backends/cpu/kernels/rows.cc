// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/lines.h"
#include "backends/cpu/kernels/tree.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// The rows of one call, a block at a time, and its working memory. The loops read them as elements of X: S
// itself, if the level can widen it in registers, or what a first pass widened, if they are read often.
template <class S, bool kOften>
struct Rows {
  using A = Compute<S>;
  using X = std::conditional_t<kWidens<S> && !kOften, S, A>;
  const RowArgs& args;
  int64_t n, in_block;
  const S* end;
  A* values;    // for each element of a block
  A* widened;   // likewise
  A* partials;  // for each chunk of a row

  BW_MEMBER_FN explicit Rows(const RowArgs& a)
      : args(a),
        n(a.n),
        in_block(a.n >= kRowBlock                     ? 1
                 : kRowBlock / a.n < kMostRowsInBlock ? kRowBlock / a.n
                                                      : kMostRowsInBlock),
        end(static_cast<const S*>(a.x) + a.rows * a.n),
        values(static_cast<A*>(a.scratch)),
        widened(values + in_block * a.n),
        partials(widened + in_block * a.n) {}

  // Calls block(source, x, count, y): `count` rows from `source` on, as the loops read them at x.
  template <class Block>
  BW_MEMBER_FN void each_block(Block block) const {
    const S* from = static_cast<const S*>(args.x);
    S* y = static_cast<S*>(args.y);
    for (int64_t row = 0; row < args.rows; row += in_block, from += in_block * n, y += in_block * n) {
      const int64_t count = args.rows - row < in_block ? args.rows - row : in_block;
      if constexpr (__is_same(X, S)) {
        block(from, from, count, y);
      } else {
        map_lines(widened, count * n, false, [](A v) __attribute__((always_inline)) { return v; }, from);
        block(from, static_cast<const A*>(widened), count, y);
      }
    }
  }

  // Requests what lies a block behind x[0 .. count), into the second cache: the first one holds this block.
  BW_MEMBER_FN void request(const S* x, int64_t count) const {
    const S* next = x + in_block * n;
    if (next >= end) return;
    const char* at = reinterpret_cast<const char*>(next);
    for (int64_t byte = 0; byte < count * static_cast<int64_t>(sizeof(S)); byte += 64)
      __builtin_prefetch(at + byte, 0, 2);
  }

  // The sum of map(x[i]) over a row; map takes elements, and registers of them.
  template <class T, class Map>
  BW_MEMBER_FN A sum(const T* x, Map map) const {
    if (n <= kChunk) return tree_chunk<A>(x, n, map);
    for (int64_t begin = 0; begin < n; begin += kChunk)
      partials[begin / kChunk] = tree_chunk<A>(x + begin, n - begin < kChunk ? n - begin : kChunk, map);
    return tree_join(partials, chunks_of(n));
  }

  // y[i] = f(x[i]...) for a row of results.
  template <class F, class... Inputs>
  BW_MEMBER_FN void write(S* y, F f, const Inputs*... x) const {
    if (!args.past_caches) {
      map_lines(y, n, false, f, x...);
      return;
    }
    // Rows need not begin at a line.
    int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(y) % 64 / sizeof(S));
    if (head > n) head = n;
    if (head > 0) map_lines(y, head, false, f, x...);
    map_lines(y + head, n - head, true, f, (x + head)...);
  }
};

// An element as it is, and a register of them.
constexpr auto kSame = [](auto v) __attribute__((always_inline)) { return v; };

/// The terms of a softmax in S: 2^kScaledExp e^x for x <= 0.
template <class S>
BW_FN Compute<S> term(Compute<S> x) {
  if constexpr (kNarrow<S>) {
    return m::scaled_exp_short(m::at_least(x, -104.0f));
  } else {
    return m::scaled_exp(x);
  }
}

template <class S, bool kLog>
void softmax(const RowArgs& args) {
  using A = Compute<S>;
  using Mine = Rows<S, kLog>;
  using X = typename Mine::X;
  const Mine rows(args);
  const int64_t n = args.n;
  rows.each_block([&](const S* source, const X* x, int64_t count, S* y) __attribute__((always_inline)) {
    A most[kMostRowsInBlock], sums[kMostRowsInBlock];
    for (int64_t r = 0; r < count; ++r) most[r] = static_cast<A>(largest_number(x + r * n, n));
    for (int64_t r = 0; r < count; ++r) {
      const A top = most[r];
      for (int64_t begin = 0; begin < n; begin += kChunk) {
        const int64_t some = n - begin < kChunk ? n - begin : kChunk;
        rows.request(source + r * n + begin, some);
        A* e = rows.values + r * n + begin;
        map_lines(
            e, some, false, [top](A v) __attribute__((always_inline)) { return term<S>(v - top); },
            x + r * n + begin);
      }
      sums[r] = rows.sum(static_cast<const A*>(rows.values + r * n), kSame);
    }
    if constexpr (kLog) {
      for (int64_t r = 0; r < count; ++r) sums[r] = m::log(sums[r] * (A(1) / m::scaled_exp_unit<A>()));
      for (int64_t r = 0; r < count; ++r) {
        const A top = most[r], log_sum = sums[r];
        rows.write(
            y + r * n, [=](A v) __attribute__((always_inline)) { return (v - top) - log_sum; }, x + r * n);
      }
    } else {
      for (int64_t r = 0; r < count; ++r) sums[r] = A(1) / sums[r];
      for (int64_t r = 0; r < count; ++r) {
        const A scale = sums[r];
        rows.write(
            y + r * n, [=](A v) __attribute__((always_inline)) { return v * scale; },
            static_cast<const A*>(rows.values + r * n));
      }
    }
  });
}

/// 1 / sqrt(mean + eps) of `count` sums of squares.
template <class A>
BW_FN void to_scales(A* sums, int64_t count, int64_t n, A eps) {
  for (int64_t r = 0; r < count; ++r) sums[r] = A(1) / m::sqrt(sums[r] / static_cast<A>(n) + eps);
}

template <class S>
void rms_norm(const RowArgs& args) {
  using A = Compute<S>;
  const Rows<S, true> rows(args);
  const int64_t n = args.n;
  const A* weight = static_cast<const A*>(args.weight);
  rows.each_block([&](const S* source, const A* x, int64_t count, S* y) __attribute__((always_inline)) {
    A scales[kMostRowsInBlock];
    for (int64_t r = 0; r < count; ++r)
      scales[r] = rows.sum(x + r * n, [](auto v) __attribute__((always_inline)) { return v * v; });
    to_scales(scales, count, n, static_cast<A>(args.eps));
    for (int64_t r = 0; r < count; ++r) {
      rows.request(source + r * n, n);
      const A scale = scales[r];
      rows.write(
          y + r * n, [scale](A v, A w) __attribute__((always_inline)) { return v * scale * w; }, x + r * n,
          weight);
    }
  });
}

template <class S>
void layer_norm(const RowArgs& args) {
  using A = Compute<S>;
  const Rows<S, true> rows(args);
  const int64_t n = args.n;
  const A* weight = static_cast<const A*>(args.weight);
  const A* bias = static_cast<const A*>(args.bias);
  rows.each_block([&](const S* source, const A* x, int64_t count, S* y) __attribute__((always_inline)) {
    A means[kMostRowsInBlock], scales[kMostRowsInBlock];
    for (int64_t r = 0; r < count; ++r) means[r] = rows.sum(x + r * n, kSame);
    for (int64_t r = 0; r < count; ++r) means[r] = means[r] / static_cast<A>(n);
    for (int64_t r = 0; r < count; ++r) {
      const A mean = means[r];
      scales[r] = rows.sum(x + r * n,
                           [mean](auto v) __attribute__((always_inline)) { return (v - mean) * (v - mean); });
    }
    to_scales(scales, count, n, static_cast<A>(args.eps));
    for (int64_t r = 0; r < count; ++r) {
      rows.request(source + r * n, n);
      const A mean = means[r], scale = scales[r];
      if (bias == nullptr) {
        rows.write(
            y + r * n, [=](A v, A w) __attribute__((always_inline)) { return (v - mean) * scale * w; },
            x + r * n, weight);
      } else {
        rows.write(
            y + r * n,
            [=](A v, A w, A b) __attribute__((always_inline)) { return (v - mean) * scale * w + b; },
            x + r * n, weight, bias);
      }
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
