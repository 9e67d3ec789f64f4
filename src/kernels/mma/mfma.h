// SPDX-License-Identifier: Apache-2.0
// MFMA of CDNA, 16 rows by 16 columns: thread l of a wave holds pack l / 16 of lane l % 16.
#pragma once

#include "kernels/mma/lanes.h"

#if BW_MFMA
namespace beeswax::gpu {

struct MfmaLanes {
  static constexpr int kSums = 4;
  struct Fragment {
    MmaPack pack;
  };
  BW_DEVICE_MEMBER static Fragment load(const MmaPack* tile, uint32_t first) {
    return {tile[mma_place(first + lane() % 16, lane() / 16)]};
  }
  BW_DEVICE_MEMBER static Fragment load_columns(const MmaPack* tile, uint32_t first) {
    return load(tile, first);
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return lane() / 16 * 4 + i; }
  BW_DEVICE_MEMBER static uint32_t column(int) { return lane() % 16; }
};
template <class T>
using MfmaFour = T __attribute__((ext_vector_type(4)));

template <class T>
struct Mma : MfmaLanes {
  static_assert(__is_same(T, f16) || __is_same(T, bf16));
  using Sum = float;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    auto c = cast_bits<MfmaFour<float>>(sums);
#if defined(__gfx908__)
    // Its bf16 instruction takes two steps of a thread.
    if constexpr (__is_same(T, bf16)) {
      using Short2 = short __attribute__((ext_vector_type(2)));
#pragma unroll
      for (int s = 0; s < 4; ++s)
        c = __builtin_amdgcn_mfma_f32_16x16x8bf16(cast_bits<Short2>(a.pack.v[s]),
                                                  cast_bits<Short2>(b.pack.v[s]), c, 0, 0, 0);
    }
#endif
    const Pack<uint64_t, 2> x = cast_bits<Pack<uint64_t, 2>>(a.pack),
                            y = cast_bits<Pack<uint64_t, 2>>(b.pack);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if constexpr (__is_same(T, f16)) {
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(cast_bits<MfmaFour<_Float16>>(x.v[s]),
                                                  cast_bits<MfmaFour<_Float16>>(y.v[s]), c, 0, 0, 0);
      } else {
#if !defined(__gfx908__)
        c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(cast_bits<MfmaFour<short>>(x.v[s]),
                                                      cast_bits<MfmaFour<short>>(y.v[s]), c, 0, 0, 0);
#endif
      }
    }
    __builtin_memcpy(sums, &c, sizeof(c));
  }
};

/// Signed bytes, which modulo 256 give what unsigned ones do.
template <>
struct Mma<uint8_t> : MfmaLanes {
  using Sum = int32_t;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, int32_t (&sums)[kSums]) {
    auto c = cast_bits<MfmaFour<int>>(sums);
#if defined(__gfx908__) || defined(__gfx90a__)
#pragma unroll
    for (int s = 0; s < 4; ++s)
      c = __builtin_amdgcn_mfma_i32_16x16x16i8(static_cast<int>(a.pack.v[s]), static_cast<int>(b.pack.v[s]),
                                               c, 0, 0, 0);
#else
    const auto x = cast_bits<Pack<int64_t, 2>>(a.pack), y = cast_bits<Pack<int64_t, 2>>(b.pack);
#pragma unroll
    for (int s = 0; s < 2; ++s) c = __builtin_amdgcn_mfma_i32_16x16x32_i8(x.v[s], y.v[s], c, 0, 0, 0);
#endif
    __builtin_memcpy(sums, &c, sizeof(c));
  }
};

#if !defined(__gfx908__)
template <>
struct Mma<double> : MfmaLanes {
  using Sum = double;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, double (&sums)[kSums]) {
    auto c = cast_bits<MfmaFour<double>>(sums);
    const auto x = cast_bits<Pack<double, 2>>(a.pack), y = cast_bits<Pack<double, 2>>(b.pack);
#pragma unroll
    for (int s = 0; s < 2; ++s) c = __builtin_amdgcn_mfma_f64_16x16x4f64(x.v[s], y.v[s], c, 0, 0, 0);
    __builtin_memcpy(sums, &c, sizeof(c));
  }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return 4 * i + lane() / 16; }
};
#endif

#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
template <>
struct Mma<Tf32> : MfmaLanes {
  using Sum = float;
  BW_DEVICE_MEMBER static void multiply(const Fragment& a, const Fragment& b, float (&sums)[kSums]) {
    using Float2 = float __attribute__((ext_vector_type(2)));
    auto c = cast_bits<MfmaFour<float>>(sums);
    const auto x = cast_bits<Pack<uint64_t, 2>>(a.pack), y = cast_bits<Pack<uint64_t, 2>>(b.pack);
#pragma unroll
    for (int s = 0; s < 2; ++s)
      c = __builtin_amdgcn_mfma_f32_16x16x8_xf32(cast_bits<Float2>(x.v[s]), cast_bits<Float2>(y.v[s]), c, 0,
                                                 0, 0);
    __builtin_memcpy(sums, &c, sizeof(c));
  }
};
#endif

}  // namespace beeswax::gpu
#endif
