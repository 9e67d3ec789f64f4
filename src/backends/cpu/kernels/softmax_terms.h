// SPDX-License-Identifier: Apache-2.0
// The terms of a softmax in registers. Included by kernels only, after their namespace is chosen.
#pragma once

#include "backends/cpu/kernels/chunk_registers.h"
#include "backends/cpu/kernels/lines.h"
#include "core/math/log_sum_exp.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// The terms of a softmax in S: 2^kScaledExp e^x for x <= 0.
template <class S, class A = Compute<S>>
BW_FN Register<A> terms(Register<A> x) {
  return each<A>(larger<A>(Register<A>{} + m::kLeastScaledExp<A>, x), [](A v) __attribute__((always_inline)) {
    if constexpr (kNarrow<S>) {
      return m::scaled_exp_short(v);
    } else {
      return m::scaled_exp(v);
    }
  });
}

/// What terms of that sum are multiplied by, or what is subtracted from logarithms.
template <bool kLog, class A>
BW_FN A softmax_scale(A sum) {
  if constexpr (kLog) {
    return m::log_of_scaled(sum);
  } else {
    return A(1) / sum;
  }
}

/// What makes the terms of a row whose largest element is `top`, a register at a time; keeps them in e where
/// results are made of them.
template <class S, bool kLog, class A = Compute<S>>
BW_FN auto terms_kept(A top, A* e) {
  return [=](Register<A> v, int64_t i) __attribute__((always_inline)) {
    const Register<A> term = terms<S>(v - top);
    if constexpr (!kLog) keep(e + i, term);
    return term;
  };
}

/// `count` results, of terms e, or of elements x where they are logarithms; requests what is at `ahead`.
template <bool kLog, class S, class X, class A = Compute<S>>
BW_FN void write_softmax(const S* ahead, S* y, int64_t count, bool past, const X* x, const A* e, A top,
                         A scale) {
  if constexpr (kLog) {
    map_lines_requesting(
        ahead, y, count, past, [=](A v) __attribute__((always_inline)) { return (v - top) - scale; }, x);
  } else {
    map_lines_requesting(
        ahead, y, count, past, [=](A v) __attribute__((always_inline)) { return v * scale; }, e);
  }
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
