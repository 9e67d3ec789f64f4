// SPDX-License-Identifier: Apache-2.0
// Reciprocals and square roots of floats that are known to be tame.
#pragma once

#include "core/math/basic.h"

namespace beeswax::m {

/// 1 / d from a guess that may be off by one unit in the last place, by steps of Newton's: what is left after
/// the second is rounded once unless all bits of d are ones (Markstein 1990), after the first for all but a
/// few d.
template <int steps>
BW_FN float reciprocal_from_guess(float d, float guess) {
  for (int i = 0; i < steps; ++i) guess = fma(fma(-d, guess, 1.0f), guess, guess);
  return guess;
}

/// 1 / d, rounded once, where d and the result are far from overflow and from subnormal numbers: on GPUs
/// without a general division's tests and its branch. Tests prove it for what is divided so, with as many
/// steps and every guess that a GPU may make (Half.ReciprocalsNeedNoExactGuess,
/// MathDivide.TanhNeedsNoExactGuess).
template <int steps>
BW_FN float reciprocal_tame(float d) {
#if defined(__AMDGCN__)
  return reciprocal_from_guess<steps>(d, __builtin_amdgcn_rcpf(d));
#elif defined(__CUDA_ARCH__) || defined(__NVPTX__)
  float guess;
  __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(d));
  return reciprocal_from_guess<steps>(d, guess);
#else
  return 1.0f / d;
#endif
}
template <int>
BW_FN double reciprocal_tame(double d) {
  return 1.0 / d;
}

/// sqrt(x) from a guess at 1 / sqrt(x): the root x guess, corrected by what its square leaves. Zero and
/// infinity are their own roots, and of negative numbers there is none.
BW_FN float sqrt_from_guess(float x, float guess) {
  const float first = x * guess;
  const float root = fma(fma(-first, first, x), 0.5f * guess, first);
  return x == 0.0f || x == infinity<float>() ? x : root;
}

/// sqrt(x) of a 16-bit float, which rounds to 16 bits as the exact one does: on GPUs without a general root's
/// test and its branch (Half.RootsNeedNoExactGuess tries every number with all guesses that a GPU may make).
BW_FN float sqrt_short(float x) {
#if defined(__AMDGCN__)
  // The instruction takes subnormal numbers for zeros.
  const bool small = abs(x) < 0x1p-96f;
  const float in = x * (small ? 0x1p64f : 1.0f);
  return sqrt_from_guess(in, __builtin_amdgcn_rsqf(in)) * (small ? 0x1p-32f : 1.0f);
#elif defined(__CUDA_ARCH__) || defined(__NVPTX__)
  float guess;
  __asm__("rsqrt.approx.f32 %0, %1;" : "=f"(guess) : "f"(x));
  return sqrt_from_guess(x, guess);
#else
  return sqrt(x);
#endif
}
BW_FN double sqrt_short(double x) { return sqrt(x); }

}  // namespace beeswax::m
