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

/// y[i] = f(x[i], param), i < count, over dense elements of one compute type; x and y may be the same.
using UnaryLoop = void (*)(const void* x, void* y, int64_t count, double param);

struct UnaryFloatKernels {
  UnaryLoop f32[kUnaryOps];
  UnaryLoop half[kUnaryOps];  ///< the row's cheaper expression where it has one; in float
};
struct UnaryDoubleKernels {
  UnaryLoop f64[kUnaryOps];
};
struct UnaryIntKernels {
  UnaryLoop loops[kComputeTypes][kUnaryOps];  ///< null for the float types and for float-only rows
};

BW_KERNEL_TABLE(UnaryFloatKernels, unary_float_kernels)
BW_KERNEL_TABLE(UnaryDoubleKernels, unary_double_kernels)
BW_KERNEL_TABLE(UnaryIntKernels, unary_int_kernels)

}  // namespace beeswax::cpu
