// SPDX-License-Identifier: Apache-2.0
// What the kernels of storage dtypes are called with.
#pragma once

#include "kernels/args.h"

namespace beeswax::gpu {

inline constexpr int kStorageThreads = 256;
inline constexpr int kStorageElements = 4;  // of one thread: whole bytes of codes

/// Codes of `bits` bits, the first in the lowest bits of the first byte. `fraction` and `bias` are those of a
/// small float with a sign; fraction 0 means a power of two.
struct StorageArgs {
  const void* x;
  void* y;
  uint32_t count;
  uint32_t bits, fraction, bias;
};

}  // namespace beeswax::gpu
