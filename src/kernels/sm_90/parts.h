// SPDX-License-Identifier: Apache-2.0
// Products whose k is cut into parts: a cluster of blocks makes a tile, each block one part of its sums,
// which it leaves in its shared memory; then each adds a share of the tile over the blocks, in the order of
// the parts, and stores it.
#pragma once

#include "kernels/gemm.h"
#include "kernels/sm_90/cluster.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// A tile's sums in shared memory, along the axis on which c is dense: down its columns or across. Lines are
/// padded so that the threads of a warp, as the products' kernels lay them over a tile, write to different
/// banks.
template <int rows, int columns, bool down>
struct TileParts {
  static constexpr int kPitch = down ? rows + 4 : columns + 8;  // of a line
  static constexpr int kBytes = (down ? columns : rows) * kPitch * 4;

  uint32_t base;

  /// Bytes from the tile's first sum to one; from any to one so many rows and columns further.
  BW_DEVICE_MEMBER static uint32_t place(uint32_t row, uint32_t column) {
    return (down ? column * kPitch + row : row * kPitch + column) * 4;
  }
  BW_DEVICE_MEMBER void put(uint32_t at, float sum) const {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(base + at), "f"(sum) : "memory");
  }

  /// Calls store(row, column, sums) for groups of four sums of the whole k along the dense axis, once every
  /// block of the cluster has put its own; by all threads that put them.
  template <int threads, class Store>
  BW_DEVICE_MEMBER void join(uint32_t part, uint32_t parts, Store store) const {
    cluster_barrier();
    for (uint32_t i = part * threads + thread(); i < rows * columns / 4; i += parts * threads) {
      const uint32_t row = down ? i % (rows / 4) * 4 : i / (columns / 4);
      const uint32_t column = down ? i / (rows / 4) : i % (columns / 4) * 4;
      Pack<float, 4> of[kHopperParts];
#pragma unroll
      for (uint32_t p = 0; p < kHopperParts; ++p)
        if (p < parts) of[p] = load_of_block(base + place(row, column), p);
#pragma unroll
      for (uint32_t p = 1; p < kHopperParts; ++p) {
        if (p >= parts) break;
#pragma unroll
        for (int j = 0; j < 4; ++j) of[0].v[j] += of[p].v[j];
      }
      store(row, column, of[0]);
    }
    cluster_barrier();  // the others may still read what lies here
  }

  /// Stores four neighbours of c along the axis on which its parts lie, as far as they exist.
  template <class T>
  BW_DEVICE_MEMBER static void store(const HopperArgs& args, uint32_t batch, uint32_t row, uint32_t column,
                                     const Pack<float, 4>& sums) {
    if (row >= args.m || column >= args.n) return;
    const uint32_t left = down ? args.m - row : args.n - column;
    const int64_t step = down ? args.c_row : args.c_column;
    T* c = static_cast<T*>(args.c_data) + batch * args.c_batch + row * args.c_row + column * args.c_column;
    if (left >= 4 && step == 1 && reinterpret_cast<uintptr_t>(c) % (4 * sizeof(T)) == 0) {
      *reinterpret_cast<Pack<T, 4>*>(c) = narrow_pack<T>(sums.v);
      return;
    }
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j)
      if (j < left) c[j * step] = narrow<T>(sums.v[j]);
  }
};

}  // namespace beeswax::gpu
#endif
