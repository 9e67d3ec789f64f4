// SPDX-License-Identifier: Apache-2.0
// ReduceLoops::whole: chunks of a dtype's own elements. Included by kernels/reduce.cc after its namespace is
// chosen.
#pragma once

#include "backends/cpu/kernels/chunk_registers.h"
#include "backends/cpu/kernels/extreme_keys.h"
#include "backends/cpu/kernels/reduce_loops.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Sums of elements, or of their squares.
template <class A, class Src, bool kSquares>
void whole_sums(const void* from, int64_t stride, int64_t units, void* to) {
  constexpr int64_t kUnits = 64;
  const auto map = [](auto v) __attribute__((always_inline)) {
    if constexpr (kSquares) {
      return v * v;
    } else {
      return v;
    }
  };
  struct Add {
    BW_FN A combine(A a, A b) { return a + b; }
  };
  const Src* x = static_cast<const Src*>(from);
  A* out = static_cast<A*>(to);
  A left[kLeft<A> * kUnits];
  for (int64_t done = 0; done < units; done += kUnits) {
    const int64_t count = units - done < kUnits ? units - done : kUnits;
    for (int64_t u = 0; u < count; ++u, x += stride) chunk_in_registers<A>(x, left + kLeft<A> * u, map);
    fold_four<Add>(static_cast<const A*>(left), kLeft<A>, count, kLeft<A>, out + done);
  }
}

/// The largest or the least.
template <class A, class Src, bool kLargest>
void whole_extremes(const void* from, int64_t stride, int64_t units, void* to) {
  const Src* x = static_cast<const Src*>(from);
  A* out = static_cast<A*>(to);
  for (int64_t u = 0; u < units; ++u, x += stride) out[u] = static_cast<A>(extreme<kLargest>(x, kChunk));
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
