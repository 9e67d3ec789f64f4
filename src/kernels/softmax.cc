// SPDX-License-Identifier: Apache-2.0
// softmax_<dtype> and its logarithm: rows in registers, softmax_short_<dtype> and softmax_wide_<dtype> for
// shorter and longer ones, softmax_loose_... for those that packs do not fit (RowKind);
// softmax_sum_<dtype> and softmax_apply_<dtype> for rows beyond (has_rows).
#include "kernels/reduce.h"
#include "kernels/softmax_rows.h"

namespace beeswax::gpu {

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
  apply_rows<S>(args, [&](uint32_t row) __attribute__((always_inline)) {
    const A top = static_cast<const A*>(args.first)[row];
    const A scale = softmax_scale(static_cast<const A*>(args.second)[row], args.flags);
    const bool logarithm = (args.flags & kRowsSecond) != 0;
    return [=](A x, int64_t) __attribute__((always_inline)) {
      return logarithm ? x - top - scale : softmax_term<S>(x - top) * scale;
    };
  });
}

/// Blocks that a multiprocessor has the registers for.
template <class Rows>
constexpr uint32_t softmax_blocks() {
  constexpr auto size = sizeof(typename Rows::Element);
  if (Rows::kWide && !Rows::kLoose) return size < 4 ? 2 : 1;
  constexpr uint32_t kNarrow = Rows::kOneChunk ? 4 : 3, kFloat = Rows::kOneChunk ? 5 : 4;
  const uint32_t blocks = Rows::kTurned ? 4 : Rows::kLoose || size == 4 ? kFloat : size < 4 ? kNarrow : 1;
  return blocks * kRowThreads / Rows::kBlock;
}
#define BW_SOFTMAX_IN(kind, infix, S, name)                                                        \
  using Softmax##kind##_##name = RegisterRow<S, RowKind::kind>;                                    \
  BW_KERNEL_SIDE_BY_SIDE(Softmax##kind##_##name::kBlock, softmax_blocks<Softmax##kind##_##name>()) \
  softmax_##infix##name(RowsArgs args) {                                                           \
    BW_SHARED static Softmax##kind##_##name::A partials[2][Softmax##kind##_##name::kPartials];     \
    BW_SHARED static TermsKept<Softmax##kind##_##name> waiting;                                    \
    const Softmax##kind##_##name rows(args);                                                       \
    softmax_rows(rows, args, partials, waiting);                                                   \
  }
#define BW_SOFTMAX_APPLY(S, name)                                     \
  BW_KERNEL(kReduceThreads) softmax_sum_##name(ReduceRowsArgs args) { \
    BW_SHARED static Compute<S> partials[kChunk];                     \
    reduce_rows<TermsReduce<S>, S>(args, partials);                   \
  }                                                                   \
  BW_KERNEL(kMapThreads) softmax_apply_##name(RowsApplyArgs args) { softmax_apply<S>(args); }
#define BW_SOFTMAX(S, name)             \
  BW_SOFTMAX_IN(Short, short_, S, name) \
  BW_SOFTMAX_IN(Usual, , S, name)       \
  BW_SOFTMAX_APPLY(S, name)
#define BW_SOFTMAX_MORE(S, name)                   \
  BW_SOFTMAX(S, name)                              \
  BW_SOFTMAX_IN(Wide, wide_, S, name)              \
  BW_SOFTMAX_IN(LooseShort, loose_short_, S, name) \
  BW_SOFTMAX_IN(Loose, loose_, S, name)            \
  BW_SOFTMAX_IN(LooseWide, loose_wide_, S, name)
BW_SOFTMAX_MORE(float, f32)
BW_SOFTMAX(double, f64)
BW_SOFTMAX_MORE(f16, f16)
BW_SOFTMAX_MORE(bf16, bf16)
BW_SOFTMAX(f8e4m3, f8e4m3)

}  // namespace beeswax::gpu
