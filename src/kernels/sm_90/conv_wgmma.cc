// SPDX-License-Identifier: Apache-2.0
// Convolutions on Hopper: f16, bf16 or tf32, summed in f32, as products of the kernel and the image's places,
// through the ring of wgmma_ring.h. A place is a pixel or a zero between rows or images, and holds all
// channels: the places that a tap takes lie one distance from those of the outputs, so the copy engine brings
// them as it brings rows of a matrix. Places that are no outputs are computed and left.
//   floors: 2 m n k over the rate of the matrix units, n counting all places; the bytes of image, places
//   (twice), kernel and result over the bandwidth
#include "kernels/sm_90/conv_places.h"
#include "kernels/sm_90/wgmma_ring.h"
#include "kernels/wave.h"

namespace beeswax::gpu {

/// Operands are T, results R.
template <class T, class R, ConvWgmmaTile tile>
struct ConvWgmma : WgmmaRing<T, tile.ring, tile.rows> {
  using Ring = WgmmaRing<T, tile.ring, tile.rows>;
  using Ring::kOwn;
  using Ring::Ring;
  // Sums wait as R where that is what the ring writes, else as f32, for which two boxes are one.
  static constexpr bool kNarrow = m::Same<T, R>::kIs;

  /// Results in their order by 64 places at a time: a lane stores two neighbours of 16 channels.
  BW_DEVICE_MEMBER void finish(const ConvHopperArgs& args, const WgmmaPlace& at, uint32_t group,
                               const float (&sums)[kOwn / 2]) const {
    const uint32_t warp = thread() / 32 % 4, first_channel = at.row + Ring::part_row(group) + warp * 16;
    R* const results = conv_results<R>(args, at.batch);
#pragma unroll
    for (uint32_t chunk = 0; chunk < kOwn / 64; ++chunk) {
      const uint32_t box = this->box_of(group, kNarrow ? chunk : 0);
      // A warp reads what it wrote. With two boxes, who is past the barrier has read the one that is filled
      // next.
      if constexpr (kNarrow) {
        this->fill_box(box, chunk, sums);
      } else {
        wave_barrier();
        fill_wide(box, chunk, sums);
      }
      wave_barrier();
      const uint32_t place = at.column + Ring::part_column(group) + chunk * 64 + lane() * 2;
      const ConvOutput first = conv_output(args, place), second = conv_output(args, place + 1);
      const bool neighbours = first.exists && second.exists && second.offset == first.offset + 1;
#pragma unroll 4
      for (uint32_t i = 0; i < 16; ++i) {
        if (first_channel + i >= args.product.m) break;
        const Pack<R, 2> pair = read_pair(box, warp * 16 + i);
        R* const y = results + (first_channel + i) * args.y_channel;
        if (neighbours && reinterpret_cast<uintptr_t>(y + first.offset) % sizeof(pair) == 0) {
          store_whole(y + first.offset, pair);
        } else {
          if (first.exists) y[first.offset] = pair.v[0];
          if (second.exists) y[second.offset] = pair.v[1];
        }
      }
    }
    if constexpr (kOwn / 64 % 2 == 1) wave_barrier();  // the next tile begins with this box
  }

 private:
  /// 64 columns of a warpgroup's sums: rows of 256 bytes, whose packs of 16 are swizzled in pairs by the
  /// row's number.
  BW_DEVICE_MEMBER static uint32_t wide_place(uint32_t row, uint32_t column) {
    return row * 256 + ((column / 4) ^ (row % 8 * 2)) * 16 + column % 4 * 4;
  }
  BW_DEVICE_MEMBER static void fill_wide(uint32_t box, uint32_t chunk, const float (&sums)[kOwn / 2]) {
#pragma unroll
    for (uint32_t i = 0; i < 32; i += 2)
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(
                       box + wide_place(Ring::first_row() + i / 2 % 2 * 8, i / 4 * 8 + Ring::first_column())),
                   "f"(sums[chunk * 32 + i]), "f"(sums[chunk * 32 + i + 1])
                   : "memory");
  }
  /// This lane's two results of a row.
  BW_DEVICE_MEMBER static Pack<R, 2> read_pair(uint32_t box, uint32_t row) {
    if constexpr (kNarrow) {
      uint32_t pair;
      asm volatile("ld.shared.u32 %0, [%1];"
                   : "=r"(pair)
                   : "r"(box + row * 128 + ((lane() / 4) ^ (row % 8)) * 16 + lane() % 4 * 4)
                   : "memory");
      return cast_bits<Pack<R, 2>>(pair);
    } else {
      float pair[2];
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                   : "=f"(pair[0]), "=f"(pair[1])
                   : "r"(box + wide_place(row, lane() * 2))
                   : "memory");
      return narrow_pack<R>(pair);
    }
  }
};

template <class T, class R, ConvWgmmaTile tile>
BW_DEVICE void conv_wgmma(const ConvHopperArgs& args, const ConvHopperArgs* maps) {
  using Conv = ConvWgmma<T, R, tile>;
  const Conv conv(shared_address(wgmma_memory));
  conv.template run<false, false>(
      args.product,
      [&](const WgmmaPlace& at, uint32_t step, uint32_t a, uint32_t b,
          uint32_t ready) __attribute__((always_inline)) {
        load_conv_step<kHopperLine / sizeof(T)>(args, maps, at.batch, at.row, at.column, step, a, b, ready);
      },
      [&](const WgmmaPlace& at, uint32_t group, const auto& sums)
          __attribute__((always_inline)) { conv.finish(args, at, group, sums); });
}

#define BW_CONV_WGMMA(T, R, of, name, tile)                                                                  \
  BW_KERNEL_OF_REGISTERS(kWgmmaThreads) conv_wgmma_##of##_##name(ConvHopperArgs args) {                      \
    conv_wgmma<T, R, kConvWgmmaTiles[tile]>(args, BW_ARGUMENT("conv_wgmma_" #of "_" #name, ConvHopperArgs)); \
  }
#define BW_CONV_WGMMA_OF(T, R, of)    \
  BW_CONV_WGMMA(T, R, of, 128x256, 0) \
  BW_CONV_WGMMA(T, R, of, 128x128, 1) \
  BW_CONV_WGMMA(T, R, of, 128x64, 2)  \
  BW_CONV_WGMMA(T, R, of, 64x256, 3)  \
  BW_CONV_WGMMA(T, R, of, 64x128, 4)
BW_CONV_WGMMA_OF(f16, f16, f16)
BW_CONV_WGMMA_OF(bf16, bf16, bf16)
BW_CONV_WGMMA_OF(Tf32, float, tf32)
BW_CONV_WGMMA_OF(f16, f8e4m3, f8e4m3)  // widened before

}  // namespace beeswax::gpu
