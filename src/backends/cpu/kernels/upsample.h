// SPDX-License-Identifier: Apache-2.0
// The loops of upsampling for one instruction-set level: rows of outputs from rows of inputs.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace beeswax::cpu {

struct UpsampleKernels {
  /// to[i] = from[index[i]]; elements of 1, 2, 4, 8 bytes.
  void (*expand[4])(const void* from, const int32_t* index, int64_t count, void* to);
  /// to[2 i] = to[2 i + 1] = from[i].
  void (*twice[4])(const void* from, int64_t count, void* to);
  // Bilinear, in f32 [0] and f64 [1]: blend(a, b, w) = (1 - w) a + w b, and a or b alone where the weight of
  // the other is 0.
  /// to[i] = blend(from[low[i]], from[high[i]], weight[i])
  void (*across[2])(const void* from, const int32_t* low, const int32_t* high, const void* weight,
                    int64_t count, void* to);
  /// The same to twice the size without aligned corners: weights are 3/4 and 1/4 but at the ends.
  void (*across_twice[2])(const void* from, int64_t count, void* to);
  /// to[i] = blend(top[i], bottom[i], weight)
  void (*down[2])(const void* top, const void* bottom, double weight, int64_t count, void* to);
};
BW_KERNEL_TABLE(UpsampleKernels, upsample_kernels)

}  // namespace beeswax::cpu
