// SPDX-License-Identifier: Apache-2.0
// The matrix-product loops of one instruction-set level, and the sizes chosen for them. The order of
// additions that all of them keep stands in backends/cpu/gemm.h.
//
// Packed operands: A is cut into panels of mr rows (the last may have fewer), a panel of r rows stored as
// [k][r]. B is cut into panels of nr columns, a panel stored as [k][w], where w is nr or, for the last panel,
// its columns rounded up to whole vectors and filled with zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/isa.h"
#include "beeswax/dtype.h"

namespace beeswax::cpu {

/// The most elements of k in one chain of multiply-adds.
inline constexpr int64_t kGemmBlockMost = 768;

/// Elements of k in one chain, of `k` in all: as few chains of one length as go, in multiples of 16; the last
/// may be shorter. Part of the documented order of additions.
constexpr int64_t gemm_block(int64_t k) {
  if (k <= kGemmBlockMost) return kGemmBlockMost;
  const int64_t blocks = (k + kGemmBlockMost - 1) / kGemmBlockMost;
  return ((k + blocks - 1) / blocks + 15) / 16 * 16;
}

/// What products are accumulated in; integers as unsigned words, whose arithmetic wraps.
enum class GemmCompute { f32, f64, u32, u64 };
inline constexpr int kGemmComputeCount = 4;

/// What products of a dtype are accumulated in.
constexpr GemmCompute gemm_compute(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return GemmCompute::f64;
    case DType::I64:
      return GemmCompute::u64;
    case DType::U8:
    case DType::U32:
    case DType::I16:
    case DType::I32:
      return GemmCompute::u32;
    default:
      return GemmCompute::f32;
  }
}
/// Bytes of one element of it.
constexpr int64_t gemm_word(GemmCompute compute) {
  return compute == GemmCompute::f64 || compute == GemmCompute::u64 ? 8 : 4;
}

/// C[m, n] = A B, or += when `add`, for one block of k (at most kGemmBlockMost), from packed panels.
struct GemmBlock {
  int64_t m, n, k;
  const void* a;
  const void* b;
  void* c;  // in the compute type
  int64_t c_row;
  bool add;
};

struct GemmTile {
  int mr, nr;  // rows and columns of the register tile
  int lanes;   // elements of a vector; panels of B are padded to it
  int mt;      // rows of A that are packed at a time, at most: a multiple of mr
  int nt;      // columns of a convolution's block, at most: a multiple of nr
  void (*block)(const GemmBlock&);
};

struct GemmTiles {
  GemmTile of[kGemmComputeCount];
};
BW_KERNEL_TABLE(GemmTiles, gemm_tiles)

/// Packs panels of `width` lanes, each filled with zeros to a multiple of `pad` lanes, widening to the
/// compute type. Lanes and steps of k lie `lane_stride` and `k_stride` elements apart in the source.
struct GemmPack {
  const void* from;
  int64_t lane_stride, k_stride;
  int64_t lanes, k;
  int64_t width, pad;
  void* to;
};

struct GemmPacks {
  void (*pack[kDTypeCount])(const GemmPack&);  // null for storage types
  // Rounds `count` elements of the compute type to the dtype.
  void (*round[kDTypeCount])(const void* from, void* to, int64_t count);
};
BW_KERNEL_TABLE(GemmPacks, gemm_packs)

/// y[i, j] = sum over p of x[i, p] w[p, j] for a few rows i: the whole of k. x and y are in the compute type,
/// w is as it is stored. Rows are taken kGemmVectorRows at a time unless there is one only: x and y have room
/// for a multiple of that.
struct GemmVector {
  int64_t rows, n, k;
  const void* w;
  int64_t stride;  // elements between the dense lines of w
  const void* x;   // [rows, k], k dense
  int64_t x_row;
  void* y;
  int64_t y_row;
};
inline constexpr int kGemmVectorRows = 4;
/// The most columns that one call of `lines` takes.
inline constexpr int64_t kGemmVectorColumns = 1024;

struct GemmVectors {
  void (*lines[kDTypeCount])(const GemmVector&);  // w is stored as [k, n]
  void (*dots[kDTypeCount])(const GemmVector&);   // w is stored as [n, k]
};
BW_KERNEL_TABLE(GemmVectors, gemm_vectors)

}  // namespace beeswax::cpu
