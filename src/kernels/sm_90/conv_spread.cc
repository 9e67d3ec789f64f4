// SPDX-License-Identifier: Apache-2.0
// conv_spread_<element>: an image's places for convolutions on Hopper, and their kernels, by tiles of places
// and channels. Threads read neighbours of one channel and write neighbouring channels of one place.
//   floors: the bytes of the image and of its places over the bandwidth
#include "kernels/conv_hopper_args.h"
#include "kernels/elements.h"
#include "kernels/mma/lanes.h"

namespace beeswax::gpu {

// What becomes of an element.
struct Keep16 {
  using From = uint16_t;
  BW_DEVICE_MEMBER static uint16_t of(From x) { return x; }
};
struct Keep32 {
  using From = uint32_t;
  BW_DEVICE_MEMBER static uint32_t of(From x) { return x; }
};
struct ToTf32 {
  using From = uint32_t;
  BW_DEVICE_MEMBER static uint32_t of(From x) { return tf32_bits(x); }
};
struct WidenF8 {
  using From = f8e4m3;
  BW_DEVICE_MEMBER static uint16_t of(From x) { return f16_bits(widen(x)); }
};

/// Where a place's channels lie in the image, if it is a pixel.
struct SpreadFrom {
  int64_t offset;
  bool exists;
};
BW_DEVICE SpreadFrom spread_from(const ConvSpread& args, uint32_t phase, uint32_t place) {
  const uint32_t row_phase = divide(phase, args.phase_columns);
  const uint32_t column_phase = phase - row_phase * args.phase_columns.divisor;
  const uint32_t image = divide(place, args.plane), in = place - image * args.plane.divisor;
  const uint32_t row = divide(in, args.pitch), column = in - row * args.pitch.divisor;
  return {image * args.x_image + row * args.x_row + column * args.x_column + row_phase * args.x_phase_row +
              column_phase * args.x_phase_column,
          place < args.places && row * args.phase_rows + row_phase < args.rows &&
              column * args.phase_columns.divisor + column_phase < args.columns};
}

template <class Element>
BW_DEVICE void conv_spread(const ConvSpreadArgs& both) {
  const bool is_second = block() >= both.second;
  const ConvSpread& args = both.of[is_second ? 1 : 0];
  const uint32_t number = block() - (is_second ? both.second : 0);
  using From = typename Element::From;
  using Bits = decltype(Element::of(From{}));
  constexpr uint32_t kTile = kConvSpreadTile, kWarps = kConvSpreadThreads / 32;
  static_assert(kTile == 64);
  constexpr uint32_t kPack = 16 / sizeof(Bits), kPacks = kTile / kPack;
  BW_SHARED static Bits tile[kTile][kTile + 4 / sizeof(Bits)];
  const uint32_t places = divide(number, args.channel_tiles), tiles = divide(places, args.phases);
  const uint32_t first_place = tiles * kTile, phase = places - tiles * args.phases.divisor;
  const uint32_t first_channel = (number - places * args.channel_tiles.divisor) * kTile;
  const auto* x = static_cast<const From*>(args.x);
  // All loads before they are written, and without branches: what is not there is some element of the image,
  // until it is written.
  const uint32_t channels = args.channels - first_channel, last = channels - 1;
  const auto load = [&](const SpreadFrom& from, uint32_t channel) __attribute__((always_inline)) {
    const uint32_t near = first_channel + (channel < last ? channel : last);
    return x[(from.exists ? from.offset : 0) + near * args.x_channel];
  };
  const auto keep = [&](From got, bool exists, uint32_t place, uint32_t channel)
                        __attribute__((always_inline)) {
                          const Bits bits = Element::of(got);
                          tile[channel][place] = exists && channel < channels ? bits : Bits{0};
                        };
  const uint32_t warp = thread() / 32, across = thread() % 32;
  if (args.by_channels != 0) {
#pragma unroll 1
    for (uint32_t first = warp; first < kTile; first += 4 * kWarps) {
      From got[4][2];
      bool exists[4];
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        const SpreadFrom from = spread_from(args, phase, first_place + first + i * kWarps);
        exists[i] = from.exists;
        got[i][0] = load(from, across);
        got[i][1] = load(from, across + 32);
      }
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        keep(got[i][0], exists[i], first + i * kWarps, across);
        keep(got[i][1], exists[i], first + i * kWarps, across + 32);
      }
    }
  } else {
    constexpr uint32_t kTurns = kTile / kWarps;
    From got[2][kTurns];
    bool exists[2];
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      const SpreadFrom from = spread_from(args, phase, first_place + half * 32 + across);
      exists[half] = from.exists;
#pragma unroll
      for (uint32_t i = 0; i < kTurns; ++i) got[half][i] = load(from, i * kWarps + warp);
    }
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half)
#pragma unroll
      for (uint32_t i = 0; i < kTurns; ++i)
        keep(got[half][i], exists[half], half * 32 + across, i * kWarps + warp);
  }
  barrier();
#pragma unroll
  for (uint32_t i = thread(); i < kTile * kPacks; i += kConvSpreadThreads) {
    const uint32_t place = i / kPacks, channel = i % kPacks * kPack;
    if (first_place + place >= args.places || first_channel + channel >= args.line) continue;
    Pack<Bits, kPack> pack;
#pragma unroll
    for (uint32_t j = 0; j < kPack; ++j) pack.v[j] = tile[channel + j][place];
    const int64_t to =
        (int64_t{phase} * args.places + first_place + place) * args.line + first_channel + channel;
    *reinterpret_cast<Pack<Bits, kPack>*>(static_cast<Bits*>(args.y) + to) = pack;
  }
}

BW_KERNEL_SIDE_BY_SIDE(kConvSpreadThreads, 5) conv_spread_16(ConvSpreadArgs args) {
  conv_spread<Keep16>(args);
}
BW_KERNEL_SIDE_BY_SIDE(kConvSpreadThreads, 5) conv_spread_32(ConvSpreadArgs args) {
  conv_spread<Keep32>(args);
}
BW_KERNEL_SIDE_BY_SIDE(kConvSpreadThreads, 5) conv_spread_tf32(ConvSpreadArgs args) {
  conv_spread<ToTf32>(args);
}
BW_KERNEL_SIDE_BY_SIDE(kConvSpreadThreads, 5) conv_spread_f8e4m3(ConvSpreadArgs args) {
  conv_spread<WidenF8>(args);
}

}  // namespace beeswax::gpu
