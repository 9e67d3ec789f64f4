// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/gemm_thin.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm_scratch.h"
#include "backends/cpu/kernels/gemm.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

// Bytes of W that one task reads, about: little next to the whole, much next to starting a task.
constexpr int64_t kTaskBytes = 512 << 10;
// Lanes of a task are a multiple of this, so that tasks share no cache line of y.
constexpr int64_t kLaneStep = 64;

bool steps_are_dense(const GemmThin& g) { return g.w_step == 1 || g.k == 1; }

// x as dense rows of the compute type, with rows of zeros up to the number that the loops take at a time.
const std::byte* widen_rows(const GemmThin& g, int64_t word, int64_t rows) {
  // As they lie, where they are that.
  if (rows == 1 && g.x_step == 1 && dtype_bits(g.x_type) == 8 * word) return g.x;
  auto* x =
      static_cast<std::byte*>(gemm_scratch(GemmScratch::shared, static_cast<size_t>(rows * g.k * word)));
  // Panels of one lane follow each other as rows.
  gemm_packs().pack[static_cast<size_t>(g.x_type)]({g.x, g.x_row, g.x_step, g.rows, g.k, 1, 1, x});
  std::memset(x + g.rows * g.k * word, 0, static_cast<size_t>((rows - g.rows) * g.k * word));
  return x;
}

// Elements of y, rounded to the dtype, to where they belong.
void place(const GemmThin& g, const std::byte* sums, int64_t row, int64_t lane, int64_t lanes) {
  const auto round = gemm_packs().round[static_cast<size_t>(g.y_type)];
  const int64_t element = dtype_bits(g.y_type) / 8;
  std::byte* to = g.y + (row * g.y_row + lane * g.y_lane) * element;
  if (g.y_lane == 1) return round(sums, to, lanes);
  const int64_t word = gemm_word(gemm_compute(g.y_type));
  for (int64_t i = 0; i < lanes; ++i, to += g.y_lane * element) round(sums + i * word, to, 1);
}

}  // namespace

bool gemm_is_thin(const GemmThin& g) {
  return g.rows <= kGemmThin && (steps_are_dense(g) || g.w_lane == 1 || g.lanes == 1);
}

void gemm_thin(const GemmThin& g) {
  const auto dtype = static_cast<size_t>(g.w_type);
  const int64_t word = gemm_word(gemm_compute(g.w_type));
  const int64_t element = dtype_bits(g.w_type) / 8;
  const bool dots = steps_are_dense(g);
  const int64_t rows = g.rows == 1 ? 1 : round_up(g.rows, kGemmVectorRows);
  const std::byte* x = widen_rows(g, word, rows);
  const auto kernel = dots ? gemm_vectors().dots[dtype] : gemm_vectors().lines[dtype];
  const int64_t threads = g.parallel ? ThreadPool::global().threads() : 1;

  int64_t grain = round_up(std::max<int64_t>(1, kTaskBytes / (g.k * element)), kLaneStep);
  grain = std::min(grain, round_up(ceil_div(g.lanes, 4 * threads), kLaneStep));
  grain = std::min(grain, dots ? grain : kGemmVectorColumns);
  const auto task = [&](int64_t begin, int64_t end) {
    const int64_t lanes = end - begin;
    auto* sums =
        static_cast<std::byte*>(gemm_scratch(GemmScratch::local, static_cast<size_t>(rows * lanes * word)));
    const int64_t step = dots ? g.w_lane : g.w_step;
    const int64_t first = begin * (dots ? g.w_lane : 1);
    kernel({g.rows, lanes, g.k, g.w + first * element, step, x, g.k, sums, lanes});
    for (int64_t i = 0; i < g.rows; ++i) place(g, sums + i * lanes * word, i, begin, lanes);
  };
  if (g.parallel) return parallel_ranges(g.lanes, grain, task);
  for (int64_t begin = 0; begin < g.lanes; begin += grain) task(begin, std::min(g.lanes, begin + grain));
}

}  // namespace beeswax::cpu
