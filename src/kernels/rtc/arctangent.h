// SPDX-License-Identifier: Apache-2.0
// atan2 for kernels of users, in the manner of core/math: IEEE operations in written order, the same bits
// everywhere. Within three units of the last place.
#pragma once

#include "core/math/basic.h"

namespace beeswax::m {

/// (atan(r) - r) / r^3 in z = r^2, |r| <= sqrt(2) - 1: minimax, to 0.012 units of the last place of atan(r).
BW_FN float atan_tail(float z) {
  return polynomial(z, -0x1.55554ap-2f, 0x1.9991e6p-3f, -0x1.23ba04p-3f, 0x1.b22a2p-4f, -0x1.f30126p-5f);
}
BW_FN double atan_tail(double z) {
  return polynomial(z, -0x1.555555555553dp-2, 0x1.9999999995889p-3, -0x1.24924922ae5ep-3,
                    0x1.c71c70e676479p-4, -0x1.745cf8e7531e1p-4, 0x1.3b1119c97738ap-4, -0x1.10ebbed1e2515p-4,
                    0x1.df0f97f685a3p-5, -0x1.9cd3bf36b9cf7p-5, 0x1.37d75165e45a9p-5, -0x1.256c1034dd48bp-6);
}

/// The angle of the point (x, y), by C's rules for zeros and infinities.
template <Floating T>
BW_FN T atan2(T y, T x) {
  const T across = abs(x), up = abs(y);
  const bool steep = up > across;
  const T low = steep ? across : up, high = steep ? up : across;
  // Two infinities are as good as two ones, and two zeros lie on the axis.
  const T equal = low == T(0) ? T(0) : T(1);
  const T slope = low == high ? equal : low / high;
  // Between pi/8 and pi/4 as pi/4 + atan((slope - 1) / (slope + 1)).
  const bool far = slope > pick<T>(0x1.a8279ap-2f, 0x1.a827999fcef32p-2);
  const T r = far ? (slope - T(1)) / (slope + T(1)) : slope;
  const T z = r * r;
  const T angle = fma(z * r, atan_tail(z), r);
  // The octant: so many quarters of pi, plus the angle or less it.
  const bool left = (bits(x) & Fp<T>::kSign) != 0;
  const T first = far ? T(1) : T(0);
  const T second = steep ? T(2) - first : first;
  const T quarters = left ? T(4) - second : second;
  const T rest = steep != left ? -angle : angle;
  const T sum = fma(quarters, pick<T>(0x1.921fb6p-1f, 0x1.921fb54442d18p-1),
                    fma(quarters, pick<T>(-0x1.777a5cp-26f, 0x1.1a62633145c07p-55), rest));
  return copysign(sum, y);
}

}  // namespace beeswax::m
