// SPDX-License-Identifier: Apache-2.0
// From random words to uniform and normal numbers: docs/numerics.md, "Random numbers". The functions for the
// host and GPU kernels are here; what the caller's bounds mean for a dtype is in random_bounds.h.
#pragma once

#include "core/math/log.h"
#include "core/math/trig.h"

namespace beeswax {

/// A uniform distribution in the type it is computed in (f32, or f64 for f64).
template <class A>
struct UniformIn {
  A lo, width;    // the bounds given: lo, and hi - lo rounded once
  A first, last;  // the smallest value of the dtype that is >= lo, and the largest one < hi
};

template <class A>
BW_FN A uniform_number(A unit, const UniformIn<A>& in) {
  const A value = in.lo + in.width * unit;
  const A low = value < in.first ? in.first : value;
  return low > in.last ? in.last : low;
}

/// In [0, 1): the upper 24 bits of a word; 53 bits of two.
BW_FN float unit_float(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
BW_FN double unit_double(uint32_t low, uint32_t high) {
  return static_cast<double>(high) * 0x1p-32 + static_cast<double>(static_cast<int32_t>(low >> 11)) * 0x1p-53;
}

/// Two independent standard normal numbers by the method of Box and Muller: radius from `u` in (0, 1], angle
/// of `turn` in [0, 1) full turns.
template <class A>
BW_FN void normal_pair(A u, A turn, A* first, A* second) {
  const A radius = m::sqrt(A(-2) * m::log_normal(u));
  A sine, cosine;
  m::sincos_turn(turn, &sine, &cosine);
  *first = radius * cosine;
  *second = radius * sine;
}
BW_FN void normal_floats(uint32_t a, uint32_t b, float* first, float* second) {
  normal_pair(static_cast<float>(a) * 0x1p-32f + 0x1p-33f, unit_float(b), first, second);
}
BW_FN void normal_doubles(const uint32_t* words, double* first, double* second) {
  normal_pair(unit_double(words[0], words[1]) + 0x1p-53, unit_double(words[2], words[3]), first, second);
}

}  // namespace beeswax
