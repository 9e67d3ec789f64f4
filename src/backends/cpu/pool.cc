// SPDX-License-Identifier: Apache-2.0
// Pooling: blocks of one plane's outputs as tasks, over the tiles that convolutions use.
#include <algorithm>

#include "backends/cpu/conv_tile.h"
#include "backends/cpu/gemm_scratch.h"
#include "backends/cpu/kernels/pool.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kOutputs = 1 << 12;   // of a block, at most
constexpr int64_t kTaskWork = 1 << 16;  // elements read by one task of the pool
constexpr int64_t kSlack = 256;         // bytes that loops may read behind a tile

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace

void CpuBackend::pool(const PoolShape& s, const Operand& x, const Target& out) {
  ConvInput input{};
  input.dtype = x.dtype;
  input.batch = s.batch;
  input.groups = s.channels;
  input.c_in = 1;
  input.y = {s.h_in, s.h_out, s.h_k, s.h_stride, 1, 0};
  input.x = {s.w_in, s.w_out, s.w_k, s.w_stride, 1, 0};
  Copied copied;
  set_input(input, x, copied);

  const auto dtype = static_cast<size_t>(x.dtype);
  const int64_t element = dtype_bits(x.dtype) / 8;
  const int64_t word = x.dtype == DType::F64 || x.dtype == DType::I64 ? 8 : 4;
  const int64_t columns = std::min(s.w_out, kOutputs);
  const int64_t across = ceil_div(s.w_out, columns);
  const int64_t rows = std::clamp<int64_t>(kOutputs / columns, 1, s.h_out);
  const int64_t down = ceil_div(s.h_out, rows);
  const ConvTile plan(input, rows, columns);
  const int64_t bytes_tile = round_up(plan.plane() * word + kSlack, 64);
  const int64_t bytes_sums = element == word ? 0 : round_up(rows * columns * word, 64);
  const int64_t bytes_window = round_up(std::max<int64_t>(input.terms(), 64) * 8, 64);
  const auto bytes = static_cast<size_t>(bytes_tile + bytes_sums + bytes_window +
                                         plan.runs() * static_cast<int64_t>(sizeof(ConvRun)));
  const auto loop = (s.kind == PoolKind::Average ? pool_kernels().average : pool_kernels().max)[dtype];

  const auto compute = [&](int64_t task) {
    const int64_t column = task % across * columns;
    const int64_t row = task / across % down * rows;
    const int64_t plane = task / across / down;
    const int64_t count = std::min(columns, s.w_out - column);
    const int64_t lines = std::min(rows, s.h_out - row);
    auto* tile = static_cast<std::byte*>(gemm_scratch(GemmScratch::local, bytes));
    std::byte* sums = tile + bytes_tile;
    std::byte* window = sums + bytes_sums;
    auto* runs = reinterpret_cast<ConvRun*>(window + bytes_window);
    const std::byte* from =
        input.in + (plane / s.channels * input.in_batch + plane % s.channels * input.in_channel) * element;
    conv_kernels().fill[dtype](plan.fill(input, from, 1, row, column, runs, tile));
    std::byte* to = out.data() + ((plane * s.h_out + row) * s.w_out + column) * element;
    const ConvTerms terms{
        input.terms(), plan.tap_offset(), plan.tap_row(), s.h_k, plan.row_offset(), lines, count, tile};
    if (element == word) {
      loop({terms, to, s.w_out, window});
      return;
    }
    loop({terms, sums, count, window});
    for (int64_t r = 0; r < lines; ++r)
      conv_kernels().scatter[dtype](sums + r * count * word, count, to + r * s.w_out * element, 1);
  };
  const int64_t tasks = s.batch * s.channels * down * across;
  const int64_t grain = std::max<int64_t>(1, kTaskWork / (rows * columns * input.terms()));
  parallel_ranges(tasks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) compute(task);
  });
}

}  // namespace beeswax::cpu
