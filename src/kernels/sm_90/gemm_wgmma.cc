// SPDX-License-Identifier: Apache-2.0
// Matrix products on Hopper: f16 or bf16, summed in f32. One warpgroup keeps the copy engine busy, two
// multiply what it brought; blocks stay and take tile after tile, so that the next tile's operands come while
// results go out.
//   floors: 2 m n k over the rate of the matrix units; the bytes of a, b and c over the bandwidth
#include "kernels/sm_90/parts.h"

namespace beeswax::gpu {

/// Where a block is: a tile of a matrix, and which steps of k.
struct WgmmaPlace {
  uint32_t batch, part, row, column, first, last;
};
template <int columns>
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
      at.batch, part, at.row * kWgmmaRows, at.column * columns, first, last < args.steps ? last : args.steps};
}

template <class T, WgmmaTile tile, bool turned_a, bool turned_b>
struct GemmWgmma {
  static constexpr int kColumns = tile.columns, kStages = tile.stages;
  static constexpr uint32_t kBytesA = kWgmmaRows * kWgmmaStep * 2, kBytesB = kColumns * kWgmmaStep * 2;
  static constexpr uint32_t kStage = kBytesA + kBytesB;
  static constexpr uint32_t kLine =
      64 * kWgmmaStep * 2;                       // of an operand that is dense along its rows: 64 of them
  static constexpr uint32_t kBox = 64 * 64 * 2;  // of results on their way out
  static constexpr uint32_t kAllOut = kColumns >= 64 ? kWgmmaOut : 0;

  uint32_t stages, out, full, empty;  // in shared memory

  BW_DEVICE_MEMBER explicit GemmWgmma(uint32_t shared) {
    stages = (shared + 1023) & ~1023u;
    out = stages + kStages * kStage;
    full = out + kAllOut;
    empty = full + kStages * 8;
  }

  /// Brings the tiles of all the block's work, as stages become empty.
  BW_DEVICE_MEMBER void load(const HopperArgs& args, const HopperArgs* maps) const {
    uint32_t stage = 0, parity = 1;
    for (uint32_t work = block(); work < args.work; work += args.blocks) {
      const WgmmaPlace at = wgmma_place<kColumns>(args, work);
      const uint32_t batch_a = at.batch * args.a_batch, batch_b = at.batch * args.b_batch;
      for (uint32_t step = at.first; step < at.last; ++step) {
        phase_wait(empty + stage * 8, parity);
        const uint32_t ready = full + stage * 8, a = stages + stage * kStage, b = a + kBytesA;
        phase_arrive_expect(ready, kStage);
        const uint32_t k = step * kWgmmaStep;
        if constexpr (turned_a) {
#pragma unroll
          for (uint32_t i = 0; i < kWgmmaRows / 64; ++i)
            load_box(a + i * kLine, &maps->a, ready, at.row + i * 64, k, batch_a);
        } else {
          load_box(a, &maps->a, ready, k, at.row, batch_a);
        }
        if constexpr (turned_b) {
#pragma unroll
          for (uint32_t i = 0; i < kColumns / 64; ++i)
            load_box(b + i * kLine, &maps->b, ready, at.column + i * 64, k, batch_b);
        } else {
          load_box(b, &maps->b, ready, k, at.column, batch_b);
        }
        if (++stage == kStages) {
          stage = 0;
          parity ^= 1;
        }
      }
    }
  }

  /// Sums of 64 rows of each tile, by a warpgroup.
  BW_DEVICE_MEMBER void multiply(const HopperArgs& args, const HopperArgs* maps, uint32_t group) const {
    uint32_t stage = 0, parity = 0;
    for (uint32_t work = block(); work < args.work; work += args.blocks) {
      const WgmmaPlace at = wgmma_place<kColumns>(args, work);
      float sums[kColumns / 2];
#pragma unroll
      for (float& sum : sums) sum = 0;
      uint32_t last = 0;  // the stage before
      for (uint32_t step = at.first; step < at.last; ++step) {
        phase_wait(full + stage * 8, parity);
        const uint32_t a = stages + stage * kStage + group * kBox, b = stages + stage * kStage + kBytesA;
        hold(sums);
        wgmma_begin();
#pragma unroll
        for (uint32_t k = 0; k < kWgmmaStep / 16; ++k) {
          Wgmma<T, kColumns, turned_a, turned_b>::multiply(
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
      if (args.parts > 1) {
        args.parts_down != 0 ? join<true>(args, at, group, sums) : join<false>(args, at, group, sums);
      } else if (kColumns >= 64 && args.through_map != 0) {
        send(args, at, &maps->c, group, sums);
      } else {
        store(args, at, group, sums);
      }
    }
    if (thread() % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }

 private:
  BW_DEVICE_MEMBER static uint32_t pair(float first, float second) {
    if constexpr (m::Same<T, f16>::kIs) {
      return static_cast<uint32_t>(f16_bits(first)) | static_cast<uint32_t>(f16_bits(second)) << 16;
    } else {
      return static_cast<uint32_t>(bf16_bits(first)) | static_cast<uint32_t>(bf16_bits(second)) << 16;
    }
  }

  /// Results by the copy engine, 64 columns at a time, through two buffers.
  BW_DEVICE_MEMBER void send(const HopperArgs& args, const WgmmaPlace& at, const TensorMap* map,
                             uint32_t group, const float (&sums)[kColumns / 2]) const {
    const bool leads = thread() % 128 == 0;
    const uint32_t warp = thread() / 32 % 4, row = warp * 16 + lane() % 16;
#pragma unroll
    for (uint32_t chunk = 0; chunk < kColumns / 64; ++chunk) {
      const uint32_t box = out + (group * 2 + chunk % 2) * kBox;
      if (leads) wait_for_stores<1>();
      warpgroup_barrier(1 + group);
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
        const float* s = sums + chunk * 32 + i * 8;
        const uint32_t place = (i * 2 + lane() / 16) ^ (row % 8);
        store_matrices(box + row * 128 + place * 16, pair(s[0], s[1]), pair(s[2], s[3]), pair(s[4], s[5]),
                       pair(s[6], s[7]));
      }
      fence_shared();
      warpgroup_barrier(1 + group);
      if (leads && at.row + group * 64 < args.m && at.column + chunk * 64 < args.n)
        store_box(map, box, at.column + chunk * 64, at.row + group * 64, at.batch);
    }
  }

  /// Where this thread's first sum lies in the tile.
  BW_DEVICE_MEMBER static uint32_t first_row(uint32_t group) {
    return group * 64 + thread() / 32 % 4 * 16 + lane() / 4;
  }
  BW_DEVICE_MEMBER static uint32_t first_column() { return lane() % 4 * 2; }
  /// Calls to(rows, columns, i) for each of this thread's sums i and how far it lies from the first.
  template <class To>
  BW_DEVICE_MEMBER static void each(To to) {
#pragma unroll
    for (uint32_t i = 0; i < kColumns / 2; ++i) to(i / 2 % 2 * 8, i / 4 * 8 + i % 2, i);
  }

  /// Parts of k, by way of the stages, which no product reads any more.
  template <bool down>
  BW_DEVICE_MEMBER void join(const HopperArgs& args, const WgmmaPlace& at, uint32_t group,
                             const float (&sums)[kColumns / 2]) const {
    using Parts = TileParts<kWgmmaRows, kColumns, down>;
    static_assert(Parts::kBytes <= kStages * kStage);
    const Parts parts{stages};
    products_barrier();
    uint32_t first = Parts::place(first_row(group), first_column());
    BW_HIDE_WORD(first);  // or compilers keep all places in registers over the loop around this
    each([&](uint32_t rows, uint32_t columns, uint32_t i)
             __attribute__((always_inline)) { parts.put(first + Parts::place(rows, columns), sums[i]); });
    parts.template join<kWgmmaThreads - 128>(
        at.part, args.parts,
        [&](uint32_t row, uint32_t column, const Pack<float, 4>& joined) __attribute__((always_inline)) {
          if (args.c_wide != 0) {
            Parts::template store<float>(args, at.batch, at.row + row, at.column + column, joined);
          } else {
            Parts::template store<T>(args, at.batch, at.row + row, at.column + column, joined);
          }
        });
  }

  /// Results straight from registers, where c's strides do not suit the copy engine.
  BW_DEVICE_MEMBER void store(const HopperArgs& args, const WgmmaPlace& at, uint32_t group,
                              const float (&sums)[kColumns / 2]) const {
    const uint32_t first_r = at.row + first_row(group), first_c = at.column + first_column();
    each([&](uint32_t rows, uint32_t columns, uint32_t i) __attribute__((always_inline)) {
      const uint32_t row = first_r + rows, column = first_c + columns;
      if (row >= args.m || column >= args.n) return;
      const int64_t to = at.batch * args.c_batch + row * args.c_row + column * args.c_column;
      if (args.c_wide != 0) {
        static_cast<float*>(args.c_data)[to] = sums[i];
      } else {
        static_cast<T*>(args.c_data)[to] = T(sums[i]);
      }
    });
  }
};

extern BW_SHARED uint8_t wgmma_memory[];

template <class T, WgmmaTile tile, bool turned_a, bool turned_b>
BW_DEVICE void gemm_wgmma(const HopperArgs& args, const HopperArgs* maps) {
  const GemmWgmma<T, tile, turned_a, turned_b> gemm(shared_address(wgmma_memory));
  if (thread() == 0) {
    for (uint32_t stage = 0; stage < tile.stages; ++stage) {
      phase_init(gemm.full + stage * 8, 1);
      phase_init(gemm.empty + stage * 8, 8);  // a thread of each warp that multiplies
    }
    phase_init_done();
  }
  barrier();
  const uint32_t group = thread() / 128;
  if (group == 2) {
    give_registers<40>();
    if (thread() == 256) gemm.load(args, maps);
  } else {
    take_registers<232>();
    gemm.multiply(args, maps, group);
  }
}

#define BW_GEMM_WGMMA_AS(name, T, tile, turned_a, turned_b)                                     \
  BW_KERNEL_OF_REGISTERS(kWgmmaThreads) name(HopperArgs args) {                                 \
    gemm_wgmma<T, kWgmmaTiles[tile], turned_a, turned_b>(args, BW_ARGUMENT(#name, HopperArgs)); \
  }
#define BW_GEMM_WGMMA(T, columns, tile)                                    \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_nt, T, tile, false, false) \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_tt, T, tile, true, false)
#define BW_GEMM_WGMMA_TURNED(T, columns, tile)                            \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_nn, T, tile, false, true) \
  BW_GEMM_WGMMA_AS(gemm_wgmma_##T##_##columns##_tn, T, tile, true, true)
#define BW_GEMM_WGMMA_OF(T)       \
  BW_GEMM_WGMMA(T, 256, 0)        \
  BW_GEMM_WGMMA_TURNED(T, 256, 0) \
  BW_GEMM_WGMMA(T, 128, 1)        \
  BW_GEMM_WGMMA_TURNED(T, 128, 1) \
  BW_GEMM_WGMMA(T, 64, 2)         \
  BW_GEMM_WGMMA_TURNED(T, 64, 2)  \
  BW_GEMM_WGMMA(T, 16, 3)
BW_GEMM_WGMMA_OF(f16)
BW_GEMM_WGMMA_OF(bf16)

}  // namespace beeswax::gpu
