// SPDX-License-Identifier: Apache-2.0
// Matrix products on Hopper, whose operands the copy engine brings: what their kernels are called with, and
// their tiles.
#pragma once

#include "kernels/gemm_args.h"

namespace beeswax::gpu {

/// What the copy engine knows of a tensor in memory (CUtensorMap).
struct alignas(64) TensorMap {
  uint64_t words[16];
};

inline constexpr int kHopperLine = 128;    // bytes of an operand in a step of k: the widest swizzle
inline constexpr int kWgmmaRows = 128;     // of a tile: 64 for each of two warpgroups
inline constexpr int kWgmmaStep = 64;      // of k, 16-bit operands
inline constexpr int kWgmmaThreads = 384;  // two warpgroups that multiply, one that loads
inline constexpr uint32_t kWgmmaBand = 16;
/// A tile's columns, and how many steps of k are on their way to it.
struct WgmmaTile {
  int columns, stages;
};
inline constexpr WgmmaTile kWgmmaTiles[] = {{256, 4}, {128, 6}, {64, 8}, {16, 10}};
/// Results on their way out: two buffers of 64 rows by 64 columns for each warpgroup.
inline constexpr int kWgmmaOut = 2 * 2 * 64 * 64 * 2;
/// Shared memory of a block: the stages, what goes out, the barriers, and room to align them.
constexpr int wgmma_shared(const WgmmaTile& tile, int rows = kWgmmaRows) {
  return tile.stages * (rows + tile.columns) * kHopperLine + (tile.columns >= 64 ? kWgmmaOut : 0) +
         tile.stages * 16 + 1024;
}

// Products of f32 without matrix units: a thread makes 8 by 8 elements of its block's tile.
inline constexpr int kLinesStep = 32;  // of k
inline constexpr int kLinesThreads = 256;
struct LinesTile {
  int rows, columns, stages;
};
inline constexpr LinesTile kLinesTiles[] = {{128, 128, 3}, {64, 256, 4}};
constexpr int lines_shared(const LinesTile& tile) {
  return tile.stages * ((tile.rows + tile.columns) * kLinesStep * 4 + 16) + 1024;
}

/// The most parts that k is cut into: blocks of a cluster.
inline constexpr int kHopperParts = 8;

/// c[i, j] = sum over p of a[i, p] b[p, j] for a batch of matrices; a and b are both f16, bf16 or f32. Blocks
/// take tiles block(), block() + blocks, ... of every part of k of every matrix; with more than one part,
/// each block takes one.
struct HopperArgs {
  TensorMap a, b;  // (k, rows, matrix), or (rows, k, matrix) where the rows are dense
  TensorMap c;     // (columns, rows, matrix); unused where c's strides say where results go
  void* c_data;
  int64_t c_row, c_column, c_batch;
  uint32_t m, n, steps, parts,
      part_steps;             // steps: of k, in all and in a part, whose number is the cluster's
  uint32_t parts_down;        // whether c is walked down its columns where parts are joined
  uint32_t a_batch, b_batch;  // 1, or 0 where one matrix serves the whole batch
  uint32_t through_map;       // whether c goes out by c's map
  uint32_t c_wide;            // whether c is f32
  uint32_t blocks, work;      // blocks launched; tiles times parts times matrices
  GemmGrid grid;              // its tiles: of one matrix
  Divisor part;               // number of parts
};

}  // namespace beeswax::gpu
