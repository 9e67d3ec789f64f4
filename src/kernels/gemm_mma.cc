// SPDX-License-Identifier: Apache-2.0
// Matrix products on matrix units: f16 or bf16, summed in f32. An operand is dense along k, or along its
// lanes and then turned on its way to shared memory.
//   floors: 2 m n k over the rate of the matrix units; the bytes of a, b and c over the bandwidth
#include "kernels/gemm_mma.h"

namespace beeswax::gpu {

constexpr int kLanes = kGemmMma.rows;
static_assert(kGemmMma.rows == kGemmMma.columns && kGemmMma.step == kMmaStep);
using GemmMmaTile = MmaTile<kLanes, kLanes>;

/// A side: lanes by steps of k, one of them dense. A thread moves two packs of 8 elements: those of two lanes
/// along k, or two steps' of the same 8 lanes.
struct MmaSide {
  using Share = Pack<uint16_t, 8>[2];
  const uint16_t* data;  // of this thread's first element at k = 0
  int64_t next, k_stride;
  uint32_t lane, k, left, k_size;
  bool along_k, whole;

  BW_DEVICE_MEMBER MmaSide(const void* from, int64_t offset, int64_t lane_stride, int64_t k_stride_,
                           uint32_t first, uint32_t size, uint32_t k_size_)
      : k_stride(k_stride_), left(size - first), k_size(k_size_), along_k(k_stride_ == 1) {
    const uint32_t t = thread();
    lane = along_k ? t / 4 : t % 16 * 8;
    k = along_k ? t % 4 * 8 : t / 16 * 2;
    data = static_cast<const uint16_t*>(from) + offset + (first + lane) * lane_stride + k * k_stride;
    next = along_k ? lane_stride * (kLanes / 2) : k_stride;
    whole = aligned16(from) && offset % 8 == 0 && (along_k ? lane_stride : k_stride) % 8 == 0;
  }

  BW_DEVICE_MEMBER void fetch(uint32_t at, Pack<uint16_t, 8> (&to)[2]) const {
    const uint16_t* from = data + at * k_stride;
    const uint32_t steps = at + k < k_size ? k_size - at - k : 0;
    const uint32_t lanes = lane < left ? left - lane : 0;
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t count = along_k ? (i * (kLanes / 2) < lanes ? steps : 0) : (i < steps ? lanes : 0);
      to[i] = take<uint16_t, 8>(from + i * next, count, whole);
    }
  }
  BW_DEVICE_MEMBER void store(MmaPack* tile, const Pack<uint16_t, 8> (&from)[2]) const {
    if (along_k) {
#pragma unroll
      for (uint32_t i = 0; i < 2; ++i)
        tile[mma_place(lane + i * (kLanes / 2), k / 8)] = cast_bits<MmaPack>(from[i]);
    } else {
      auto* words = reinterpret_cast<uint32_t*>(tile);
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j)
        words[mma_place(lane + j, k / 8) * 4 + k % 8 / 2] =
            static_cast<uint32_t>(from[0].v[j]) | static_cast<uint32_t>(from[1].v[j]) << 16;
    }
  }
};

template <class T>
BW_DEVICE void gemm_mma(const GemmArgs& args, MmaShared<GemmMmaTile>& shared) {
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * kLanes, column = at.column * kLanes;
  int64_t offset[3];
  offsets_at(args.batch, at.batch, offset);
  const MmaSide a(args.a, offset[0], args.a_row, args.a_step, row, args.m, args.k);
  const MmaSide b(args.b, offset[1], args.b_column, args.b_step, column, args.n, args.k);
  MmaSums<T, GemmMmaTile> sums;
  mma_sums(a, b, args.k, shared, sums);
  sums.each([&](uint32_t down, uint32_t across, float sum) __attribute__((always_inline)) {
    const uint32_t r = row + down, c = column + across;
    if (r < args.m && c < args.n)
      static_cast<T*>(args.c)[offset[2] + r * args.c_row + c * args.c_column] = narrow<T>(sum);
  });
}

#define BW_GEMM_MMA(T, name)                               \
  BW_KERNEL(kGemmThreads) gemm_mma_##name(GemmArgs args) { \
    BW_SHARED static MmaShared<GemmMmaTile> shared;        \
    gemm_mma<T>(args, shared);                             \
  }
BW_GEMM_MMA(f16, f16)
BW_GEMM_MMA(bf16, bf16)

}  // namespace beeswax::gpu
