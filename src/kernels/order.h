// SPDX-License-Identifier: Apache-2.0
// The documented order of sums (docs/numerics.md) in threads: a chunk of 512 elements belongs to 16 threads,
// each of which has 4 of its 64 lanes; threads join lanes by exchanges within their wave, 32 or 64 wide
// alike.
#pragma once

#include "core/math/math.h"
#include "kernels/elements.h"
#include "kernels/reduce_args.h"

namespace beeswax::gpu {

/// Blocks of 256 threads that have their share of a row in registers, elements of `bytes` bytes.
constexpr int blocks_side_by_side(int bytes) { return bytes > 4 ? 2 : 4; }

/// The joint of a sum.
struct Add {
  template <class A>
  BW_DEVICE_MEMBER static A combine(A a, A b) {
    return static_cast<A>(a + b);
  }
  /// What changes nothing: lanes begin with it, and lanes without elements keep it.
  template <class A>
  BW_DEVICE_MEMBER static A none() {
    if constexpr (m::Floating<A>) {
      return A(-0.0);
    } else {
      return A(0);
    }
  }
};
/// The largest number; NaNs, and which zero it is, are left open.
struct Largest {
  template <class A>
  BW_DEVICE_MEMBER static A combine(A a, A b) {
    return a > b ? a : b;
  }
  template <class A>
  BW_DEVICE_MEMBER static A none() {
    return -m::infinity<A>();
  }
};

/// The lanes of a group of `width` threads joined, for threads that have lanes 4 t and on; all threads get
/// the result.
template <class Joint, class A>
BW_DEVICE A join_packed(A (&v)[kOwnLanes], uint32_t width) {
  if (sizeof(A) == 4 && width == kChunkThreads) {
    // Each of two threads goes on with half of what they have, and so for a quarter: 7 exchanges, not 16.
    const bool third = (thread() & 8) != 0, second = (thread() & 4) != 0;
    const A a = Joint::combine(third ? v[2] : v[0], shuffle_xor(third ? v[0] : v[2], 8));
    const A b = Joint::combine(third ? v[3] : v[1], shuffle_xor(third ? v[1] : v[3], 8));
    A all = Joint::combine(second ? b : a, shuffle_xor(second ? a : b, 4));
    all = Joint::combine(all, shuffle_xor(all, 2));
    all = Joint::combine(all, shuffle_xor(all, 1));
    all = Joint::combine(all, shuffle_xor(all, 8));
    return Joint::combine(all, shuffle_xor(all, 4));
  }
#pragma unroll
  for (uint32_t half = kChunkThreads / 2; half > 0; half /= 2) {
    if (half >= width) continue;
#pragma unroll
    for (uint32_t j = 0; j < kOwnLanes; ++j) v[j] = Joint::combine(v[j], shuffle_xor(v[j], half));
  }
  return Joint::combine(Joint::combine(v[0], v[2]), Joint::combine(v[1], v[3]));
}
/// The same for threads that have lanes t, t + width, t + 2 width and t + 3 width.
template <class Joint, class A>
BW_DEVICE A join_spread(A (&v)[kOwnLanes], uint32_t width) {
  A all = Joint::combine(Joint::combine(v[0], v[2]), Joint::combine(v[1], v[3]));
#pragma unroll
  for (uint32_t half = kChunkThreads / 2; half > 0; half /= 2)
    if (half < width) all = Joint::combine(all, shuffle_xor(all, half));
  return all;
}

/// Chunks' results, at most kChunk of them, joined; `count` is 0 in groups that only take part in exchanges.
template <class Joint, class A>
BW_DEVICE A join_partials(const A* partials, uint32_t count, uint32_t t) {
  A v[kOwnLanes];
#pragma unroll
  for (A& lane : v) lane = Joint::template none<A>();
#pragma unroll 1
  for (uint32_t i = t; i < count; i += kLanes) {
#pragma unroll
    for (uint32_t j = 0; j < kOwnLanes; ++j)
      if (i + j * kChunkThreads < count) v[j] = Joint::combine(v[j], partials[i + j * kChunkThreads]);
  }
  return join_spread<Joint>(v, kChunkThreads);
}

/// The offset of element `first` + i of a row; one axis may have any length, several together 2^31.
BW_DEVICE int64_t offset_in_row(const ReducedAxes& axes, uint32_t first, uint32_t i) {
  if (axes.rank == 1) return (static_cast<int64_t>(first) + i) * axes.strides[0];
  uint32_t index = first + i;
  int64_t offset = 0;
#pragma unroll
  for (int axis = 0; axis < kMostReducedAxes; ++axis) {
    if (axis >= axes.rank) break;
    const uint32_t rest = divide(index, axes.dims[axis]);
    offset += static_cast<int64_t>(index - rest * axes.dims[axis].divisor) * axes.strides[axis];
    index = rest;
  }
  return offset;
}
BW_DEVICE int64_t row_offset(const Walk<1>& walk, uint32_t row) {
  int64_t offset[1];
  offsets_at(walk, row, offset);
  return offset[0];
}

}  // namespace beeswax::gpu
