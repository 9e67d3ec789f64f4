// SPDX-License-Identifier: Apache-2.0
// WMMA of RDNA, 16 rows by 16 columns by 16 steps, by waves of 32. On gfx11 threads l and l + 16 both hold
// all packs of lane l; on gfx12 thread l holds packs l / 16 and 2 + l / 16 of lane l % 16.
#pragma once

#include "kernels/mma/lanes.h"

#if BW_WMMA
namespace beeswax::gpu {

struct WmmaLanes {
  static constexpr int kSums = 8;
  static constexpr uint32_t kPacks = BW_WMMA == 11 ? 4 : 2;
  struct Fragment {
    MmaPack pack[kPacks];
  };
  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    Fragment f;
#pragma unroll
    for (uint32_t p = 0; p < kPacks; ++p)
      f.pack[p] = tile[mma_place(first + lane() % 16, BW_WMMA == 11 ? p : 2 * p + lane() / 16)];
    return f;
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) {
    return BW_WMMA == 11 ? 2 * i + lane() / 16 : lane() / 16 * 8 + i;
  }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
  /// A thread's share of the two halves of 32 steps of 2 bytes: whole packs.
  struct Half {
    MmaPack pack[kPacks / 2];
  };
  BW_DEVICE_MEMBER static Half half(const Fragment& f, int s) {
    Half out;
#pragma unroll
    for (uint32_t p = 0; p < kPacks / 2; ++p) out.pack[p] = f.pack[s * (kPacks / 2) + p];
    return out;
  }
};

template <class T>
struct Mma : WmmaLanes {
  static_assert(__is_same(T, f16) || __is_same(T, bf16));
  using Sum = float;
  using Float8 = float __attribute__((ext_vector_type(8)));
  using Halves = _Float16 __attribute__((ext_vector_type(sizeof(Half) / 2)));
  using Shorts = short __attribute__((ext_vector_type(sizeof(Half) / 2)));
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    auto c = cast_bits<Float8>(sums);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const Half x = half(a, s), y = half(b, s);
      if constexpr (__is_same(T, f16)) {
#if BW_WMMA == 11
        c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(cast_bits<Halves>(x), cast_bits<Halves>(y), c);
#else
        c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(cast_bits<Halves>(x), cast_bits<Halves>(y), c);
#endif
      } else {
#if BW_WMMA == 11
        c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(cast_bits<Shorts>(x), cast_bits<Shorts>(y), c);
#else
        c = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(cast_bits<Shorts>(x), cast_bits<Shorts>(y), c);
#endif
      }
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
};

/// Unsigned bytes: of 16 steps a thread holds a pack on gfx11, half a pack on gfx12.
template <>
struct Mma<uint8_t> : WmmaLanes {
  using Sum = int32_t;
  using Int8 = int __attribute__((ext_vector_type(8)));
  using Bytes = int __attribute__((ext_vector_type(kPacks)));
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, int32_t (&sums)[kSums]) {
    struct Steps {
      Bytes of[4];
    };
    auto c = cast_bits<Int8>(sums);
    const auto x = cast_bits<Steps>(a), y = cast_bits<Steps>(b);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#if BW_WMMA == 11
      c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(false, x.of[s], false, y.of[s], c, false);
#else
      c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(false, x.of[s], false, y.of[s], c, false);
#endif
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
};

}  // namespace beeswax::gpu
#endif
