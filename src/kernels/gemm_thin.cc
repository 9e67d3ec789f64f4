// SPDX-License-Identifier: Apache-2.0
// Products with few rows: y = x w, where w is streamed once and x waits in shared memory as f32.
//   floors: the bytes of w over the bandwidth; 2 rows columns k over the rate of fused multiply-adds
//   order: the same for any number of rows
#include "kernels/gemm.h"

namespace beeswax::gpu {

constexpr uint32_t kWaves = kThinThreads / kWave;

struct ThinPlace {
  uint32_t columns, part, batch;  // block of columns
  uint32_t first, last;           // steps of k
};
BW_DEVICE ThinPlace thin_place(const ThinArgs& args) {
  ThinPlace at;
  uint32_t index = block();
  at.columns = index % args.blocks;
  index /= args.blocks;
  at.part = index % args.parts;
  at.batch = index / args.parts;
  at.first = at.part * args.part_steps;
  at.last = args.k - at.first < args.part_steps ? args.k : at.first + args.part_steps;
  return at;
}

/// Puts x[r, first + i] at shared[place(r, i)], r < R and i < count; 0 past the rows or `last`. Threads go
/// along k.
template <int R, class Place>
BW_DEVICE void stage_x(const ThinArgs& args, int64_t offset, uint32_t first, uint32_t count, uint32_t last,
                       float* shared, Place place) {
  const uint32_t bytes = bytes_of(args.x_type);
  const uint8_t* x = static_cast<const uint8_t*>(args.x) + offset * bytes;
#pragma unroll 1
  for (uint32_t i = thread(); i < count; i += kThinThreads) {
    const bool inside = first + i < last;
#pragma unroll
    for (uint32_t r = 0; r < R; ++r) {
      float value = 0;
      if (inside && r < args.rows) {
        const uint8_t* from = x + (r * args.x_row + (first + i) * args.x_step) * bytes;
        value = bytes == 4 ? *reinterpret_cast<const float*>(from)
                           : widen<float>(*reinterpret_cast<const uint16_t*>(from), args.x_type);
      }
      shared[place(r, i)] = value;
    }
  }
}

/// The same for dense rows of floats whose packs of 4 are aligned, there and at place(r, i) for every fourth
/// i.
template <int R, class Place>
BW_DEVICE void stage_packs(const ThinArgs& args, int64_t offset, uint32_t first, uint32_t count,
                           uint32_t last, float* shared, Place place) {
  using Four = Pack<float, 4>;
  const float* x = static_cast<const float*>(args.x) + offset + first;
#pragma unroll 1
  for (uint32_t i = thread() * 4; i < count; i += kThinThreads * 4) {
    const uint32_t left = first + i < last ? last - first - i : 0;
    Four in[R];
#pragma unroll
    for (uint32_t r = 0; r < R; ++r)
      in[r] = take<float, 4>(x + r * args.x_row + i, r < args.rows ? left : 0, true);
#pragma unroll
    for (uint32_t r = 0; r < R; ++r) *reinterpret_cast<Four*>(shared + place(r, i)) = in[r];
  }
}

BW_DEVICE void store_thin(const ThinArgs& args, const ThinPlace& at, int64_t y_offset, uint32_t r,
                          uint32_t column, float sum) {
  if (args.parts > 1) {
    args.sums[(static_cast<int64_t>(at.batch * args.parts + at.part) * args.rows + r) * args.columns +
              column] = sum;
  } else {
    store_element(args.y, y_offset + r * args.y_row + column * args.y_column, args.y_type, sum);
  }
}

/// w is dense along k: a wave sums C columns, its lanes taking turns along k.
template <class W, int R, int C>
BW_DEVICE void thin_dots(const ThinArgs& args, float* shared) {
  constexpr uint32_t n = 16 / sizeof(W);
  constexpr uint32_t kStep = kWave * n;         // of k, by a wave at once
  constexpr uint32_t kChunk = kThinShared / R;  // of k, in shared memory
  static_assert(kChunk % kStep == 0);
  const ThinPlace at = thin_place(args);
  int64_t offset[3];
  offsets_at(args.batch, at.batch, offset);
  const uint32_t column = (at.columns * kWaves + thread() / kWave) * C;
  const bool whole = (args.w_column * static_cast<int64_t>(sizeof(W))) % 16 == 0 && aligned16(args.w) &&
                     (offset[1] * static_cast<int64_t>(sizeof(W))) % 16 == 0 && at.first % n == 0;
  const bool packs = bytes_of(args.x_type) == 4 && args.x_step == 1 && (args.x_row | offset[0]) % 4 == 0 &&
                     aligned16(args.x) && at.first % 4 == 0;
  const W* rows[C];
#pragma unroll
  for (uint32_t c = 0; c < C; ++c) {  // columns past the last repeat it
    const uint32_t place = column + c < args.columns ? column + c : args.columns - 1;
    rows[c] = static_cast<const W*>(args.w) + offset[1] + place * args.w_column;
  }
  float sums[C][R];
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int r = 0; r < R; ++r) sums[c][r] = 0;

  const auto fetch = [&](uint32_t step, Pack<W, n>(&to)[C]) __attribute__((always_inline)) {
    const uint32_t k = step + lane() * n;
    const uint32_t left = k < at.last ? at.last - k : 0;
#pragma unroll
    for (int c = 0; c < C; ++c) to[c] = take<W, n>(rows[c] + k, left, whole);
  };
  Pack<W, n> next[C];
  fetch(at.first, next);
#pragma unroll 1
  for (uint32_t chunk = at.first; chunk < at.last; chunk += kChunk) {
    if (chunk != at.first) barrier();
    const uint32_t left = at.last - chunk;
    const uint32_t count = left < kChunk ? (left + kStep - 1) / kStep * kStep : kChunk;
    // A lane reads its n numbers as packs of 4 that lie beside those of its neighbours.
    const auto place = [](uint32_t r, uint32_t i) __attribute__((always_inline)) {
      const uint32_t in = i % kStep;
      return r * kChunk + (i - in) + in % n / 4 * (kWave * 4) + in / n * 4 + in % 4;
    };
    if (packs) {
      stage_packs<R>(args, offset[0], chunk, count, at.last, shared, place);
    } else {
      stage_x<R>(args, offset[0], chunk, count, at.last, shared, place);
    }
    barrier();
#pragma unroll 1
    for (uint32_t step = 0; step < count; step += kStep) {
      Pack<W, n> now[C];
#pragma unroll
      for (int c = 0; c < C; ++c) now[c] = next[c];
      fetch(chunk + step + kStep, next);
#pragma unroll
      for (uint32_t part = 0; part < n / 4; ++part) {
        // Some rows at a time: registers.
        constexpr int kRows = R < 4 ? R : 4;
#pragma unroll
        for (int first = 0; first < R; first += kRows) {
          Pack<float, 4> x[kRows];
#pragma unroll
          for (int r = 0; r < kRows; ++r)
            x[r] = *reinterpret_cast<const Pack<float, 4>*>(shared + (first + r) * kChunk + step +
                                                            part * (kWave * 4) + lane() * 4);
#pragma unroll
          for (int c = 0; c < C; ++c)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              const float w = wide(now[c].v[part * 4 + j]);
#pragma unroll
              for (int r = 0; r < kRows; ++r)
                sums[c][first + r] = __builtin_fmaf(x[r].v[j], w, sums[c][first + r]);
            }
        }
      }
    }
  }
#pragma unroll
  for (uint32_t c = 0; c < C; ++c) {
#pragma unroll
    for (uint32_t r = 0; r < R; ++r) {
      float sum = sums[c][r];
#pragma unroll
      for (uint32_t mask = kWave / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
      if (lane() == 0 && r < args.rows && column + c < args.columns)
        store_thin(args, at, offset[2], r, column + c, sum);
    }
  }
}

/// w is dense along its columns: a thread sums kThinLine columns, and the waves of a block take turns along
/// k.
template <class W, int R>
BW_DEVICE void thin_lines(const ThinArgs& args, float* shared) {
  constexpr uint32_t n = kThinLine;
  constexpr uint32_t kColumns = kWave * n;
  constexpr uint32_t kChunk = kThinShared / R;
  constexpr uint32_t kTurn = 8;                     // steps of k, of a wave
  constexpr uint32_t kUnroll = R == 1 ? kTurn : 4;  // of them at once: registers
  static_assert(kChunk % (kWaves * kTurn) == 0, "which wave sums what does not depend on R");
  const ThinPlace at = thin_place(args);
  int64_t offset[3];
  offsets_at(args.batch, at.batch, offset);
  const uint32_t column = at.columns * kColumns + lane() * n;
  const uint32_t wave = thread() / kWave;
  const bool whole = args.w_step % n == 0 && aligned16(args.w) && offset[1] % n == 0;
  const uint32_t left = column < args.columns ? args.columns - column : 0;
  const W* w = static_cast<const W*>(args.w) + offset[1] + column;
  float sums[R][n];
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int j = 0; j < static_cast<int>(n); ++j) sums[r][j] = 0;
#pragma unroll 1
  for (uint32_t chunk = at.first; chunk < at.last; chunk += kChunk) {
    if (chunk != at.first) barrier();
    const uint32_t count = at.last - chunk < kChunk ? at.last - chunk : kChunk;
    stage_x<R>(args, offset[0], chunk, (count + kUnroll - 1) / kUnroll * kUnroll, at.last, shared,
               [](uint32_t r, uint32_t i) { return i * R + r; });
    barrier();
#pragma unroll 1
    for (uint32_t step = wave * kTurn; step < count;
         step += (step + kUnroll) % kTurn != 0 ? kUnroll : (kWaves - 1) * kTurn + kUnroll) {
      Pack<W, n> now[kUnroll];
#pragma unroll
      for (uint32_t u = 0; u < kUnroll; ++u)
        now[u] = take<W, n>(w + (chunk + step + u) * args.w_step, step + u < count ? left : 0, whole);
#pragma unroll
      for (uint32_t u = 0; u < kUnroll; ++u) {
        const auto x = *reinterpret_cast<const Pack<float, R>*>(shared + (step + u) * R);
#pragma unroll
        for (uint32_t j = 0; j < n; ++j) {
          const float value = wide(now[u].v[j]);
#pragma unroll
          for (int r = 0; r < R; ++r) sums[r][j] = __builtin_fmaf(x.v[r], value, sums[r][j]);
        }
      }
    }
  }
  // The waves' sums, in order.
#pragma unroll
  for (uint32_t r = 0; r < R; ++r) {
    barrier();
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) shared[(wave * n + j) * kWave + lane()] = sums[r][j];
    barrier();
    for (uint32_t i = thread(); i < kColumns; i += kThinThreads) {
      const uint32_t to = at.columns * kColumns + i;
      const uint32_t place = i % n * kWave + i / n;
      float sum = shared[place];
#pragma unroll
      for (uint32_t other = 1; other < kWaves; ++other) sum += shared[other * kColumns + place];
      if (r < args.rows && to < args.columns) store_thin(args, at, offset[2], r, to, sum);
    }
  }
}

#define BW_THIN(W, name, R, C)                                     \
  BW_KERNEL(kThinThreads) gemm_dots_##name##_##R(ThinArgs args) {  \
    alignas(16) BW_SHARED static float shared[kThinShared];        \
    thin_dots<W, R, C>(args, shared);                              \
  }                                                                \
  BW_KERNEL(kThinThreads) gemm_lines_##name##_##R(ThinArgs args) { \
    alignas(16) BW_SHARED static float shared[kThinShared];        \
    thin_lines<W, R>(args, shared);                                \
  }
#define BW_THIN_ROWS(W, name) \
  BW_THIN(W, name, 1, thin_columns(sizeof(W))) BW_THIN(W, name, 8, thin_columns(sizeof(W)))
BW_THIN_ROWS(float, f32)
BW_THIN_ROWS(f16, f16)
BW_THIN_ROWS(bf16, bf16)

BW_KERNEL(kMapThreads) gemm_thin_sum(ThinSumArgs args) {
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  const uint32_t size = args.rows * args.columns;
  const uint32_t batch = i / size, in = i - batch * size;
  const float* from = args.sums + static_cast<int64_t>(batch) * args.parts * size + in;
  float sum = from[0];
#pragma unroll 4
  for (uint32_t part = 1; part < args.parts; ++part) sum += from[static_cast<int64_t>(part) * size];
  int64_t offset[1];
  offsets_at(args.batch, batch, offset);
  const uint32_t row = in / args.columns;
  store_element(args.y, offset[0] + row * args.y_row + (in - row * args.columns) * args.y_column, args.y_type,
                sum);
}

}  // namespace beeswax::gpu
