// SPDX-License-Identifier: Apache-2.0
// NVIDIA's mma.sync of 16 rows by 8 columns, two of which make 16 columns: a word of thread l lies in row
// l / 4 of a pack, at number l % 4, and ldmatrix brings it there, whatever the elements are.
#pragma once

#include "kernels/mma/lanes.h"

#if BW_NVIDIA
namespace beeswax::gpu {

struct MmaSyncLanes {
  static constexpr int kSums = 8;
  struct Fragment {
    MmaPack pack[2];  // for each two packs of k: by rows and then packs, or by packs and then columns
  };
  /// ldmatrix: four 8 x 8 matrices of 16 bits, of which lane l gives the address of row l % 8 of number
  /// l / 8.
  BW_DEVICE_MEMBER static MmaPack load_matrices(const MmaPack* row) {
    MmaPack to;
    const auto at = static_cast<uint32_t>(
        reinterpret_cast<uintptr_t>((__attribute__((address_space(3))) const void*)row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.v[0]), "=r"(to.v[1]), "=r"(to.v[2]), "=r"(to.v[3])
                 : "r"(at)
                 : "memory");
    return to;
  }
  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    const uint32_t at = first + lane() % 16, half = lane() / 16;
    return {{load_matrices(tile + mma_place(at, half)), load_matrices(tile + mma_place(at, 2 + half))}};
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    const uint32_t at = first + lane() % 8 + lane() / 16 * 8, half = lane() / 8 % 2;
    return {{load_matrices(tile + mma_place(at, half)), load_matrices(tile + mma_place(at, 2 + half))}};
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 4 + i % 4 / 2 * 8; }
  BW_DEVICE_MEMBER static uint32_t column(int i) { return i / 4 * 8 + lane() % 4 * 2 + i % 2; }
};

// Two packs of k of a and of 8 columns of b, added to c[0] to c[3].
#define BW_MMA_SYNC(kind, bits, c, a, b, half)                                                    \
  asm("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+" bits((c)[0]), "+" bits((c)[1]), "+" bits((c)[2]), "+" bits((c)[3])                    \
      : "r"((a).v[0]), "r"((a).v[1]), "r"((a).v[2]), "r"((a).v[3]), "r"((b).v[2 * (half)]),       \
        "r"((b).v[2 * (half) + 1]))

template <class T>
struct Mma : MmaSyncLanes {
  using Sum = float;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* c = sums + half * 4;
        if constexpr (__is_same(T, f16)) {
          BW_MMA_SYNC("m16n8k16.row.col.f32.f16.f16.f32", "f", c, a.pack[s], b.pack[s], half);
        } else if constexpr (__is_same(T, bf16)) {
          BW_MMA_SYNC("m16n8k16.row.col.f32.bf16.bf16.f32", "f", c, a.pack[s], b.pack[s], half);
        } else {
          static_assert(__is_same(T, Tf32));
          BW_MMA_SYNC("m16n8k8.row.col.f32.tf32.tf32.f32", "f", c, a.pack[s], b.pack[s], half);
        }
      }
    }
  }
};

template <>
struct Mma<uint8_t> : MmaSyncLanes {
  using Sum = int32_t;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, int32_t (&sums)[kSums]) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        int32_t* c = sums + half * 4;
        BW_MMA_SYNC("m16n8k32.row.col.s32.u8.u8.s32", "r", c, a.pack[s], b.pack[s], half);
      }
    }
  }
};
#undef BW_MMA_SYNC

/// m8n8k4, of which four make 16 x 16: thread l holds pack l % 4 of lanes l / 4 and l / 4 + 8.
template <>
struct Mma<double> {
  using Sum = double;
  static constexpr int kSums = 8;  // by halves of rows, halves of columns, and two neighbours
  struct Fragment {
    Pack<double, 2> half[2];
  };
  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    const uint32_t at = first + lane() / 4, pack = lane() % 4;
    return {{cast_bits<Pack<double, 2>>(tile[mma_place(at, pack)]),
             cast_bits<Pack<double, 2>>(tile[mma_place(at + 8, pack)])}};
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, double (&sums)[kSums]) {
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int down = 0; down < 2; ++down)
#pragma unroll
        for (int across = 0; across < 2; ++across) {
          double* c = sums + 4 * down + 2 * across;
          asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
              : "+d"(c[0]), "+d"(c[1])
              : "d"(a.half[down].v[s]), "d"(b.half[across].v[s]));
        }
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return i / 4 * 8 + lane() / 4; }
  BW_DEVICE_MEMBER static uint32_t column(int i) { return i / 2 % 2 * 8 + lane() % 4 * 2 + i % 2; }
};

}  // namespace beeswax::gpu
#endif
