// SPDX-License-Identifier: Apache-2.0
// The ring of stages by which operands come to Hopper's matrix units: one warpgroup keeps the copy engine
// busy, two multiply what it brought, f16, bf16 or tf32 summed in f32. Blocks stay and take tile after tile,
// so that the next tile's operands come while results go out.
#pragma once

#include "kernels/gemm.h"
#include "kernels/mma/wgmma.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// Where a block is: a tile of a matrix, and which steps of k.
struct WgmmaPlace {
  uint32_t batch, part, row, column, first, last;
};
template <int tile_rows, int columns>
BW_DEVICE WgmmaPlace wgmma_place(const HopperArgs& args, uint32_t work) {
  const uint32_t unit = divide(work, args.part);
  TilePlace at;
  at.batch = divide(unit, args.grid.tiles);
  const uint32_t index = unit - at.batch * args.grid.tiles.divisor;
  const uint32_t band = divide(index, args.grid.band);
  const uint32_t in_band = index - band * args.grid.band.divisor;
  const uint32_t top = band * kWgmmaBand;
  const uint32_t rows = args.grid.down - top < kWgmmaBand ? args.grid.down - top : kWgmmaBand;
  at.column = in_band / rows;
  at.row = top + in_band - at.column * rows;
  const uint32_t part = work - unit * args.part.divisor;
  const uint32_t first = part * args.part_steps, last = first + args.part_steps;
  return {
      at.batch, part, at.row * tile_rows, at.column * columns, first, last < args.steps ? last : args.steps};
}

/// A tile of 128 rows, 64 for each warpgroup, or of 64 rows, whose columns they share.
template <class T, WgmmaTile tile, int rows = kWgmmaRows>
struct WgmmaRing {
  static constexpr int kColumns = tile.columns, kStages = tile.stages;
  static constexpr bool kShared = rows == 64;
  static constexpr int kOwn = kShared ? kColumns / 2 : kColumns;  // columns of a warpgroup
  static constexpr uint32_t kBytesA = rows * kHopperLine, kBytesB = kColumns * kHopperLine;
  static constexpr uint32_t kStage = kBytesA + kBytesB;
  static constexpr uint32_t kLine =
      64 * kHopperLine;                          // of an operand that is dense along its rows: 64 of them
  static constexpr uint32_t kBox = 64 * 64 * 2;  // of results on their way out
  static constexpr uint32_t kAllOut = kColumns >= 64 ? kWgmmaOut : 0;

  uint32_t stages, out, full, empty;  // in shared memory

  BW_DEVICE_MEMBER explicit WgmmaRing(uint32_t shared) {
    stages = (shared + 1023) & ~1023u;
    out = stages + kStages * kStage;
    full = out + kAllOut;
    empty = full + kStages * 8;
  }

  /// The whole kernel: bring(at, step, a, b, ready) has a step's operands copied to their places in a stage,
  /// finish(at, group, sums) stores a warpgroup's part of a tile.
  template <bool turned_a, bool turned_b, class Bring, class Finish>
  BW_DEVICE_MEMBER void run(const HopperArgs& args, Bring bring, Finish finish) const {
    if (thread() == 0) {
      for (uint32_t stage = 0; stage < kStages; ++stage) {
        phase_init(full + stage * 8, 1);
        phase_init(empty + stage * 8, 8);  // a thread of each warp that multiplies
      }
      phase_init_done();
    }
    barrier();
    const uint32_t group = thread() / 128;
    if (group == 2) {
      give_registers<40>();
      if (thread() == 256) load(args, bring);
    } else {
      take_registers<232>();
      multiply<turned_a, turned_b>(args, group, finish);
    }
  }

  /// Where a warpgroup's part of a tile begins.
  BW_DEVICE_MEMBER static uint32_t part_row(uint32_t group) { return kShared ? 0 : group * 64; }
  BW_DEVICE_MEMBER static uint32_t part_column(uint32_t group) { return kShared ? group * kOwn : 0; }
  /// Where this thread's first sum lies in it.
  BW_DEVICE_MEMBER static uint32_t first_row() { return thread() / 32 % 4 * 16 + lane() / 4; }
  BW_DEVICE_MEMBER static uint32_t first_column() { return lane() % 4 * 2; }
  /// Calls to(rows, columns, i) for each of this thread's sums i and how far it lies from the first.
  template <class To>
  BW_DEVICE_MEMBER static void each(To to) {
#pragma unroll
    for (uint32_t i = 0; i < kOwn / 2; ++i) to(i / 2 % 2 * 8, i / 4 * 8 + i % 2, i);
  }

  /// One of a warpgroup's two boxes, by turns.
  BW_DEVICE_MEMBER uint32_t box_of(uint32_t group, uint32_t chunk) const {
    return out + (group * 2 + chunk % 2) * kBox;
  }
  /// Writes 64 columns of a warpgroup's sums to a box: rows of 128 bytes, whose packs of 16 are swizzled by
  /// the row's number. A warp writes 16 rows.
  BW_DEVICE_MEMBER static void fill_box(uint32_t box, uint32_t chunk, const float (&sums)[kOwn / 2]) {
    const uint32_t warp = thread() / 32 % 4, row = warp * 16 + lane() % 16;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const float* s = sums + chunk * 32 + i * 8;
      const uint32_t place = (i * 2 + lane() / 16) ^ (row % 8);
      store_matrices(box + row * 128 + place * 16, pair(s[0], s[1]), pair(s[2], s[3]), pair(s[4], s[5]),
                     pair(s[6], s[7]));
    }
  }

 private:
  /// Brings the tiles of all the block's work, as stages become empty.
  template <class Bring>
  BW_DEVICE_MEMBER void load(const HopperArgs& args, Bring bring) const {
    uint32_t stage = 0, parity = 1;
    for (uint32_t work = block(); work < args.work; work += args.blocks) {
      const WgmmaPlace at = wgmma_place<rows, kColumns>(args, work);
      for (uint32_t step = at.first; step < at.last; ++step) {
        phase_wait(empty + stage * 8, parity);
        const uint32_t ready = full + stage * 8, a = stages + stage * kStage;
        phase_arrive_expect(ready, kStage);
        bring(at, step, a, a + kBytesA, ready);
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  }

  /// Sums of a warpgroup's part of each tile.
  template <bool turned_a, bool turned_b, class Finish>
  BW_DEVICE_MEMBER void multiply(const HopperArgs& args, uint32_t group, Finish finish) const {
    uint32_t stage = 0, parity = 0;
    for (uint32_t work = block(); work < args.work; work += args.blocks) {
      const WgmmaPlace at = wgmma_place<rows, kColumns>(args, work);
      float sums[kOwn / 2];
#pragma unroll
      for (float& sum : sums) sum = 0;
      uint32_t last = 0;  // the stage before
      for (uint32_t step = at.first; step < at.last; ++step) {
        phase_wait(full + stage * 8, parity);
        const uint32_t a = stages + stage * kStage + part_row(group) * kHopperLine;
        const uint32_t b = stages + stage * kStage + kBytesA + part_column(group) * kHopperLine;
        hold(sums);
        wgmma_begin();
#pragma unroll
        for (uint32_t k = 0; k < kHopperLine / 32; ++k) {
          Wgmma<T, kOwn, turned_a, turned_b>::multiply(
              sums, wgmma_operand(a + k * (turned_a ? 2048 : 32), kLine),
              wgmma_operand(b + k * (turned_b ? 2048 : 32), kLine), 1);
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (step != at.first && lane() == 0) phase_arrive(empty + last * 8);
        last = stage;
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
      wgmma_wait<0>();
      hold(sums);
      if (at.first < at.last && lane() == 0) phase_arrive(empty + last * 8);
      finish(at, group, sums);
    }
  }

  BW_DEVICE_MEMBER static uint32_t pair(float first, float second) {
    if constexpr (m::Same<T, f16>::kIs) {
      return static_cast<uint32_t>(f16_bits(first)) | static_cast<uint32_t>(f16_bits(second)) << 16;
    } else {
      return static_cast<uint32_t>(bf16_bits(first)) | static_cast<uint32_t>(bf16_bits(second)) << 16;
    }
  }
};

extern BW_SHARED uint8_t wgmma_memory[];

}  // namespace beeswax::gpu
#endif
