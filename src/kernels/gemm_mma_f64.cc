// SPDX-License-Identifier: Apache-2.0
// Matrix products of f64 on matrix units that have it: CDNA 2 and later, and NVIDIA from sm_80 on.
//   floors: 2 m n k over the rate of the units, twice that of fused multiply-adds on the cards made for f64;
//   the bytes of a, b and c over the bandwidth
#include "kernels/gemm_mma_side.h"

namespace beeswax::gpu {

BW_GEMM_MMA(BW_KERNEL_OF_REGISTERS, double, double, f64)

}  // namespace beeswax::gpu
