// SPDX-License-Identifier: Apache-2.0
// Loops over one dense row: softmax, norms, running sums.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/compute_type.h"

namespace beeswax::cpu {

/// What a loop over a row of n elements of type T needs beside them.
struct RowArgs {
  int64_t n;
  void* results;         // where the results go
  CastLoop narrow;       // to their dtype, or null where it is T
  int64_t result_bytes;  // of one result
  bool stream;           // whether they go past the caches
  void* row;             // room for n elements of T
  void* partials;        // room for a T for each chunk (kernels/reduce.h)
  // Where the next row's elements lie, or null: they are requested while this row is computed.
  const void* next;
  int64_t next_bytes;  // of one element there
};

template <class T>
struct RowLoops {
  /// softmax(x), or its logarithm. x may be args.row.
  void (*softmax)(const T* x, bool log, const RowArgs& args);
  /// x / sqrt(mean(x^2) + eps) * weight.
  void (*rms_norm)(const T* x, const T* weight, T eps, const RowArgs& args);
  /// (x - mean) / sqrt(var + eps) * weight + bias; bias may be null. Two passes.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T eps, const RowArgs& args);
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
