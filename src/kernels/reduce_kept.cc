// SPDX-License-Identifier: Apache-2.0
// reduce_<method>_kept_<dtype>: rows of reduce.def with a center, over rows in registers, which memory is
// asked for once; ..._kept_short_<dtype> and ..._kept_wide_<dtype> of shorter and longer rows (RowKind).
//   floors: bytes of x over the memory's bandwidth; log_sum_exp: 18 operations an element over the ALU rate
#include "kernels/reduce.h"
#include "kernels/rows.h"

namespace beeswax::gpu {

/// The result of `row`, one without a center, over a row in registers; all of its threads get it.
template <int row, class Rows>
BW_DEVICE typename Rows::A result_of(const Rows& rows, typename Rows::A* partials) {
  using A = typename Rows::A;
  if constexpr (same_text(kReduceTexts[row].combine, kMaximumText)) {
    return rows.largest(partials);  // where it leaves a NaN aside, what is centered finds it again
  } else {
    static_assert(same_text(kReduceTexts[row].map, "x") && same_text(kReduceTexts[row].combine, "a + b"));
    const A sum = rows.template join<Add>(partials, [](A x) __attribute__((always_inline)) { return x; });
    return reduce_finish<reduce_kernel(row), A>(row, sum, static_cast<A>(rows.args.n), A(0));
  }
}

/// The results of Row over the rows of a block.
template <class Row, class Rows>
BW_DEVICE void reduce_kept(const RowsArgs& args, typename Rows::A (&partials)[2][Rows::kPartials]) {
  using A = typename Rows::A;
  const Rows rows(args);
  const A center = result_of<kReduceCenters[Row::kKernel]>(rows, partials[0]);
  const A value = rows.template join<Row>(
      partials[1], [&](A x) __attribute__((always_inline)) { return Row::map(x, center); });
  if (rows.left > 0 && rows.first == 0 && rows.t == 0)
    write_result<Row::kKernel, typename Rows::Element>(args.y, rows.row, value, center, args.n, Row::kKernel,
                                                       kReduceFinishes);
}

/// Blocks that a multiprocessor has the registers for.
template <class Rows>
constexpr uint32_t kept_blocks() {
  constexpr auto size = sizeof(typename Rows::Element);
  if (Rows::kWide) return size < 4 ? 2 : 1;
  return blocks_side_by_side(size) * kRowThreads / Rows::kBlock;
}
#define BW_KEPT_IN(kind, infix, Name, method, S, name)                                                \
  using Kept##Name##kind##_##name = RegisterRow<S, RowKind::kind>;                                    \
  BW_KERNEL_SIDE_BY_SIDE(Kept##Name##kind##_##name::kBlock, kept_blocks<Kept##Name##kind##_##name>()) \
  reduce_##method##_kept_##infix##name(RowsArgs args) {                                               \
    BW_SHARED static Compute<S> partials[2][Kept##Name##kind##_##name::kPartials];                    \
    reduce_kept<Name##Reduce, Kept##Name##kind##_##name>(args, partials);                             \
  }
#define BW_KEPT(Name, method, S, name)             \
  BW_KEPT_IN(Short, short_, Name, method, S, name) \
  BW_KEPT_IN(Usual, , Name, method, S, name)
#define BW_KEPT_WIDE(Name, method, S, name) \
  BW_KEPT(Name, method, S, name)            \
  BW_KEPT_IN(Wide, wide_, Name, method, S, name)
#define BW_KEPT_ROW(Name, method)        \
  BW_KEPT_WIDE(Name, method, float, f32) \
  BW_KEPT(Name, method, double, f64)     \
  BW_KEPT_WIDE(Name, method, f16, f16)   \
  BW_KEPT_WIDE(Name, method, bf16, bf16) \
  BW_KEPT(Name, method, f8e4m3, f8e4m3)
BW_KEPT_ROW(Var, var)
BW_KEPT_ROW(LogSumExp, log_sum_exp)

#define BW_REDUCE(Name, ...)                                             \
  static_assert((kReduceCenters[k##Name##Row] != reduce_center::NONE) == \
                (k##Name##Row == kVarRow || k##Name##Row == kLogSumExpRow));
#include "tables/reduce.def"

}  // namespace beeswax::gpu
