// SPDX-License-Identifier: Apache-2.0
// gemm: batched matrix products with any strides, as kernels/gemm*.cc make them.
#pragma once

#include "backends/gpu/launch.h"
#include "kernels/gemm_args.h"

namespace beeswax::gpu {

/// c[i, j] = sum over p of a[i, p] b[p, j] for every matrix of the batch (a walk over a, b, c). Strides count
/// elements; 0 broadcasts.
struct Product {
  int64_t m, n, k;
  DType a_type, b_type, c_type;
  const std::byte* a;
  const std::byte* b;
  std::byte* c;
  int64_t a_row, a_step, b_step, b_column, c_row, c_column;
  Nest<3> batch;
};
/// Writes every element of c. f32 by f32 may be rounded (set_reduced_precision_f32) where `reduced` says so.
/// Throws TooLarge where a side is 2^31 or longer.
void gemm(Gpu& gpu, Backend& backend, const Product& product, const char* operation, bool reduced = false);

/// The same product as (b^T a^T)^T.
Product exchanged(const Product& product);
/// Makes the product with Hopper's copy engine where the device is one and the operands suit it; tells
/// whether.
bool gemm_hopper(Gpu& gpu, const Product& product);
/// Whether it would, if the strides suit it. Operands of f16 or bf16 may make an f32 result.
bool hopper_takes(const Gpu& gpu, const Product& product);

/// Makes a product of f8e4m3, or of f32 that may be rounded (`reduced`), as a convolution of one tap on
/// Hopper, where it is large; tells whether. Takes copies of its operands, of 1 GiB at a time.
bool gemm_as_conv(Gpu& gpu, Backend& backend, const Product& product, bool reduced);

inline constexpr const char* kHopper = "sm_90";  ///< the target of Hopper's own kernels
inline constexpr int64_t kHopperAlign = 16;      ///< bytes, of what its copy engine sees

/// How kernels see elements of a dtype.
Element element_of(DType dtype);
/// Tiles of a product of m rows and n columns, for each of which a block is launched.
GemmGrid gemm_grid(int64_t m, int64_t n, const GemmTile& tile, uint32_t band = kGemmBand);
inline int64_t tiles_of(const GemmGrid& grid) { return int64_t{grid.down} * grid.across; }
/// Whether large tiles of a product keep a GPU busy.
bool fills(const Gpu& gpu, int64_t m, int64_t n, int64_t batch, const GemmTile& tile);

}  // namespace beeswax::gpu
