// SPDX-License-Identifier: Apache-2.0
// Loops over one dense row: softmax, norms, running sums. `partials` has room for tree_partials(n) elements;
// `next` is where the next row lies (or null): it is requested while this one is computed.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/compute_type.h"

namespace beeswax::cpu {

template <class T>
struct RowLoops {
  /// y = softmax(x), or its logarithm. y may not be x.
  void (*softmax)(const T* x, T* y, T* partials, int64_t n, bool log, const T* next);
  /// y = x / sqrt(mean(x^2) + eps) * weight.
  void (*rms_norm)(const T* x, const T* weight, T* y, T* partials, int64_t n, T eps, const T* next);
  /// y = (x - mean) / sqrt(var + eps) * weight + bias; bias may be null. Two passes.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T* y, T* partials, int64_t n, T eps,
                     const T* next);
};

struct RowKernels {
  RowLoops<float> f32;
  RowLoops<double> f64;
  /// x[i] += x[i - 1] + ... with *carry before the first; *carry becomes the last. By compute type.
  void (*running_sum[kComputeTypes])(void* x, int64_t n, void* carry);
  /// Each of `n` sums: sums[i] += x[i]; x[i] = sums[i].
  void (*running_sums[kComputeTypes])(void* x, int64_t n, void* sums);
};

BW_KERNEL_TABLE(RowKernels, row_kernels)

}  // namespace beeswax::cpu
