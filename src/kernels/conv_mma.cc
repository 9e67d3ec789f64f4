// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units: f16 or bf16, summed in f32. The kernel is dense along k; windows are gathered
// from the image on their way to shared memory. Positions outside the image are zeros that take part in the
// sum.
//   floors: 2 m n k over the rate of the matrix units; the bytes of image, kernel and result over the
//   bandwidth; and one load for every term of every window of a tile, that is m n k over the tile's rows
#include "kernels/conv_gather.h"
#include "kernels/gemm_mma.h"

namespace beeswax::gpu {

/// The kernel as the side whose lanes are output channels; rows end in zeros up to a whole pack.
template <int lanes>
struct ConvRows {
  static constexpr uint32_t kApart = kGemmThreads / 4, kPacks = lanes > kApart ? lanes / kApart : 1;
  using Share = MmaPack[kPacks];
  const uint16_t* data;  // of this thread's first element at k = 0
  int64_t next;
  uint32_t lane, k, left, k_size;

  BW_DEVICE_MEMBER ConvRows(const ConvArgs& args, int64_t offset, uint32_t first)
      : next(args.w_out * kApart),
        lane(thread() / 4),
        k(thread() % 4 * 8),
        left(args.m - first),
        k_size(args.k) {
    data = static_cast<const uint16_t*>(args.w) + offset + (first + lane) * args.w_out + k;
  }
  BW_DEVICE_MEMBER void fetch(uint32_t at, Share& to) const {
#pragma unroll
    for (uint32_t i = 0; i < kPacks; ++i) {
      const bool exists = at + k < k_size && lane < lanes && lane + i * kApart < left;
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) to[i].v[j] = 0;
      if (exists) to[i] = *reinterpret_cast<const MmaPack*>(data + at + i * next);
    }
  }
  BW_DEVICE_MEMBER void store(MmaPack* tile, const Share& from) const {
#pragma unroll
    for (uint32_t i = 0; i < kPacks; ++i)
      if (lane < lanes) tile[mma_place(lane + i * kApart, k / 8)] = from[i];
  }
};

/// The image as the side whose lanes are outputs: a thread gathers some packs of terms of one of them.
template <int lanes>
struct ConvColumns {
  static constexpr uint32_t kPacks = lanes * 4 / kGemmThreads, kApart = kGemmThreads / lanes;
  using Share = uint32_t[kPacks][8];
  ConvWindow window;
  const uint16_t* data;
  uint32_t lane, pack;

  BW_DEVICE_MEMBER ConvColumns(const ConvArgs& args, ConvSteps& steps, const ConvPart& part, uint32_t first)
      : window(args, steps, part, first + thread() % lanes),
        data(static_cast<const uint16_t*>(args.x) + window.x),
        lane(thread() % lanes),
        pack(thread() / lanes) {}

  BW_DEVICE_MEMBER void fetch(uint32_t k, Share& to) const {
    window.fill(k, kMmaStep);
    window.with_inside([&](auto in) __attribute__((always_inline)) {
#pragma unroll
      for (uint32_t p = 0; p < kPacks; ++p) {
        const auto* from = reinterpret_cast<const Pack<uint32_t, 4>*>(
            window.steps.v + (k + (pack + p * kApart) * 8) % kConvSteps);
#pragma unroll
        for (uint32_t i = 0; i < 4; ++i) {
          const Pack<uint32_t, 4> two = from[i];
          to[p][2 * i] = in(two.v[1]) ? data[static_cast<int32_t>(two.v[0])] : 0;
          to[p][2 * i + 1] = in(two.v[3]) ? data[static_cast<int32_t>(two.v[2])] : 0;
        }
      }
    });
  }
  BW_DEVICE_MEMBER void store(MmaPack* tile, const Share& from) const {
#pragma unroll
    for (uint32_t p = 0; p < kPacks; ++p) {
      MmaPack whole;
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) whole.v[i] = pack_halves(from[p][2 * i], from[p][2 * i + 1]);
      tile[mma_place(lane, pack + p * kApart)] = whole;
    }
  }
};

template <class T, int rows, int columns>
BW_DEVICE void conv_mma(const ConvArgs& args, MmaShared<MmaTile<rows, columns>>& shared, ConvSteps& steps) {
  using Tile = MmaTile<rows, columns>;
  const TilePlace at = tile_place(args.grid, block());
  const uint32_t row = at.row * rows, column = at.column * columns;
  const ConvPart part = conv_part(args, at.batch);
  const ConvRows<rows> a(args, part.w, row);
  const ConvColumns<columns> b(args, steps, part, column);
  MmaSums<T, Tile> sums;
  mma_sums(a, b, args.k, shared, sums);

  // Through shared memory, so that neighbouring threads store neighbouring outputs.
  constexpr uint32_t kPitch = columns + 8;
  static_assert(rows * kPitch * sizeof(T) <= sizeof(shared));
  auto* results = reinterpret_cast<T*>(&shared);
  barrier();
  sums.each([&](uint32_t down, uint32_t across, float sum)
                __attribute__((always_inline)) { results[down * kPitch + across] = narrow<T>(sum); });
  barrier();
  auto* y = static_cast<T*>(args.y) + part.y + row * args.y_channel;
  const uint32_t left = args.m - row < rows ? args.m - row : rows;
  if (args.packs != 0) {
    constexpr uint32_t kThreads = columns / 8;  // of a row
    const uint32_t c = thread() % kThreads * 8;
    if (column + c >= args.n) return;
    T* to = y + conv_place(args, column + c).y;
#pragma unroll 1
    for (uint32_t r = thread() / kThreads; r < left; r += kGemmThreads / kThreads)
      *reinterpret_cast<MmaPack*>(to + r * args.y_channel) =
          *reinterpret_cast<const MmaPack*>(results + r * kPitch + c);
  } else {
    const uint32_t c = thread() % columns;
    if (column + c >= args.n) return;
    T* to = y + conv_place(args, column + c).y;
#pragma unroll 4
    for (uint32_t r = thread() / columns; r < left; r += kGemmThreads / columns)
      to[r * args.y_channel] = results[r * kPitch + c];
  }
}

#define BW_CONV_MMA(T, name, tile)                                         \
  BW_KERNEL_SIDE_BY_SIDE(kGemmThreads, 2) conv_mma_##name(ConvArgs args) { \
    BW_SHARED static MmaShared<MmaTile<tile.rows, tile.columns>> shared;   \
    BW_SHARED static ConvSteps steps;                                      \
    conv_mma<T, tile.rows, tile.columns>(args, shared, steps);             \
  }
BW_CONV_MMA(f16, f16, kConvMma)
BW_CONV_MMA(f16, f16_small, kConvMmaSmall)
BW_CONV_MMA(bf16, bf16, kConvMma)
BW_CONV_MMA(bf16, bf16_small, kConvMmaSmall)

}  // namespace beeswax::gpu
