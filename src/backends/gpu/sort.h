// SPDX-License-Identifier: Apache-2.0
// Sorting numbers that are on the GPU, for operations that bring equal ones together.
#pragma once

#include "backends/gpu/backend.h"

namespace beeswax::gpu {

/// Numbers in increasing order, and where each stood; equal ones keep their order.
struct SortedNumbers {
  detail::Ref<Storage> numbers;  // u32
  detail::Ref<Storage> places;   // u32
};
/// Sorts `count` numbers below 2^bits, which it may overwrite.
SortedNumbers sort_numbers(GpuBackend& backend, Gpu& gpu, detail::Ref<Storage> numbers, int64_t count,
                           int bits);

}  // namespace beeswax::gpu
