// SPDX-License-Identifier: Apache-2.0
// What the kernels of random numbers are called with.
#pragma once

#include "core/philox.h"
#include "kernels/args.h"

namespace beeswax::gpu {

inline constexpr uint32_t kRandomF32 = 0;
inline constexpr uint32_t kRandomF16 = 1;
inline constexpr uint32_t kRandomBF16 = 2;
inline constexpr uint32_t kRandomF8E4M3 = 3;

/// From block `block` of a stream on. A is what numbers are computed in.
template <class A>
struct RandomDrawArgs {
  void* y;
  uint32_t count;
  uint32_t dtype;
  uint64_t block;
  PhiloxKeys keys;
  A a, b;         // the lower bound and the width, or mean and deviation
  A first, last;  // the least and the largest number of the dtype within the bounds
};

}  // namespace beeswax::gpu
