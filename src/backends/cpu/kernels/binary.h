// SPDX-License-Identifier: Apache-2.0
// Loops of binary operations, comparisons, affine and where, over dense elements.
#pragma once

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

inline constexpr size_t kBinaryOps = 0
#define BW_BINARY(...) +1
#include "tables/binary.def"
    ;
inline constexpr size_t kCompareOps = 0
#define BW_COMPARE(...) +1
#include "tables/binary.def"
    ;

/// Loops over dense elements of one dtype. `out` may be x or y; past_caches: it is 64-byte aligned and
/// bypasses the caches (fence() of copy.h then makes it visible to other threads). out[i] = f(x[i], y[i]);
/// returns not 0 if an element broke the row's guard (an integer y of 0).
using BinaryLoop = int64_t (*)(const void* x, const void* y, void* out, int64_t count, bool past_caches);
using CompareLoop = void (*)(const void* x, const void* y, uint8_t* out, int64_t count, bool past_caches);
/// out[i] = x[i] * mul + add; mul and add point to one element each of the compute dtype.
using AffineLoop = void (*)(const void* x, void* out, int64_t count, const void* mul, const void* add,
                            bool past_caches);
/// out[i] = condition[i] != 0 ? x[i] : y[i]; bits are moved, not values.
using WhereLoop = void (*)(const void* condition, const void* x, const void* y, void* out, int64_t count,
                           bool past_caches);

struct BinaryKernels {
  BinaryLoop loops[kArithmeticDTypeCount][kBinaryOps];  ///< null where a float-only row meets an integer type
};
struct CompareKernels {
  CompareLoop loops[kArithmeticDTypeCount][kCompareOps];
  AffineLoop affine[kArithmeticDTypeCount];
  WhereLoop where[4][4];  ///< by log2 of the element sizes: [condition][values]
};

BW_KERNEL_TABLE(BinaryKernels, binary_kernels)
BW_KERNEL_TABLE(CompareKernels, compare_kernels)

}  // namespace beeswax::cpu
