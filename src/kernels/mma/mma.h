// SPDX-License-Identifier: Apache-2.0
// Matrix units behind one name: Mma<T> multiplies 16 rows of a by 16 columns of b over 32 steps of k, f16 or
// bf16 into f32. Both operands lie in shared memory as lanes (rows of a, columns of b) of 32 dense elements.
// Which k a thread holds does not matter as long as it is the same for a and b, so every family reads whole
// packs of 16 bytes.
//   Fragment  a thread's share of 16 lanes: load() for rows of a, load_columns() for columns of b
//   kSums     its share of the 16 x 16 results
//   row(i), column(i)   where number i of a thread's sums belongs
#pragma once

#include "kernels/elements.h"

namespace beeswax::gpu {

inline constexpr int kMmaSize = 16;  // rows and columns
inline constexpr int kMmaStep = 32;  // of k

/// Packs of a tile's lane: 8 elements, spread over the banks by the lane's number so that neither reads of
/// neighbouring lanes nor those of a whole lane meet in a bank.
using MmaPack = Pack<uint32_t, 4>;
BW_DEVICE uint32_t mma_place(uint32_t lane_of_tile, uint32_t pack) {
  return lane_of_tile * 4 + (pack ^ (lane_of_tile >> 1 & 3) ^ (lane_of_tile >> 3 & 3));
}

template <class To, class From>
BW_DEVICE To cast_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

/// Two 16-bit elements, each in a word of its own, as one word.
BW_DEVICE uint32_t pack_halves(uint32_t low, uint32_t high) {
#if BW_NVIDIA
  uint32_t word;
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(word) : "r"(low), "r"(high));
  return word;
#else
  return low | high << 16;
#endif
}

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
// MFMA 16x16x16: lane l holds row l % 16 and four k; sum i is row 4 (l / 16) + i.
template <class T>
struct Mma {
  static constexpr int kSums = 4;
  struct Fragment {
    MmaPack pack;
  };
  using Float4 = float __attribute__((ext_vector_type(4)));
  using Half4 = _Float16 __attribute__((ext_vector_type(4)));
  using Short4 = short __attribute__((ext_vector_type(4)));

  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    return {tile[mma_place(first + lane() % 16, lane() / 16)]};
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    auto c = cast_bits<Float4>(sums);
    const Pack<uint64_t, 2> x = cast_bits<Pack<uint64_t, 2>>(a.pack),
                            y = cast_bits<Pack<uint64_t, 2>>(b.pack);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if constexpr (m::Same<T, f16>::kIs) {
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(cast_bits<Half4>(x.v[s]), cast_bits<Half4>(y.v[s]), c, 0, 0,
                                                  0);
      } else {
        c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(cast_bits<Short4>(x.v[s]), cast_bits<Short4>(y.v[s]), c,
                                                      0, 0, 0);
      }
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 16 * 4 + i; }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
};

#elif defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) || defined(__gfx1103__) || \
    defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1152__)
// WMMA of gfx11: lanes l and l + 16 both hold row l with all of k; sum i is row 2 i + l / 16.
template <class T>
struct Mma {
  static constexpr int kSums = 8;
  struct Fragment {
    MmaPack pack[4];
  };
  using Float8 = float __attribute__((ext_vector_type(8)));
  using Half16 = _Float16 __attribute__((ext_vector_type(16)));
  using Short16 = short __attribute__((ext_vector_type(16)));
  struct Half {
    MmaPack pack[2];
  };

  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    Fragment f;
#pragma unroll
    for (uint32_t p = 0; p < 4; ++p) f.pack[p] = tile[mma_place(first + lane() % 16, p)];
    return f;
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    auto c = cast_bits<Float8>(sums);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const Half x{{a.pack[2 * s], a.pack[2 * s + 1]}}, y{{b.pack[2 * s], b.pack[2 * s + 1]}};
      if constexpr (m::Same<T, f16>::kIs) {
        c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(cast_bits<Half16>(x), cast_bits<Half16>(y), c);
      } else {
        c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(cast_bits<Short16>(x), cast_bits<Short16>(y), c);
      }
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return 2 * i + lane() / 16; }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
};

#elif defined(__gfx1200__) || defined(__gfx1201__)
// WMMA of gfx12: lane l holds row l % 16 and eight k; sum i is row 8 (l / 16) + i.
template <class T>
struct Mma {
  static constexpr int kSums = 8;
  struct Fragment {
    MmaPack pack[2];
  };
  using Float8 = float __attribute__((ext_vector_type(8)));
  using Half8 = _Float16 __attribute__((ext_vector_type(8)));
  using Short8 = short __attribute__((ext_vector_type(8)));

  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    Fragment f;
#pragma unroll
    for (uint32_t s = 0; s < 2; ++s) f.pack[s] = tile[mma_place(first + lane() % 16, 2 * s + lane() / 16)];
    return f;
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    auto c = cast_bits<Float8>(sums);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if constexpr (m::Same<T, f16>::kIs) {
        c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(cast_bits<Half8>(a.pack[s]),
                                                             cast_bits<Half8>(b.pack[s]), c);
      } else {
        c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(cast_bits<Short8>(a.pack[s]),
                                                              cast_bits<Short8>(b.pack[s]), c);
      }
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 16 * 8 + i; }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
};

#elif BW_NVIDIA
// mma.sync m16n8k16, two of which make 16 columns: lane l holds, of every 16 steps of k, words of two steps
// from rows l / 4 and l / 4 + 8, of steps 2 (l % 4) and 8 further.
template <class T>
struct Mma {
  static constexpr int kSums = 8;
  struct Fragment {
    MmaPack pack[2];  // for each 16 steps: by rows and then steps, or by steps and then columns
  };
  /// ldmatrix: four 8 x 8 matrices, of which lane l gives the address of row l % 8 of number l / 8.
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
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* c = sums + half * 4;
        const uint32_t a0 = a.pack[s].v[0], a1 = a.pack[s].v[1], a2 = a.pack[s].v[2], a3 = a.pack[s].v[3],
                       b0 = b.pack[s].v[2 * half], b1 = b.pack[s].v[2 * half + 1];
        if constexpr (m::Same<T, f16>::kIs) {
          asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
              "%9}, "
              "{%0, %1, %2, %3};"
              : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
              : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        } else {
          asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
              "%9}, "
              "{%0, %1, %2, %3};"
              : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
              : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
      }
    }
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 4 + i % 4 / 2 * 8; }
  BW_DEVICE_MEMBER static uint32_t column(int i) { return i / 4 * 8 + lane() % 4 * 2 + i % 2; }
};

#else
// No matrix unit: a lane makes some rows of one column, straight from shared memory.
template <class T>
struct Mma {
  static constexpr int kSums = 16 * 16 / kWave;
  struct Fragment {
    const MmaPack* tile;
    uint32_t first;
  };
  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) { return {tile, first}; }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
#pragma unroll 1
    for (uint32_t p = 0; p < 4; ++p) {
      const auto y = cast_bits<Pack<T, 8>>(b.tile[mma_place(b.first + column(0), p)]);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        const auto x = cast_bits<Pack<T, 8>>(a.tile[mma_place(a.first + row(i), p)]);
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sums[i] = __builtin_fmaf(static_cast<float>(x.v[j]), static_cast<float>(y.v[j]), sums[i]);
      }
    }
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 16 * kSums + i; }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
};
#endif

}  // namespace beeswax::gpu
