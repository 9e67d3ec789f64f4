// SPDX-License-Identifier: Apache-2.0
// Products with at most kGemmThin rows or columns: the other operand is read once, where it lies, instead of
// being packed. The order of additions is that of gemm.h, so the bits are those of the blocked product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// Rows (or columns) up to which a product is bound by reading the other operand.
inline constexpr int64_t kGemmThin = 8;

/// y[i, j] = sum over p of x[i, p] w[p, j], i < rows <= kGemmThin. Strides count elements.
struct GemmThin {
  DType x_type = DType::F32, w_type = DType::F32, y_type = DType::F32;
  int64_t rows = 0, lanes = 0, k = 0;
  const std::byte* x = nullptr;
  int64_t x_row = 0, x_step = 0;
  const std::byte* w = nullptr;
  int64_t w_step = 0, w_lane = 0;
  std::byte* y = nullptr;
  int64_t y_row = 0, y_lane = 0;
  bool parallel = false;
};

/// Whether gemm_thin takes this product: W must be dense along one of its axes.
bool gemm_is_thin(const GemmThin& g);

/// Writes every element of y. k > 0.
void gemm_thin(const GemmThin& g);

}  // namespace beeswax::cpu
