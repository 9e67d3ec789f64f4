// SPDX-License-Identifier: Apache-2.0
#include "kernels/index_sum.h"

BW_INDEX_ADD(beeswax::bf16, bf16, beeswax::gpu::kAddPack)
BW_INDEX_ADD(beeswax::f16, f16, beeswax::gpu::kAddPack)
BW_INDEX_ADD(float, f32, beeswax::gpu::kAddPack)
BW_INDEX_ADD(double, f64, beeswax::gpu::kAddPack / 2)
BW_INDEX_ADD(beeswax::f8e4m3, f8e4m3, beeswax::gpu::kAddPack)
