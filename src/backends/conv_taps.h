// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions as plain ones: the outputs of an axis that the same taps reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace beeswax {

/// The taps of one axis that reach outputs `first_output`, first_output + stride, ... Axis is an aggregate of
/// in, out, taps, step, tap_step and origin: the input position of output o and tap t is o step + t tap_step
/// + origin.
template <class Axis>
struct TapClass {
  int64_t first_output, first_tap, tap_stride;
  Axis axis;
};

/// Output o takes tap t from input position (o + padding - t dilation) / stride, where that divides. The taps
/// that one output takes lie stride / gcd(stride, dilation) apart, and so their positions dilation / gcd.
template <class Axis>
std::vector<TapClass<Axis>> tap_classes(int64_t in, int64_t out, int64_t taps, int64_t stride,
                                        int64_t padding, int64_t dilation) {
  const int64_t common = std::gcd(stride, dilation);
  const int64_t apart = stride / common;
  std::vector<TapClass<Axis>> classes;
  for (int64_t tap = 0; tap < std::min(apart, taps); ++tap) {
    int64_t first = (tap * dilation - padding) % stride;
    if (first < 0) first += stride;
    if (first >= out) continue;
    classes.push_back({first,
                       tap,
                       apart,
                       {in, (out - first - 1) / stride + 1, (taps - tap - 1) / apart + 1, 1,
                        -(dilation / common), (first + padding - tap * dilation) / stride}});
  }
  return classes;
}

}  // namespace beeswax
