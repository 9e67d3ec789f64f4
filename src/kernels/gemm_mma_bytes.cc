// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes on matrix units.
//   f8e4m3  is widened to f16, exactly, on its way to shared memory, and the units of f16 sum in f32: that
//           holds the bound of every dtype. The units' own f8 does not: Hopper's keeps about 14 bits of a
//           sum, and gfx942's is another format (fnuz). floors: 2 m n k over the rate of f16; the bytes over
//           the bandwidth; and some 10 instructions for two elements of a and b in each tile, m n k / 64
//           elements in all
//   u8      32-bit sums, exact: they wrap, and the low 8 bits are the result. floors: 2 m n k over the rate
//   of
//           the units for bytes, on most families twice that of f16; the bytes over the bandwidth
#include "kernels/gemm_mma_side.h"

namespace beeswax::gpu {

BW_GEMM_MMA(BW_KERNEL, f8e4m3, f16, f8e4m3)
BW_GEMM_MMA(BW_KERNEL, uint8_t, uint8_t, u8)

}  // namespace beeswax::gpu
