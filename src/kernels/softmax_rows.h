// SPDX-License-Identifier: Apache-2.0
// Softmax of rows in registers.
#pragma once

#include "core/math/log_sum_exp.h"
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
  if ((flags & kRowsSecond) != 0) return m::log_of_scaled(sum);
  return A(1) / sum;
}

/// Where a thread's terms are: terms take the registers of the elements. Those of narrow elements need more:
/// as many of them are kept as leave registers for three blocks at once, or for two wide ones; others wait in
/// shared memory, and what that does not hold either is made twice.
template <class Rows>
struct TermsKept {
// Chips whose threads have 64 registers in blocks of 1024: the elements take half of them.
#if defined(__gfx900__) || defined(__gfx906__)
  static constexpr bool kScarce = Rows::kBlock == 1024;
#else
  static constexpr bool kScarce = false;
#endif
  static constexpr bool kFit = !kScarce && (sizeof(typename Rows::Element) == sizeof(typename Rows::A) ||
                                            Rows::kOneChunk || Rows::kLoose);
  static constexpr uint32_t kTerms = Rows::kPacks * Rows::kOwn;
#if BW_NVIDIA
  static constexpr uint32_t kBytes = 40 << 10, kWideKeep = 28;
#else
  static constexpr uint32_t kBytes = 32 << 10, kWideKeep = 8;
#endif
  static constexpr uint32_t kMost = kBytes / (sizeof(float) * Rows::kBlock), kFour = 4;
  static constexpr uint32_t kKeep = kFit ? kTerms : kScarce ? 0 : Rows::kWide ? kWideKeep : kTerms * 5 / 8;
  static constexpr uint32_t kShared = kTerms - kKeep < kMost ? kTerms - kKeep : kMost;
  struct alignas(16) Four {
    float of[kFour];
  };
  Four rest[kShared > 0 ? kShared / kFour : 1][kShared > 0 ? Rows::kBlock : 1];

  /// The first one that is kept: of wide rows, those that wait come before, while registers still hold
  /// elements.
  static constexpr uint32_t kFirst = Rows::kWide ? kShared : 0;
  static constexpr bool kept(uint32_t i) { return kFirst <= i && i < kFirst + kKeep; }
  static constexpr bool waits(uint32_t i) { return !kept(i) && i < kKeep + kShared; }
  /// Term i of a thread, one that waits.
  BW_DEVICE_MEMBER float& at(uint32_t i, uint32_t of_thread) {
    const uint32_t place = i < kFirst ? i : i - kKeep;
    return rest[place / kFour][of_thread].of[place % kFour];
  }
};

/// The softmax of rows that are in registers, or its logarithm.
template <class Rows>
BW_DEVICE void softmax_rows(const Rows& rows, const RowsArgs& args,
                            typename Rows::A (&partials)[2][Rows::kPartials], TermsKept<Rows>& waiting) {
  using S = typename Rows::Element;
  using A = typename Rows::A;
  const A top = rows.largest(partials[0]);
  using Kept = TermsKept<Rows>;
  // Once for softmax and once for its logarithm: asked at each element, both would be computed, and one
  // chosen.
  const auto rest = [&](auto logarithm) __attribute__((always_inline)) {
    constexpr bool kLog = decltype(logarithm)::kCount != 0;
    constexpr bool kKeeps = !kLog || !Rows::kWide;  // differences are soon made
    A kept[kKeeps && Kept::kKeep > 0 ? Kept::kKeep : 1];
    const A sum = rows.template join<Add>(
        partials[1], [&](A x) __attribute__((always_inline)) { return softmax_term<S>(x - top); },
        [&](A x, A term, uint32_t i) __attribute__((always_inline)) {
          if (kKeeps && Kept::kept(i)) {
            kept[i - Kept::kFirst] = kLog ? x - top : term;
          } else if (!kLog && Kept::waits(i)) {
            waiting.at(i, thread()) = term;
          }
        });
    const A scale = softmax_scale(sum, args.flags);
    const uint32_t self = hidden(thread());  // or compilers would keep what is written in registers
    rows.store([](uint32_t) __attribute__((always_inline)) {},
               [&](A x, uint32_t i) __attribute__((always_inline)) {
                 if constexpr (kLog) {
                   return (kKeeps && Kept::kept(i) ? kept[i - Kept::kFirst] : x - top) - scale;
                 } else {
                   return scale * (Kept::kept(i)    ? kept[i - Kept::kFirst]
                                   : Kept::waits(i) ? waiting.at(i, self)
                                                    : softmax_term<S>(x - top));
                 }
               });
  };
  if ((args.flags & kRowsSecond) != 0) {
    rest(Count<1>());
  } else {
    rest(Count<0>());
  }
}

}  // namespace beeswax::gpu
