// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/softmax_columns.h"

#include "backends/cpu/kernels/softmax_terms.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Neighbouring columns. Maxima, sums and terms are rows of `width` numbers, lanes of kWidthStep.
template <class S, bool kLog>
class Strip {
 public:
  using A = Compute<S>;
  using V = Register<A>;
  static constexpr int64_t kWidth = kRegister / static_cast<int64_t>(sizeof(A));

  explicit Strip(const SoftmaxColumnsArgs& args)
      : args_(args),
        width_(args.width),
        lanes_(static_cast<A*>(args.scratch)),
        tops_(lanes_ + kLanes * kWidthStep),
        sums_(tops_ + width_),
        terms_(sums_ + chunks_of(args.rows) * width_) {}

  void run() {
    find_tops();
    for (int64_t c = 0; c < args_.columns; c += kWidthStep)
      sum_terms(c, c + kWidthStep < args_.columns ? c + kWidthStep : args_.columns);
    for (int64_t c = 0; c < args_.columns; ++c) sums_[c] = softmax_scale<kLog>(sums_[c]);
    for (int64_t i = 0; i < args_.rows; ++i) write_row(i);
  }

 private:
  // f(c, elements c and on of row i) for each register of columns [begin, end); behind the last are zeros.
  template <class F>
  BW_MEMBER_FN void each_register(int64_t i, int64_t begin, int64_t end, F f) const {
    const S* row = row_of_x(i);
    int64_t c = begin;
    for (; c + kWidth <= end; c += kWidth) f(c, load_widened(row + c));
    if (c < end) {
      S some[kWidth] = {};
      __builtin_memcpy(some, row + c, static_cast<size_t>(end - c) * sizeof(S));
      f(c, load_widened(some));
    }
  }
  const S* row_of_x(int64_t i) const { return static_cast<const S*>(args_.x) + i * args_.stride; }

  void find_tops() {
    const int64_t n = args_.columns;
    each_register(0, 0, n, [&](int64_t c, V v) __attribute__((always_inline)) { put(tops_ + c, v); });
    for (int64_t i = 1; i < args_.rows; ++i)
      each_register(i, 0, n, [&](int64_t c, V v) __attribute__((always_inline)) {
        put(tops_ + c, larger<A>(get(tops_ + c), v));
      });
  }

  // sums_[c] = the sum of column c's terms, in the documented order.
  void sum_terms(int64_t begin, int64_t end) {
    for (int64_t first = 0; first < args_.rows; first += kChunk) {
      const int64_t last = first + kChunk < args_.rows ? first + kChunk : args_.rows;
      clear_lanes();
      for (int64_t i = first; i < last; ++i) {
        A* lane = lanes_ + i % kLanes * kWidthStep - begin;
        each_register(i, begin, end, [&](int64_t c, V v) __attribute__((always_inline)) {
          const V term = terms<S>(v - get(tops_ + c));
          if constexpr (!kLog) put(terms_ + i * width_ + c, term);
          put(lane + c, get(lane + c) + term);
        });
      }
      join_lanes(last - first, sums_ + first / kChunk * width_ + begin);
    }
    for (int64_t count = chunks_of(args_.rows); count > 1; count = chunks_of(count)) {
      for (int64_t first = 0; first < count; first += kChunk) {
        const int64_t last = first + kChunk < count ? first + kChunk : count;
        clear_lanes();
        for (int64_t i = first; i < last; ++i)
          add_row(lanes_ + i % kLanes * kWidthStep, sums_ + i * width_ + begin);
        join_lanes(last - first, sums_ + first / kChunk * width_ + begin);
      }
    }
  }

  // Lanes begin with -0, which changes nothing that is added to it.
  void clear_lanes() const {
    for (int64_t i = 0; i < kLanes * kWidthStep; i += kWidth) put(lanes_ + i, -V{});
  }
  BW_FN void add_row(A* to, const A* row) {
    for (int64_t c = 0; c < kWidthStep; c += kWidth) put(to + c, get(to + c) + get(row + c));
  }
  void join_lanes(int64_t count, A* sum) const {
    int64_t lanes = count < kLanes ? count : kLanes;
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l + half < lanes; ++l)
        add_row(lanes_ + l * kWidthStep, lanes_ + (l + half) * kWidthStep);
      lanes = lanes < half ? lanes : half;
    }
    __builtin_memcpy(sum, lanes_, kWidthStep * sizeof(A));
  }

  void write_row(int64_t i) const {
    S* y = static_cast<S*>(args_.y) + i * args_.stride;
    const S* next = static_cast<const S*>(args_.next) + i * args_.stride;
    const A* scales = sums_;
    if constexpr (kLog) {
      map_lines_requesting(
          next, y, args_.columns, args_.past_caches,
          [](A v, A top, A scale) __attribute__((always_inline)) { return (v - top) - scale; }, row_of_x(i),
          static_cast<const A*>(tops_), scales);
    } else {
      map_lines_requesting(
          next, y, args_.columns, args_.past_caches,
          [](A v, A scale) __attribute__((always_inline)) { return v * scale; },
          static_cast<const A*>(terms_ + i * width_), scales);
    }
  }

  BW_FN V get(const A* from) { return load_widened(from); }
  BW_FN void put(A* to, V v) { __builtin_memcpy(to, &v, sizeof(v)); }

  const SoftmaxColumnsArgs& args_;
  int64_t width_;
  A* lanes_;
  A* tops_;
  A* sums_;  // of each chunk; then the scales
  A* terms_;
};

template <class S, bool kLog>
constexpr SoftmaxColumnsKernels::Loop loop() {
  if constexpr (kWidens<S> && m::Floating<Compute<S>>) {
    return [](const SoftmaxColumnsArgs& args) { Strip<S, kLog>(args).run(); };
  } else {
    return nullptr;
  }
}

}  // namespace

const SoftmaxColumnsKernels& softmax_columns_kernels() {
  static constexpr SoftmaxColumnsKernels kTable = {{
#define BW_DTYPE(Name, name, ctype, ...) {loop<ctype, false>(), loop<ctype, true>()},
#include "tables/dtypes.def"
  }};
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
