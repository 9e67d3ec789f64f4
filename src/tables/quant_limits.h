// SPDX-License-Identifier: Apache-2.0
// As gpu_limits.h, for the kernels of quantized weights.
#pragma once

namespace beeswax::gpu {

inline constexpr int kQuantThreads = 256;
inline constexpr int kDequantizeElements = 8;  // of one thread
inline constexpr int kQuantizeThreads = 64;    // each makes a block
/// Products of few rows: 32 threads make this many outputs of up to kMatVecColumns rows of x.
inline constexpr int kMatVecThreads = 128;
inline constexpr int kMatVecRows = 2;
inline constexpr int kMatVecColumns = 8;

/// Products of more rows: a block makes a tile of the result.
inline constexpr int kQuantMatmulThreads = 256;
inline constexpr int kQuantMatmulN = 128;    // rows of weights
inline constexpr int kQuantMatmulM = 64;     // rows of activations
inline constexpr int kQuantMatmulFrom = 17;  // rows of activations from which on it is worth it

}  // namespace beeswax::gpu
