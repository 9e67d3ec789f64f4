// SPDX-License-Identifier: Apache-2.0
// Division of floats that are known to be tame.
#pragma once

#include "core/math/basic.h"

namespace beeswax::m {

/// a / d from a guess at 1 / d that may be off by one unit in the last place: the reciprocal made exact, and
/// the quotient corrected by what it leaves (Markstein 1990), which rounds once unless all bits of d are
/// ones.
BW_FN float divide_from_guess(float a, float d, float guess) {
  const float reciprocal = fma(fma(-d, guess, 1.0f), guess, guess);
  const float first = a * reciprocal;
  // With this sign zeros keep theirs. Infinities leave NaN, which the minimum drops.
  const float beyond = __builtin_fminf(fma(d, first, -a), 0x1.fffffep127f);
  return fma(-beyond, reciprocal, first);
}

/// a / d, rounded once, where both and the quotient are far from overflow and from subnormal numbers: on GPUs
/// without a general division's tests and its branch. Tests prove it for what is divided so, with every guess
/// that a GPU may make (Half.DivisionsNeedNoExactGuess, MathDivide.TanhNeedsNoExactGuess).
BW_FN float divide_tame(float a, float d) {
#if defined(__AMDGCN__)
  return divide_from_guess(a, d, __builtin_amdgcn_rcpf(d));
#elif defined(__CUDA_ARCH__) || defined(__NVPTX__)
  float guess;
  __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(d));
  return divide_from_guess(a, d, guess);
#else
  return a / d;
#endif
}
BW_FN double divide_tame(double a, double d) { return a / d; }

}  // namespace beeswax::m
