// SPDX-License-Identifier: Apache-2.0
// Matrix products on matrix units: f16 or bf16, summed in f32.
//   floors: 2 m n k over the rate of the matrix units; the bytes of a, b and c over the bandwidth
#include "kernels/gemm_mma_side.h"

namespace beeswax::gpu {

BW_GEMM_MMA(BW_KERNEL, f16, f16, f16)
BW_GEMM_MMA(BW_KERNEL, bf16, bf16, bf16)

}  // namespace beeswax::gpu
