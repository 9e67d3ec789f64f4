// SPDX-License-Identifier: Apache-2.0
// softmax_<dtype> and its logarithm: rows in registers, softmax_wide_<dtype> for longer ones;
// softmax_sum_<dtype> and softmax_apply_<dtype> for rows beyond.
#include "kernels/reduce.h"
#include "kernels/rows.h"

namespace beeswax::gpu {

/// 2^kScaledExp e^x for x <= 0.
template <class S, class A = Compute<S>>
BW_DEVICE A softmax_term(A x) {
  const A held = m::kLeastScaledExp<A> > x ? m::kLeastScaledExp<A> : x;  // NaN stays
  if constexpr (m::Narrow<S>) {
    return m::scaled_exp_short(held);
  } else {
    return m::scaled_exp(held);
  }
}
/// What all elements of a row are scaled by, or what is subtracted.
template <class A>
BW_DEVICE A softmax_scale(A sum, uint32_t flags) {
  if ((flags & kRowsSecond) != 0) return m::log(sum * (A(1) / m::scaled_exp_unit<A>()));
  return A(1) / sum;
}

template <class S, int threads>
BW_DEVICE void softmax_rows(const RowsArgs& args,
                            Compute<S> (&partials)[2][RegisterRow<S, threads>::kGroups]) {
  using A = Compute<S>;
  RegisterRow<S, threads> rows(args);
  const bool log = (args.flags & kRowsSecond) != 0;
  const A top = rows.largest(partials[0]);
  const A sum = rows.template join<Add, false>(
      partials[1], [top](A x) __attribute__((always_inline)) { return softmax_term<S>(x - top); });
  const A scale = softmax_scale(sum, args.flags);
  // Terms are made twice: keeping them takes registers, of which there are just enough for 1024 threads.
  rows.store([](uint32_t) __attribute__((always_inline)) {},
             [&](A x, uint32_t) __attribute__((always_inline)) {
               return log ? (x - top) - scale : softmax_term<S>(x - top) * scale;
             });
}

/// The sum of a row's terms, as a row of reduce.def with the maximum for its center.
template <class S>
struct TermsReduce : Add {
  static constexpr int kKernel = kSumRow;
  static constexpr bool kMaps = true;
  static constexpr bool kHasCenter = true;
  static constexpr bool kLargest = false;
  static constexpr bool kHeavy = true;
  template <class A>
  BW_DEVICE_MEMBER static A map(A x, A c) {
    return softmax_term<S>(x - c);
  }
};

template <class S>
BW_DEVICE void softmax_apply(const RowsApplyArgs& args) {
  using A = Compute<S>;
  apply_rows<S>(args, [&](A x, uint32_t row, int64_t) __attribute__((always_inline)) {
    const A distance = x - static_cast<const A*>(args.first)[row];
    const A scale = softmax_scale(static_cast<const A*>(args.second)[row], args.flags);
    return (args.flags & kRowsSecond) != 0 ? distance - scale : softmax_term<S>(distance) * scale;
  });
}

#define BW_SOFTMAX_IN(infix, threads, blocks, S, name)                           \
  BW_KERNEL_SIDE_BY_SIDE(threads, blocks) softmax_##infix##name(RowsArgs args) { \
    BW_SHARED static Compute<S> partials[2][RegisterRow<S, threads>::kGroups];   \
    softmax_rows<S, threads>(args, partials);                                    \
  }
#define BW_SOFTMAX(S, name)                                           \
  BW_SOFTMAX_IN(, kRowThreads, 1, S, name)                            \
  BW_KERNEL(kReduceThreads) softmax_sum_##name(ReduceRowsArgs args) { \
    BW_SHARED static Compute<S> partials[kChunk];                     \
    reduce_rows<TermsReduce<S>, S>(args, partials);                   \
  }                                                                   \
  BW_KERNEL(kMapThreads) softmax_apply_##name(RowsApplyArgs args) { softmax_apply<S>(args); }
BW_SOFTMAX(float, f32)
BW_SOFTMAX(double, f64)
BW_SOFTMAX(f16, f16)
BW_SOFTMAX(bf16, bf16)
BW_SOFTMAX(f8e4m3, f8e4m3)
// Two blocks of the others would not have the registers.
BW_SOFTMAX_IN(wide_, wide_row_threads(sizeof(float)), 1, float, f32)
BW_SOFTMAX_IN(wide_, wide_row_threads(sizeof(f16)), 2, f16, f16)
BW_SOFTMAX_IN(wide_, wide_row_threads(sizeof(bf16)), 1, bf16, bf16)
BW_SOFTMAX_IN(wide_, wide_row_threads(sizeof(f8e4m3)), 1, f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
