// SPDX-License-Identifier: Apache-2.0
// Loops of binary operations, comparisons, affine and where, over dense elements of one compute type.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"

namespace beeswax::cpu {

inline constexpr size_t kBinaryOps = 0
#define BW_BINARY(...) +1
#include "tables/binary.def"
    ;
inline constexpr size_t kCompareOps = 0
#define BW_COMPARE(...) +1
#include "tables/binary.def"
    ;

/// out[i] = f(x[i], y[i]); returns how many elements broke the row's guard (an integer y of 0).
using BinaryLoop = int64_t (*)(const void* x, const void* y, void* out, int64_t count);
using CompareLoop = void (*)(const void* x, const void* y, uint8_t* out, int64_t count);
/// out[i] = x[i] * mul + add; mul and add point to one element each.
using AffineLoop = void (*)(const void* x, void* out, int64_t count, const void* mul, const void* add);

struct BinaryKernels {
  BinaryLoop loops[kComputeTypes][kBinaryOps];  ///< null where a float-only row meets an integer type
};
struct CompareKernels {
  CompareLoop loops[kComputeTypes][kCompareOps];
  AffineLoop affine[kComputeTypes];
  /// mask[i] = x[i] != 0 ? 255 : 0, by log2 of the element size.
  void (*mask[4])(const void* x, uint8_t* mask, int64_t count);
  /// out[i] = mask[i] ? x[i] : y[i], by log2 of the element size; bits are moved, not values.
  void (*select[4])(const uint8_t* mask, const void* x, const void* y, void* out, int64_t count);
};

BW_KERNEL_TABLE(BinaryKernels, binary_kernels)
BW_KERNEL_TABLE(CompareKernels, compare_kernels)

}  // namespace beeswax::cpu
