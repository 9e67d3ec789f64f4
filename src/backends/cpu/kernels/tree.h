// SPDX-License-Identifier: Apache-2.0
// The documented order of sums (docs/numerics.md) over dense elements: element i goes to lane i mod 64 of its
// 512-element chunk, lanes add in order, a fixed tree joins the lanes, and the chunks' sums are added by the
// same rule again. Included by kernels, after their namespace is chosen.
#pragma once

#include <cstdint>

#include "beeswax/portable.h"

namespace beeswax::cpu {

inline constexpr int64_t kTreeChunk = 512;
inline constexpr int64_t kTreeLanes = 64;

/// Partial sums that a sequence of n elements needs room for.
inline constexpr int64_t tree_partials(int64_t n) { return (n + kTreeChunk - 1) / kTreeChunk; }

namespace BW_ISA {
namespace {

/// One chunk of count <= 512 elements.
template <class T>
BW_FN T tree_chunk(const T* x, int64_t count) {
  T lane[kTreeLanes];
  int64_t lanes = kTreeLanes;
  if (count == kTreeChunk) {
    for (int64_t l = 0; l < kTreeLanes; ++l) lane[l] = x[l];
    for (int64_t i = kTreeLanes; i < kTreeChunk; i += kTreeLanes)
      for (int64_t l = 0; l < kTreeLanes; ++l) lane[l] = static_cast<T>(lane[l] + x[i + l]);
  } else {
    lanes = count < kTreeLanes ? count : kTreeLanes;
    for (int64_t l = 0; l < lanes; ++l) lane[l] = x[l];
    for (int64_t i = kTreeLanes; i < count; ++i)
      lane[i % kTreeLanes] = static_cast<T>(lane[i % kTreeLanes] + x[i]);
  }
  for (int64_t half = kTreeLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l + half < lanes; ++l) lane[l] = static_cast<T>(lane[l] + lane[l + half]);
    lanes = lanes < half ? lanes : half;
  }
  return lane[0];
}

/// The sum of the chunks' sums; overwrites them.
template <class T>
BW_FN T tree_join(T* partials, int64_t count) {
  while (count > 1) {
    const int64_t chunks = tree_partials(count);
    for (int64_t c = 0; c < chunks; ++c) {
      const int64_t left = count - c * kTreeChunk;
      partials[c] = tree_chunk(partials + c * kTreeChunk, left < kTreeChunk ? left : kTreeChunk);
    }
    count = chunks;
  }
  return count == 1 ? partials[0] : T(0);
}

}  // namespace
}  // namespace BW_ISA
}  // namespace beeswax::cpu
