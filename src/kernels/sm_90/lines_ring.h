// SPDX-License-Identifier: Apache-2.0
// The ring of stages by which operands of f32 products come to Hopper's threads: one warpgroup keeps the copy
// engine busy, two multiply what it brought straight from shared memory.
#pragma once

#include "kernels/gemm.h"
#include "kernels/mma/wgmma.h"

#if BW_NVIDIA
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

/// Some steps of k, [first, last), of a tile.
struct LinesSegment {
  uint32_t tile, first, last;
};

/// Threads that multiply make 8 by 8 sums each: chains of fused multiply-adds from +0 in increasing k.
template <LinesTile tile, bool turned_a, bool turned_b>
struct LinesRing {
  static constexpr uint32_t kDown = tile.rows / 8, kAcross = tile.columns / 8;  // threads
  static_assert(kDown * kAcross == kLinesThreads);
  using A = LinesSide<tile.rows, kDown, turned_a>;
  using B = LinesSide<tile.columns, kAcross, turned_b>;
  static constexpr uint32_t kStage = A::kBytes + B::kBytes;
  using Sums = float[A::kOwn][B::kOwn];

  uint32_t stages, full, empty;  // in shared memory

  BW_DEVICE_MEMBER LinesRing() {
    stages = (shared_address(lines_memory) + 1023) & ~1023u;
    full = stages + tile.stages * kStage;
    empty = full + tile.stages * 8;
  }

  // Where a thread's lanes begin: a warp is 4 threads down by 8 across, which reads the fewest lines.
  BW_DEVICE_MEMBER static uint32_t down() { return thread() / 32 / (kAcross / 8) * 4 + lane() / 8; }
  BW_DEVICE_MEMBER static uint32_t across() { return thread() / 32 % (kAcross / 8) * 8 + lane() % 8; }
  BW_DEVICE_MEMBER static uint32_t row(int i) { return A::lane(down(), i); }
  BW_DEVICE_MEMBER static uint32_t column(int j) { return B::lane(across(), j); }

  /// The whole kernel: segments(body) calls body(segment) for each segment of the block in turn,
  /// bring(segment, step, a, b, ready) has a step's operands copied to their places in a stage,
  /// finish(segment, sums) takes what a thread summed up.
  template <class Segments, class Bring, class Finish>
  BW_DEVICE_MEMBER void run(Segments segments, Bring bring, Finish finish) const {
    if (thread() == 0) {
      for (uint32_t stage = 0; stage < tile.stages; ++stage) {
        phase_init(full + stage * 8, 1);
        phase_init(empty + stage * 8, kLinesThreads / 32);
      }
      phase_init_done();
    }
    barrier();
    if (thread() >= kLinesThreads) {
      give_registers<40>();
      if (thread() != kLinesThreads) return;
      uint32_t stage = 0, parity = 1;
      segments([&](const LinesSegment& at) __attribute__((always_inline)) {
        for (uint32_t step = at.first; step < at.last; ++step) {
          phase_wait(empty + stage * 8, parity);
          const uint32_t ready = full + stage * 8, a = stages + stage * kStage;
          phase_arrive_expect(ready, kStage);
          bring(at, step, a, a + A::kBytes, ready);
          turn(stage, parity);
        }
      });
      return;
    }
    take_registers<232>();
    uint32_t stage = 0, parity = 0;
    segments([&](const LinesSegment& at) __attribute__((always_inline)) {
      Sums sums;
#pragma unroll
      for (int i = 0; i < A::kOwn; ++i)
#pragma unroll
        for (int j = 0; j < B::kOwn; ++j) sums[i][j] = 0;
#pragma unroll 1
      for (uint32_t step = at.first; step < at.last; ++step) {
        phase_wait(full + stage * 8, parity);
        add_step(sums, lines_memory + (stages - shared_address(lines_memory)) + stage * kStage);
        if (lane() == 0) phase_arrive(empty + stage * 8);
        turn(stage, parity);
      }
      finish(at, sums);
    });
  }

 private:
  BW_DEVICE_MEMBER static void turn(uint32_t& stage, uint32_t& parity) {
    if (++stage < tile.stages) return;
    stage = 0;
    parity ^= 1;
  }

  BW_DEVICE_MEMBER static void add_step(Sums& sums, const uint8_t* a) {
    const uint8_t* b = a + A::kBytes;
    const uint32_t first_row = down(), first_column = across();
#pragma unroll 2
    for (uint32_t k = 0; k < kLinesStep; k += 4) {
      Pack<float, 4> x[A::kOwn];
#pragma unroll
      for (int i = 0; i < A::kOwn; ++i) x[i] = A::read(a, first_row, k, i);
      // Columns come a few at a time, for the sake of registers.
#pragma unroll
      for (int j = 0; j < B::kOwn; j += B::kGroup) {
        Pack<float, 4> y[B::kGroup];
#pragma unroll
        for (int g = 0; g < B::kGroup; ++g) y[g] = B::read(b, first_column, k, j + g);
#pragma unroll
        for (int s = 0; s < 4; ++s)
#pragma unroll
          for (int g = 0; g < B::kGroup; ++g)
#pragma unroll
            for (int i = 0; i < A::kOwn; ++i)
              sums[i][j + g] = __builtin_fmaf(A::at(x, i, s), B::at(y, g, s), sums[i][j + g]);
      }
    }
  }
};

}  // namespace beeswax::gpu
#endif
