// SPDX-License-Identifier: Apache-2.0
// The rows of tables/reduce.def as loops.
#include "backends/cpu/kernels/reduce.h"

#include "backends/cpu/kernels/reduce_columns.h"
#include "backends/cpu/kernels/reduce_loops.h"
#include "backends/cpu/kernels/reduce_whole.h"
#include "core/math/log_sum_exp.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

// Rows whose combine column has the same text share their loops: those of the first of them.
constexpr const char* kCombine[] = {
#define BW_REDUCE(Name, method, dtypes, center, map, combine, ...) #combine,
#include "tables/reduce.def"
};
constexpr int first_alike(ReduceOp op) {
  int row = 0;
  while (!same_text(kCombine[row], kCombine[static_cast<int>(op)])) ++row;
  return row;
}

template <int kRow, class A>
struct Combine;
#define BW_REDUCE(Name, method, dtypes, center, map, combine_, ...)                                    \
  template <class A>                                                                                   \
  struct Combine<static_cast<int>(ReduceOp::Name), A> {                                                \
    static constexpr Extreme kExtreme = extreme_of(#combine_, "m::maximum(a, b)", "m::minimum(a, b)"); \
    BW_FN A combine(A a, A b) { return static_cast<A>(combine_); }                                     \
  };
#include "tables/reduce.def"

#define BW_REDUCE(Name, method, dtypes, center, map_, combine_, final_, ...)                 \
  template <class A>                                                                         \
  struct Name##Op {                                                                          \
    static constexpr bool kMaps = !same_text(#map_, "x");                                    \
    static constexpr bool kSquares = same_text(#map_, "x * x");                              \
    static constexpr bool kFinishes = !same_text(#final_, "a");                              \
    static constexpr bool kAdds = same_text(#combine_, "a + b");                             \
    using Loops = Combine<first_alike(ReduceOp::Name), A>;                                   \
    BW_FN A map([[maybe_unused]] A x, [[maybe_unused]] A c) { return static_cast<A>(map_); } \
    BW_FN A finish([[maybe_unused]] A a, [[maybe_unused]] A n, [[maybe_unused]] A c) {       \
      return static_cast<A>(final_);                                                         \
    }                                                                                        \
  };
#include "tables/reduce.def"

template <class Op, class A>
void map(const void* from, int64_t count, const void* centers, int64_t step, void* to) {
  const A* x = static_cast<const A*>(from);
  const A* c = static_cast<const A*>(centers);
  A* y = static_cast<A*>(to);
  if (step == 0) {
    const A center = c == nullptr ? A(0) : *c;
    for (int64_t i = 0; i < count; ++i) y[i] = Op::map(x[i], center);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = Op::map(x[i], c[i]);
  }
}

template <class Op, class A>
void finish(void* values, int64_t count, int64_t n, const void* centers) {
  A* a = static_cast<A*>(values);
  const A* c = static_cast<const A*>(centers);
  const A size = static_cast<A>(n);
  if (c == nullptr) {
    for (int64_t i = 0; i < count; ++i) a[i] = Op::finish(a[i], size, A(0));
  } else {
    for (int64_t i = 0; i < count; ++i) a[i] = Op::finish(a[i], size, c[i]);
  }
}

template <class Op, class A, class Src>
constexpr ReduceLoops loops() {
  ReduceLoops table{};
  table.blocks = blocks<typename Op::Loops, A>;
  if constexpr (Op::Loops::kExtreme != Extreme::None) {
    constexpr bool kLargest = Op::Loops::kExtreme == Extreme::Largest;
    table.columns = columns<ExtremesOf<A, A, kLargest>, A>;
    if constexpr (!Op::kMaps && (kWidens<Src> || __is_same(Src, f16)))
      table.own_columns = columns<ExtremesOf<A, Src, kLargest>, A>;
    if constexpr (!Op::kMaps && kWidens<Src>) table.whole = whole_extremes<A, Src, kLargest>;
  } else if constexpr (Op::kAdds) {
    table.columns = columns<SumsOf<A, A, false>, A>;
    if constexpr (kWidens<Src> && (Op::kSquares || !Op::kMaps)) {
      table.own_columns = columns<SumsOf<A, Src, Op::kSquares>, A>;
      table.whole = whole_sums<A, Src, Op::kSquares>;
    }
  } else {
    table.columns = columns<AnyOf<typename Op::Loops, A>, A>;
  }
  if constexpr (Op::kMaps) table.map = map<Op, A>;
  if constexpr (Op::kFinishes) table.finish = finish<Op, A>;
  return table;
}

// The loops of an operation over A, or none where it is for floats only.
enum class Accept { Number, Float };
template <template <class> class Op, class A, class Src, Accept accept>
constexpr ReduceLoops loops_if() {
  if constexpr (accept == Accept::Number || m::Floating<A>) {
    return loops<Op<A>, A, Src>();
  } else {
    return {};
  }
}

template <template <class> class Op, Accept accept>
struct Row {
  ReduceLoops loops[kArithmeticDTypeCount] = {
#define BW_DTYPE(Name, name, ctype, compute, ...) loops_if<Op, compute, ctype, accept>(),
#include "tables/dtypes.def"
  };
};

constexpr ReduceKernels make_table() {
  ReduceKernels table{};
  int op = 0;
#define BW_REDUCE(Name, method, dtypes, ...)                                            \
  {                                                                                     \
    constexpr Row<Name##Op, Accept::dtypes> kRow{};                                     \
    for (int i = 0; i < kArithmeticDTypeCount; ++i) table.loops[op][i] = kRow.loops[i]; \
    ++op;                                                                               \
  }
#include "tables/reduce.def"
  return table;
}

}  // namespace

const ReduceKernels& reduce_kernels() {
  static constexpr ReduceKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
