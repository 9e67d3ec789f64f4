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

}  // namespace beeswax::gpu
