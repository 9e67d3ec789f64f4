// SPDX-License-Identifier: Apache-2.0
// Matrix products of f32 on Hopper: the copy engine brings tiles, threads multiply them straight from shared
// memory. Each element is one chain of fused multiply-adds from +0 in increasing k, as in gemm.h.
//   floors: 2 m n k over the rate of fused multiply-adds; the bytes of a, b and c over the bandwidth
#include "kernels/sm_90/parts.h"

namespace beeswax::gpu {

/// One operand's tile in shared memory and a thread's lanes of it (rows of a, columns of b), in lines of 128
/// bytes whose packs are swizzled by the line's number. Dense along k: a line is 32 steps of one lane. Dense
/// along its lanes: a line is 32 lanes at one k, in boxes of 32 lines.
template <int lanes, int threads, bool turned>
struct LinesSide {
  static constexpr int kOwn = lanes / threads;   // lanes of a thread
  static constexpr int kGroup = turned ? 4 : 2;  // that are read together
  static constexpr uint32_t kBytes = lanes * kLinesStep * 4, kBox = 32 * 128;

  /// Lane i of thread t.
  BW_DEVICE_MEMBER static uint32_t lane(uint32_t t, int i) {
    if constexpr (turned) return (t + static_cast<uint32_t>(i / 4) * threads) * 4 + i % 4;
    return t + static_cast<uint32_t>(i) * threads;
  }
  /// Steps k to k + 3 of number i: where the lanes are dense, of numbers 4 (i / 4) to 4 (i / 4) + 3 at k + i
  /// % 4.
  BW_DEVICE_MEMBER static Pack<float, 4> read(const uint8_t* tile, uint32_t t, uint32_t k, int i) {
    uint32_t line = lane(t, i), pack = k / 4, box = 0;
    if constexpr (turned) {
      const uint32_t group = t + static_cast<uint32_t>(i / 4) * threads;
      line = k + i % 4;
      pack = group % 8;
      box = group / 8 * kBox;
    }
    return *reinterpret_cast<const Pack<float, 4>*>(tile + box + line * 128 + (pack ^ (line & 7)) * 16);
  }
  /// Element (number i, step s) of what read() gave for all i.
  template <int n>
  BW_DEVICE_MEMBER static float at(const Pack<float, 4> (&packs)[n], int i, int s) {
    if constexpr (turned) return packs[i / 4 * 4 + s].v[i % 4];
    return packs[i].v[s];
  }
  BW_DEVICE_MEMBER static void load(uint32_t to, const TensorMap* map, uint32_t ready, uint32_t k,
                                    uint32_t first, uint32_t batch) {
    if constexpr (turned) {
#pragma unroll
      for (uint32_t i = 0; i < lanes / 32; ++i) load_box(to + i * kBox, map, ready, first + i * 32, k, batch);
    } else {
      load_box(to, map, ready, k, first, batch);
    }
  }
};

extern BW_SHARED uint8_t lines_memory[];

template <LinesTile tile, bool turned_a, bool turned_b>
BW_DEVICE void gemm_lines(const HopperArgs& args, const HopperArgs* maps) {
  constexpr uint32_t kDown = tile.rows / 8, kAcross = tile.columns / 8;  // threads
  static_assert(kDown * kAcross == kLinesThreads);
  using A = LinesSide<tile.rows, kDown, turned_a>;
  using B = LinesSide<tile.columns, kAcross, turned_b>;
  const uint32_t base = shared_address(lines_memory), aligned = (base + 1023) & ~1023u;
  const uint8_t* stages = lines_memory + (aligned - base);
  constexpr uint32_t kStage = A::kBytes + B::kBytes;
  const uint32_t full = aligned + tile.stages * kStage, empty = full + tile.stages * 8;
  if (thread() == 0) {
    for (uint32_t stage = 0; stage < tile.stages; ++stage) {
      phase_init(full + stage * 8, 1);
      phase_init(empty + stage * 8, kLinesThreads / 32);
    }
    phase_init_done();
  }
  barrier();
  const uint32_t unit = divide(block(), args.part);
  const uint32_t part = block() - unit * args.part.divisor, first = part * args.part_steps;
  const uint32_t last = first + args.part_steps < args.steps ? first + args.part_steps : args.steps;
  const TilePlace at = tile_place(args.grid, unit);
  const uint32_t row = at.row * tile.rows, column = at.column * tile.columns;
  if (thread() >= kLinesThreads) {  // the warpgroup that loads
    give_registers<40>();
    if (thread() != kLinesThreads) return;
    uint32_t stage = 0, parity = 1;
    for (uint32_t step = first; step < last; ++step) {
      phase_wait(empty + stage * 8, parity);
      const uint32_t ready = full + stage * 8, to = aligned + stage * kStage;
      phase_arrive_expect(ready, kStage);
      A::load(to, &maps->a, ready, step * kLinesStep, row, at.batch * args.a_batch);
      B::load(to + A::kBytes, &maps->b, ready, step * kLinesStep, column, at.batch * args.b_batch);
      if (++stage == tile.stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    return;
  }
  take_registers<232>();
  // A warp is 4 threads down by 8 across, which reads the fewest lines.
  const uint32_t warp = thread() / 32;
  const uint32_t down = warp / (kAcross / 8) * 4 + lane() / 8, across = warp % (kAcross / 8) * 8 + lane() % 8;
  float sums[A::kOwn][B::kOwn];
#pragma unroll
  for (int i = 0; i < A::kOwn; ++i)
#pragma unroll
    for (int j = 0; j < B::kOwn; ++j) sums[i][j] = 0;
  uint32_t stage = 0, parity = 0;
#pragma unroll 1
  for (uint32_t step = first; step < last; ++step) {
    phase_wait(full + stage * 8, parity);
    const uint8_t* a = stages + stage * kStage;
    const uint8_t* b = a + A::kBytes;
#pragma unroll 2
    for (uint32_t k = 0; k < kLinesStep; k += 4) {
      Pack<float, 4> x[A::kOwn];
#pragma unroll
      for (int i = 0; i < A::kOwn; ++i) x[i] = A::read(a, down, k, i);
      // Columns come a few at a time, for the sake of registers.
#pragma unroll
      for (int j = 0; j < B::kOwn; j += B::kGroup) {
        Pack<float, 4> y[B::kGroup];
#pragma unroll
        for (int g = 0; g < B::kGroup; ++g) y[g] = B::read(b, across, k, j + g);
#pragma unroll
        for (int s = 0; s < 4; ++s)
#pragma unroll
          for (int g = 0; g < B::kGroup; ++g)
#pragma unroll
            for (int i = 0; i < A::kOwn; ++i)
              sums[i][j + g] = __builtin_fmaf(A::at(x, i, s), B::at(y, g, s), sums[i][j + g]);
      }
    }
    if (lane() == 0) phase_arrive(empty + stage * 8);
    if (++stage == tile.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  const auto each = [&](auto to) __attribute__((always_inline)) {
#pragma unroll
    for (int i = 0; i < A::kOwn; ++i)
#pragma unroll
      for (int j = 0; j < B::kOwn; ++j) to(A::lane(down, i), B::lane(across, j), sums[i][j]);
  };
  const auto join = [&](auto parts) __attribute__((always_inline)) {
    products_barrier();
    each([&](uint32_t r, uint32_t to, float sum)
             __attribute__((always_inline)) { parts.put(parts.place(r, to), sum); });
    parts.template join<kLinesThreads>(
        part, args.parts,
        [&](uint32_t r, uint32_t to, const Pack<float, 4>& joined) __attribute__((always_inline)) {
          parts.template store<float>(args, at.batch, row + r, column + to, joined);
        });
  };
  if (args.parts > 1) {
    using Down = TileParts<tile.rows, tile.columns, true>;
    using Across = TileParts<tile.rows, tile.columns, false>;
    static_assert(Down::kBytes <= tile.stages * kStage && Across::kBytes <= tile.stages * kStage);
    args.parts_down != 0 ? join(Down{aligned}) : join(Across{aligned});
    return;
  }
  float* c = static_cast<float*>(args.c_data) + at.batch * args.c_batch;
  each([&](uint32_t r, uint32_t to, float sum) __attribute__((always_inline)) {
    if (row + r < args.m && column + to < args.n)
      c[(row + r) * args.c_row + (column + to) * args.c_column] = sum;
  });
}

#define BW_GEMM_LINES_AS(name, tile, turned_a, turned_b)                                     \
  BW_KERNEL_OF_REGISTERS(kLinesThreads + 128) name(HopperArgs args) {                        \
    gemm_lines<kLinesTiles[tile], turned_a, turned_b>(args, BW_ARGUMENT(#name, HopperArgs)); \
  }
#define BW_GEMM_LINES(rows, tile)                                  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_nt, tile, false, false) \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_nn, tile, false, true)  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_tt, tile, true, false)  \
  BW_GEMM_LINES_AS(gemm_lines_f32_##rows##_tn, tile, true, true)
BW_GEMM_LINES(128, 0)
BW_GEMM_LINES(64, 1)

}  // namespace beeswax::gpu
