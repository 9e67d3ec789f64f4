// SPDX-License-Identifier: Apache-2.0
// What the kernels of quantized weights are called with.
#pragma once

#include "kernels/args.h"
#include "tables/quant_limits.h"

namespace beeswax::gpu {

/// The dtype of floats that a kernel reads or writes, where that is no more than a branch.
inline constexpr uint32_t kFloatF32 = 0;
inline constexpr uint32_t kFloatF16 = 1;
inline constexpr uint32_t kFloatBF16 = 2;

/// A block of 32 activations as bytes: value = d q; sum is that of the bytes.
struct ActivationScale {
  float d;
  int32_t sum;
};

/// `blocks` to or from floats; `count` is in units of what a thread makes (tables/quant_limits.h).
struct DequantizeArgs {
  const void* blocks;
  void* y;
  uint32_t count;
  uint32_t dtype;
};
struct QuantizeArgs {
  const float* x;
  const float* importance;  // one weight per column, or null
  void* blocks;
  uint32_t count, per_row;  // in blocks
};

/// Rows of activations, end to end, to bytes. For weight blocks of 32 `scales` is ActivationScale for each 32
/// values; for those of 256 it is a float for each 256, and `sums` has those of each 16 bytes.
struct ActivationsArgs {
  const void* x;
  void* q;
  void* scales;
  int16_t* sums;
  uint32_t count;  // blocks
  uint32_t dtype;
};

/// y[m, n] = activations [m, k] times the transpose of blocks [n, k].
struct QuantizedMatmulArgs {
  const void* blocks;
  const void* q;
  const void* scales;
  const int16_t* sums;
  void* y;
  uint32_t m, n, k;
  uint32_t dtype;
};

}  // namespace beeswax::gpu
