// SPDX-License-Identifier: Apache-2.0
// The documented order of sums (docs/numerics.md) in threads: a chunk of 512 elements belongs to 16 threads,
// each of which has 4 of its 64 lanes, or to 8 that have 8; threads join lanes by exchanges within their
// wave, 32 or 64 wide alike.
#pragma once

#include "core/math/math.h"
#include "kernels/elements.h"
#include "kernels/reduce_args.h"

namespace beeswax::gpu {

/// Blocks of 256 threads that have their share of a row in registers, elements of `bytes` bytes.
constexpr uint32_t blocks_side_by_side(int bytes) { return bytes > 4 ? 2 : 4; }

/// A number that functions take as a constant.
template <uint32_t count>
struct Count {
  static constexpr uint32_t kCount = count;
};

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
    if constexpr (kMaximumInOne && __is_same(A, float)) return __builtin_fmaxf(a, b);
    return a > b ? a : b;
  }
  template <class A>
  BW_DEVICE_MEMBER static A none() {
    return -m::infinity<A>();
  }
};

/// A thread's own lanes joined, the last levels of the tree, or the first.
template <class Joint, uint32_t own, class A>
BW_DEVICE A join_own(A (&v)[own]) {
#pragma unroll
  for (uint32_t half = own / 2; half > 0; half /= 2) {
#pragma unroll
    for (uint32_t j = 0; j < half; ++j) v[j] = Joint::combine(v[j], v[j + half]);
  }
  return v[0];
}
// Lanes joined over threads whose numbers differ by `half` and its halves: each of two goes on with half of
// what they have, while it has several, so that 4 lanes of 16 threads take 5 exchanges, not 16, and 8 lanes
// of 8 take 7, not 24. A thread is left with one lane, or with several where it has more than there are
// threads.
template <class Joint, uint32_t half, uint32_t own, class A>
BW_DEVICE void exchange_lanes(A* v) {
  if constexpr (half > 0) {
    constexpr uint32_t kKept = own > 1 ? own / 2 : 1;
    if constexpr (own == 1) {
      v[0] = Joint::combine(v[0], shuffle_xor(v[0], half));
    } else {
      const bool upper = (thread() & half) != 0;
#pragma unroll
      for (uint32_t j = 0; j < kKept; ++j) {
        const A first = v[j], second = v[j + kKept];
        v[j] = Joint::combine(upper ? second : first, shuffle_xor(upper ? first : second, half));
      }
    }
    exchange_lanes<Joint, half / 2, kKept>(v);
  }
}
// The lanes that are left joined, in the order in which they were parted.
template <class Joint, uint32_t half, uint32_t own, class A>
BW_DEVICE A exchange_own(A lane) {
  if constexpr (own == 1) {
    return lane;
  } else {
    return exchange_own<Joint, half / 2, own / 2>(Joint::combine(lane, shuffle_xor(lane, half)));
  }
}
/// The lanes of a group of `width` threads joined, for threads that have lanes own t and on; all threads get
/// the result. There are `lanes` of them, the lower ones of kLanes, to which the others are joined already.
template <class Joint, uint32_t lanes = kLanes, uint32_t own, class A>
BW_DEVICE A join_packed(A (&v)[own], uint32_t width) {
  constexpr uint32_t kThreads = lanes / own;
  if (sizeof(A) == 4 && width == kThreads) {
    exchange_lanes<Joint, kThreads / 2, own>(v);
    constexpr uint32_t kLeft = own > kThreads ? own / kThreads : 1;
    A left[kLeft];
#pragma unroll
    for (uint32_t j = 0; j < kLeft; ++j) left[j] = exchange_own<Joint, kThreads / 2, own / kLeft>(v[j]);
    return join_own<Joint>(left);
  }
#pragma unroll
  for (uint32_t half = kThreads / 2; half > 0; half /= 2) {
    if (half >= width) continue;
#pragma unroll
    for (uint32_t j = 0; j < own; ++j) v[j] = Joint::combine(v[j], shuffle_xor(v[j], half));
  }
  return join_own<Joint>(v);
}
/// The same for threads that have lanes t, t + width, t + 2 width, ...
template <class Joint, uint32_t own, class A>
BW_DEVICE A join_spread(A (&v)[own], uint32_t width) {
  A all = join_own<Joint>(v);
#pragma unroll
  for (uint32_t half = kLanes / own / 2; half > 0; half /= 2)
    if (half < width) all = Joint::combine(all, shuffle_xor(all, half));
  return all;
}

/// Chunks' results, at most kChunk of them, joined by kLanes / own threads; `count` is 0 in groups that only
/// take part in exchanges.
template <class Joint, uint32_t own = kOwnLanes, class A>
BW_DEVICE A join_partials(const A* partials, uint32_t count, uint32_t t) {
  constexpr uint32_t kThreads = kLanes / own;
  A v[own];
#pragma unroll
  for (A& lane : v) lane = Joint::template none<A>();
#pragma unroll 1
  for (uint32_t i = t; i < count; i += kLanes) {
#pragma unroll
    for (uint32_t j = 0; j < own; ++j)
      if (i + j * kThreads < count) v[j] = Joint::combine(v[j], partials[i + j * kThreads]);
  }
  return join_spread<Joint>(v, kThreads);
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
  if (walk.rank <= 1) return row * walk.strides[0][0];
  int64_t offset[1];
  offsets_at(walk, row, offset);
  return offset[0];
}

}  // namespace beeswax::gpu
