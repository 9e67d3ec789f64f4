// SPDX-License-Identifier: Apache-2.0
// Convolutions of stride 1 on Hopper: f16 or bf16, summed in f32, as products of the kernel and the image's
// places, through the ring of wgmma_ring.h. A place is a pixel or a zero between rows or images, and holds
// all channels: the places that a tap takes lie one distance from those of the outputs, so the copy engine
// brings them as it brings rows of a matrix. Places that are no outputs are computed and left.
//   floors: 2 m n k over the rate of the matrix units, n counting all places; the bytes of image, places
//   (twice), kernel and result over the bandwidth
#include "kernels/conv_hopper_args.h"
#include "kernels/sm_90/wgmma_ring.h"
#include "kernels/wave.h"

namespace beeswax::gpu {

template <class T, ConvWgmmaTile tile>
struct ConvWgmma : WgmmaRing<T, tile.ring, tile.rows> {
  using Ring = WgmmaRing<T, tile.ring, tile.rows>;
  using Ring::kOwn;
  using Ring::Ring;

  BW_DEVICE_MEMBER static void bring(const ConvHopperArgs& args, const ConvHopperArgs* maps,
                                     const WgmmaPlace& at, uint32_t step, uint32_t a, uint32_t b,
                                     uint32_t ready) {
    const uint32_t tap = divide(step, args.tap_steps), row = divide(tap, args.tap_columns);
    const uint32_t chunk = step - tap * args.tap_steps.divisor, column = tap - row * args.tap_columns.divisor;
    const int32_t distance = args.first_tap + static_cast<int32_t>(row) * args.next_tap_row +
                             static_cast<int32_t>(column) * args.next_tap_column;
    load_box(a, &maps->product.a, ready, step * kWgmmaStep, at.row, 0);
    // Places before the first and behind the last are zeros too.
    load_box(b, &maps->product.b, ready, chunk * kWgmmaStep, at.column + static_cast<uint32_t>(distance), 0);
  }

  /// Results in their order by 64 places at a time: a lane stores two neighbours of 16 channels.
  BW_DEVICE_MEMBER void finish(const ConvHopperArgs& args, const WgmmaPlace& at, uint32_t group,
                               const float (&sums)[kOwn / 2]) const {
    const uint32_t warp = thread() / 32 % 4, first_channel = at.row + Ring::part_row(group) + warp * 16;
#pragma unroll
    for (uint32_t chunk = 0; chunk < kOwn / 64; ++chunk) {
      const uint32_t box = this->box_of(group, chunk);
      // A warp reads what it wrote; who is past the barrier has read the box that is filled next.
      this->fill_box(box, chunk, sums);
      wave_barrier();
      const uint32_t place = at.column + Ring::part_column(group) + chunk * 64 + lane() * 2;
      int64_t offset[2];
      bool exists[2];
#pragma unroll
      for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t image = divide(place + i, args.plane), in = place + i - image * args.plane.divisor;
        const uint32_t row = divide(in, args.pitch), column = in - row * args.pitch.divisor;
        exists[i] = place + i < args.product.n && row < args.out_rows && column < args.out_columns;
        offset[i] = image * args.y_image + row * args.y_row + column * args.y_column;
      }
      const bool neighbours = exists[0] && exists[1] && offset[1] == offset[0] + 1;
#pragma unroll 4
      for (uint32_t i = 0; i < 16; ++i) {
        if (first_channel + i >= args.product.m) break;
        const uint32_t row = warp * 16 + i;
        uint32_t pair;
        asm volatile("ld.shared.u32 %0, [%1];"
                     : "=r"(pair)
                     : "r"(box + row * 128 + ((lane() / 4) ^ (row % 8)) * 16 + lane() % 4 * 4)
                     : "memory");
        uint16_t* y = static_cast<uint16_t*>(args.product.c_data) + (first_channel + i) * args.y_channel;
        if (neighbours && reinterpret_cast<uintptr_t>(y + offset[0]) % 4 == 0) {
          *reinterpret_cast<uint32_t*>(y + offset[0]) = pair;
        } else {
          if (exists[0]) y[offset[0]] = static_cast<uint16_t>(pair);
          if (exists[1]) y[offset[1]] = static_cast<uint16_t>(pair >> 16);
        }
      }
    }
    if constexpr (kOwn / 64 % 2 == 1) wave_barrier();  // the next tile begins with this box
  }
};

template <class T, ConvWgmmaTile tile>
BW_DEVICE void conv_wgmma(const ConvHopperArgs& args, const ConvHopperArgs* maps) {
  using Conv = ConvWgmma<T, tile>;
  const Conv conv(shared_address(wgmma_memory));
  conv.template run<false, false>(
      args.product,
      [&](const WgmmaPlace& at, uint32_t step, uint32_t a, uint32_t b, uint32_t ready)
          __attribute__((always_inline)) { Conv::bring(args, maps, at, step, a, b, ready); },
      [&](const WgmmaPlace& at, uint32_t group, const auto& sums)
          __attribute__((always_inline)) { conv.finish(args, at, group, sums); });
}

#define BW_CONV_WGMMA(T, name, tile)                                                                     \
  BW_KERNEL_OF_REGISTERS(kWgmmaThreads) conv_wgmma_##T##_##name(ConvHopperArgs args) {                   \
    conv_wgmma<T, kConvWgmmaTiles[tile]>(args, BW_ARGUMENT("conv_wgmma_" #T "_" #name, ConvHopperArgs)); \
  }
#define BW_CONV_WGMMA_OF(T)    \
  BW_CONV_WGMMA(T, 128x256, 0) \
  BW_CONV_WGMMA(T, 128x128, 1) \
  BW_CONV_WGMMA(T, 128x64, 2)  \
  BW_CONV_WGMMA(T, 64x256, 3)  \
  BW_CONV_WGMMA(T, 64x128, 4)
BW_CONV_WGMMA_OF(f16)
BW_CONV_WGMMA_OF(bf16)

// The image's places, by tiles of places and channels: threads read neighbours of one channel and write
// neighbouring channels of one place.
BW_KERNEL(kConvSpreadThreads) conv_spread(ConvSpreadArgs args) {
  constexpr uint32_t kTile = kConvSpreadTile, kWarps = kConvSpreadThreads / 32, kPacks = kTile / 8;
  BW_SHARED static uint16_t tile[kTile][kTile + 2];
  const uint32_t places = divide(block(), args.channel_tiles);
  const uint32_t first_place = places * kTile;
  const uint32_t first_channel = (block() - places * args.channel_tiles.divisor) * kTile;
  const auto* x = static_cast<const uint16_t*>(args.x);
#pragma unroll
  for (uint32_t half = 0; half < kTile; half += 32) {
    const uint32_t place = first_place + half + thread() % 32;
    const uint32_t image = divide(place, args.plane), in = place - image * args.plane.divisor;
    const uint32_t row = divide(in, args.pitch), column = in - row * args.pitch.divisor;
    const bool is_pixel = place < args.places && row < args.rows && column < args.columns;
    const int64_t offset = image * args.x_image + row * args.x_row + column * args.x_column;
#pragma unroll
    for (uint32_t i = 0; i < kTile / kWarps; ++i) {
      const uint32_t channel = i * kWarps + thread() / 32;
      const bool exists = is_pixel && first_channel + channel < args.channels;
      tile[channel][half + thread() % 32] =
          exists ? x[offset + (first_channel + channel) * args.x_channel] : uint16_t{0};
    }
  }
  barrier();
#pragma unroll
  for (uint32_t i = thread(); i < kTile * kPacks; i += kConvSpreadThreads) {
    const uint32_t place = i / kPacks, channel = i % kPacks * 8;
    if (first_place + place >= args.places || first_channel + channel >= args.line) continue;
    Pack<uint16_t, 8> pack;
#pragma unroll
    for (uint32_t j = 0; j < 8; ++j) pack.v[j] = tile[channel + j][place];
    const int64_t to = int64_t{first_place + place} * args.line + first_channel + channel;
    *reinterpret_cast<Pack<uint16_t, 8>*>(static_cast<uint16_t*>(args.y) + to) = pack;
  }
}

}  // namespace beeswax::gpu
