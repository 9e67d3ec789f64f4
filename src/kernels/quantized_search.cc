// SPDX-License-Identifier: Apache-2.0
// quantize_<format> for the K formats.
#include "kernels/quantized_search.h"

namespace beeswax::gpu {

#define BW_QUANTIZE_AFFINE(Name, name, size, levels, scales)                                  \
  BW_KERNEL_OF(kQuantizeThreads, 4) quantize_##name(QuantizeArgs args) {                      \
    BW_SHARED static AffineShared<size> shared[kQuantizeThreads * size / quant::kSuperBlock]; \
    quantize_affine<quant::Name, size, levels, scales>(args, shared);                         \
  }
BW_QUANTIZE_AFFINE(Q2_K, q2_k, 16, 3, 15)
BW_QUANTIZE_AFFINE(Q4_K, q4_k, 32, 15, 63)
BW_QUANTIZE_AFFINE(Q5_K, q5_k, 32, 31, 63)

#define BW_QUANTIZE_SYMMETRIC(Name, name, levels, scales)                \
  BW_KERNEL_OF(kQuantizeThreads, 4) quantize_##name(QuantizeArgs args) { \
    BW_SHARED static SymmetricShared shared[kQuantizeThreads / 16];      \
    quantize_symmetric<quant::Name, levels, scales>(args, shared);       \
  }
BW_QUANTIZE_SYMMETRIC(Q3_K, q3_k, 4, 32)
BW_QUANTIZE_SYMMETRIC(Q6_K, q6_k, 32, 128)

}  // namespace beeswax::gpu
