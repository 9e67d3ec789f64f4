// SPDX-License-Identifier: Apache-2.0
// The terms of a softmax in registers. Included by kernels only, after their namespace is chosen.
#pragma once

#include "backends/cpu/kernels/chunk_registers.h"
#include "backends/cpu/kernels/lines.h"
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
    return m::log(sum * (A(1) / m::scaled_exp_unit<A>()));
  } else {
    return A(1) / sum;
  }
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
