// SPDX-License-Identifier: Apache-2.0
// Sums in the documented order (docs/numerics.md) over dense elements of any type: element i goes to lane i
// mod 64 of its 512-element chunk, lanes add in order, a fixed tree joins the lanes, and the chunks' sums are
// added by the same rule again. Included by kernels, after their namespace is chosen.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/chunk_registers.h"
#include "beeswax/portable.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Joins the first `lanes` lanes.
template <class T>
BW_FN T tree_of(T* lane, int64_t lanes) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l + half < lanes; ++l) lane[l] = static_cast<T>(lane[l] + lane[l + half]);
    lanes = lanes < half ? lanes : half;
  }
  return lane[0];
}

/// The sum of map(x[i]) over one chunk of 0 < count <= 512 elements, in A; map takes elements of A, and
/// registers of floats.
template <class A, class T, class Map>
BW_FN A tree_chunk(const T* x, int64_t count, Map map) {
  if constexpr (kWidens<T>) {
    if (count % kLanes == 0) {
      A left[kLeft<A>];
      chunk_in_registers<A>(x, left, map, count);
      if constexpr (kLeft<A> == 4) {
        left[0] += left[2];
        left[1] += left[3];
      }
      return left[0] + left[1];
    }
  }
  A lane[kLanes];
  const int64_t lanes = count < kLanes ? count : kLanes;
  for (int64_t l = 0; l < lanes; ++l) lane[l] = map(static_cast<A>(x[l]));
  for (int64_t i = kLanes; i < count; i += kLanes) {
    const int64_t width = count - i < kLanes ? count - i : kLanes;
    for (int64_t l = 0; l < width; ++l) lane[l] = static_cast<A>(lane[l] + map(static_cast<A>(x[i + l])));
  }
  return tree_of(lane, lanes);
}
template <class T>
BW_FN T tree_chunk(const T* x, int64_t count) {
  return tree_chunk<T>(x, count, [](auto v) __attribute__((always_inline)) { return v; });
}

/// The sum of the chunks' sums; overwrites them.
template <class T>
BW_FN T tree_join(T* partials, int64_t count) {
  while (count > 1) {
    const int64_t chunks = chunks_of(count);
    for (int64_t c = 0; c < chunks; ++c) {
      const int64_t left = count - c * kChunk;
      partials[c] = tree_chunk(static_cast<const T*>(partials + c * kChunk), left < kChunk ? left : kChunk);
    }
    count = chunks;
  }
  return count == 1 ? partials[0] : T(0);
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
