// SPDX-License-Identifier: Apache-2.0
// softmax_<dtype> and its logarithm: rows in registers, softmax_short_<dtype> and softmax_wide_<dtype> for
// shorter and longer ones, softmax_loose_... for those that packs do not fit (RowKind);
// softmax_sum_<dtype> and softmax_apply_<dtype> for rows beyond (has_rows).
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

/// Where a thread's terms are: terms take the registers of the elements. Those of narrow elements need more:
/// as many of them are kept as leave registers for three blocks at once, or for two wide ones; further ones
/// wait in shared memory, and what that does not hold either is made twice.
template <class Rows>
struct TermsKept {
  static constexpr bool kFit =
      sizeof(typename Rows::Element) == sizeof(typename Rows::A) || Rows::kOneChunk || Rows::kLoose;
  static constexpr uint32_t kPacks = kFit ? Rows::kPacks : Rows::kPacks * (Rows::kWide ? 1 : 5) / 8;
  static constexpr uint32_t kRegisters = kPacks * Rows::kOwn, kRest = Rows::kPacks * Rows::kOwn - kRegisters;
  static constexpr uint32_t kFour = 4, kMost = (32 << 10) / (sizeof(float) * Rows::kBlock);
  static constexpr uint32_t kShared = kRest < kMost ? kRest : kMost;
  struct alignas(16) Four {
    float of[kFour];
  };
  Four rest[kShared > 0 ? kShared / kFour : 1][kShared > 0 ? Rows::kBlock : 1];
  /// Term kRegisters + i of a thread.
  BW_DEVICE_MEMBER float& at(uint32_t i, uint32_t of_thread) {
    return rest[i / kFour][of_thread].of[i % kFour];
  }
};

template <class Rows>
BW_DEVICE void softmax_rows(const RowsArgs& args, typename Rows::A (&partials)[2][Rows::kGroups],
                            TermsKept<Rows>& waiting) {
  using S = typename Rows::Element;
  using A = typename Rows::A;
  Rows rows(args);
  const A top = rows.largest(partials[0]);
  using Kept = TermsKept<Rows>;
  constexpr uint32_t kKept = Kept::kRegisters;
  // Once for softmax and once for its logarithm: asked at each element, both would be computed, and one
  // chosen.
  const auto rest = [&](auto logarithm) __attribute__((always_inline)) {
    constexpr bool kLog = decltype(logarithm)::kCount != 0;
    A kept[kKept > 0 ? kKept : 1];
    const A sum = rows.template join<Add>(
        partials[1], [&](A x) __attribute__((always_inline)) { return softmax_term<S>(x - top); },
        [&](A x, A term, uint32_t i) __attribute__((always_inline)) {
          if (i < kKept) {
            kept[i] = kLog ? x - top : term;
          } else if (!kLog && i < kKept + Kept::kShared) {
            waiting.at(i - kKept, thread()) = term;
          }
        });
    const A scale = softmax_scale(sum, args.flags);
    const uint32_t self = hidden(thread());  // or compilers would keep what is written in registers
    rows.store([](uint32_t) __attribute__((always_inline)) {},
               [&](A x, uint32_t i) __attribute__((always_inline)) {
                 if constexpr (kLog) return (i < kKept ? kept[i] : x - top) - scale;
                 return scale * (i < kKept                   ? kept[i]
                                 : i < kKept + Kept::kShared ? waiting.at(i - kKept, self)
                                                             : softmax_term<S>(x - top));
               });
  };
  if ((args.flags & kRowsSecond) != 0) {
    rest(Count<1>());
  } else {
    rest(Count<0>());
  }
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
    BW_SHARED static Softmax##kind##_##name::A partials[2][Softmax##kind##_##name::kGroups];       \
    BW_SHARED static TermsKept<Softmax##kind##_##name> waiting;                                    \
    softmax_rows<Softmax##kind##_##name>(args, partials, waiting);                                 \
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
