// SPDX-License-Identifier: Apache-2.0
// Loops of sorting that look at elements: turning them into keys whose unsigned order is the documented one.
//
// An item is a key with the element's position in its row. Positions differ, so ordering items by (key,
// position) is ordering the row stably.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// Elements of up to 32 bits: the key above, the position below, so that items compare as integers.
using NarrowItem = uint64_t;

/// Elements of 64 bits.
struct WideItem {
  uint64_t key;
  uint64_t id;
};

struct SortKernels {
  /// By dtype: items[i] = {key of x[i], first + i} for i < count. Items are wide where the dtype has 64 bits.
  /// Equal keys: equal elements, both zeros, and all NaNs, which have the greatest key in both directions.
  void (*pack[kArithmeticDTypeCount])(const void* x, int64_t count, uint64_t first, bool ascending,
                                      void* items);
  /// By log2 of the element's bytes: out[i] = x[ids[i]].
  void (*take[4])(const void* x, const uint32_t* ids, int64_t count, void* out);
};

BW_KERNEL_TABLE(SortKernels, sort_kernels)

}  // namespace beeswax::cpu
