// SPDX-License-Identifier: Apache-2.0
// Matrix products of f32 whose operands are rounded to 11 significant bits, by choice, on matrix units that
// have it: NVIDIA from sm_80 on, and gfx942. Sums are f32.
//   floors: 2 m n k over the rate of the units, half that of f16; the bytes of a, b and c over the bandwidth
#include "kernels/gemm_mma_side.h"

namespace beeswax::gpu {

BW_GEMM_MMA(BW_KERNEL, float, Tf32, tf32)

}  // namespace beeswax::gpu
