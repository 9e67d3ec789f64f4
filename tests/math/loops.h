// SPDX-License-Identifier: Apache-2.0
// Loops over the functions of core/math, compiled for each instruction-set level as the CPU backend's are.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace beeswax::cpu {

inline constexpr int kMathFunctions = 0
#define BW_MATH(...) +1
#include "math/functions.def"
    ;

struct MathLoops {
  struct Function {
    void (*f32)(const float* x, float* y, int64_t count);
    void (*f64)(const double* x, double* y, int64_t count);
    /// The largest error of y in units in the last place, against doubles; infinite where NaN, infinity or
    /// the sign of zero differ. `count` is a multiple of 8.
    double (*screen)(const float* x, const float* y, int64_t count);
  };
  Function function[kMathFunctions];
  void (*pow32)(const float* x, const float* y, float* z, int64_t count);
  void (*pow64)(const double* x, const double* y, double* z, int64_t count);
};

BW_KERNEL_TABLE(MathLoops, math_loops)

}  // namespace beeswax::cpu
