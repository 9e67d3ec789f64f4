// SPDX-License-Identifier: Apache-2.0
// gemm: C = A B for any strides, batched, on the CPU's thread pool.
//
// The order of additions is one rule of k alone: k is cut into as few blocks of one length as go with at most
// 768 steps each, the length rounded up to a multiple of 16 (gemm_block); inside a block every element of C
// is one chain of fused multiply-adds from +0 in increasing k; the block results are added in order. So the
// bits depend on neither the number of threads, the instruction-set level, the strides, nor the other rows
// and columns. Halves and F8E4M3 widen to f32, accumulate in f32 over the whole of k and round once; integers
// wrap. Operands of different dtypes meet in the type that all are accumulated in.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/processor.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

inline constexpr int kGemmBatchRank = 6;

/// The dtypes of A, B and C. Those that differ must be accumulated in one type (f16, bf16, f8e4m3 and f32).
struct GemmTypes {
  DType a, b, c;
  GemmTypes(DType all) : a(all), b(all), c(all) {}  // NOLINT(google-explicit-constructor)
  GemmTypes(DType of_a, DType of_b, DType of_c) : a(of_a), b(of_b), c(of_c) {}
};

/// Strides count elements and are not negative; 0 broadcasts. C must not overlap A or B.
struct GemmArgs {
  GemmTypes types = DType::F32;
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;  ///< [m, k]
  int64_t a_row = 0, a_col = 0;
  const void* b = nullptr;  ///< [k, n]
  int64_t b_row = 0, b_col = 0;
  void* c = nullptr;  ///< [m, n], columns dense
  int64_t c_row = 0;
  // Leading dimensions shared by the three: sizes, and the strides of A and B. The matrices of C follow each
  // other in row-major order of these dimensions, c_batch elements apart.
  int batch_rank = 0;
  std::array<int64_t, kGemmBatchRank> batch{}, a_batch{}, b_batch{};
  int64_t c_batch = 0;
  int64_t panel_bytes = kPanelBytes;  ///< how many of B are packed at a time (backends/cpu/processor.h)
};

/// Writes every element of C; k == 0 writes zeros.
void gemm(const GemmArgs& args);

}  // namespace beeswax::cpu
