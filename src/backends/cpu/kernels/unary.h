// SPDX-License-Identifier: Apache-2.0
// Loops of the unary operations, one per row of tables/unary.def and compute type.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"

namespace beeswax::cpu {

inline constexpr size_t kUnaryOps = 0
#define BW_UNARY(...) +1
#define BW_UNARY_PARAM(...) +1
#include "tables/unary.def"
    ;

/// y[i] = f(x[i], param), i < count, over dense elements of one dtype; x and y may be the same. past_caches:
/// y is 64-byte aligned and bypasses the caches (fence() of copy.h then makes it visible to other threads).
using UnaryLoop = void (*)(const void* x, void* y, int64_t count, double param, bool past_caches);

struct UnaryFloatKernels {
  UnaryLoop f32[kUnaryOps];
};
struct UnaryDoubleKernels {
  UnaryLoop f64[kUnaryOps];
};
/// Narrow floats, with the rows' cheaper expressions where they have one.
struct UnaryF16Kernels {
  UnaryLoop f16[kUnaryOps];
};
struct UnaryBF16Kernels {
  UnaryLoop bf16[kUnaryOps];
};
struct UnaryF8Kernels {
  UnaryLoop f8e4m3[kUnaryOps];
};
struct UnaryIntKernels {
  UnaryLoop loops[kComputeTypes][kUnaryOps];  ///< null for the float types and for float-only rows
};

BW_KERNEL_TABLE(UnaryFloatKernels, unary_float_kernels)
BW_KERNEL_TABLE(UnaryDoubleKernels, unary_double_kernels)
BW_KERNEL_TABLE(UnaryF16Kernels, unary_f16_kernels)
BW_KERNEL_TABLE(UnaryBF16Kernels, unary_bf16_kernels)
BW_KERNEL_TABLE(UnaryF8Kernels, unary_f8_kernels)
BW_KERNEL_TABLE(UnaryIntKernels, unary_int_kernels)

}  // namespace beeswax::cpu
