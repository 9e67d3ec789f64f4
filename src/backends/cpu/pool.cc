// SPDX-License-Identifier: Apache-2.0
// Pooling: rows of outputs straight from the input where windows are small; blocks of one plane's outputs as
// tasks, over the tiles that convolutions use; reductions (pool_large.h) where windows are large.
#include <algorithm>

#include "backends/cpu/conv_tile.h"
#include "backends/cpu/gemm_scratch.h"
#include "backends/cpu/kernels/pool.h"
#include "backends/cpu/kernels/pool_rows.h"
#include "backends/cpu/pool_large.h"
#include "backends/cpu/streaming.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kOutputs = 1 << 12;   // of a block, at most
constexpr int64_t kTaskWork = 1 << 16;  // elements read by one task of the pool
constexpr int64_t kWritten = 1 << 10;   // bytes of short rows that are written together
constexpr int64_t kSlack = 256;         // bytes that loops may read behind a tile

// The loop for rows of outputs, or null.
void (*row_loop(const PoolShape& s, DType dtype))(const PoolRow&) {
  if (s.h_k > kPoolRows || s.w_k > kPoolTaps || s.w_stride > s.w_k) return nullptr;
  const auto type = static_cast<size_t>(dtype);
  if (s.kind == PoolKind::Max) return pool_row_kernels().max[type];
  const auto halves = [](int64_t side) { return side == 1 || side == 2 || side == 4; };
  return halves(s.h_k) && halves(s.w_k) ? pool_row_kernels().average[type] : nullptr;
}

void pool_rows(const PoolShape& s, const ConvInput& input, void (*loop)(const PoolRow&), const Target& out) {
  const int64_t element = dtype_bits(input.dtype) / 8;
  const int64_t columns = std::min(s.w_out, kPoolOutputs);
  const int64_t rows = s.batch * s.channels * s.h_out;
  const bool past_caches = beyond_caches(static_cast<size_t>(rows * s.w_out * element));
  const int64_t work = pool_row_work(columns, s.w_stride, s.w_k);
  // Rows of one plane that are written together; small parts, so that reads go on meanwhile.
  const int64_t together =
      columns < s.w_out ? 1 : std::clamp<int64_t>(kWritten / (s.w_out * element), 1, s.h_out);
  const int64_t grain = std::max<int64_t>(1, kTaskWork / (s.w_in * std::max(s.h_k, s.h_stride)));
  // Asks for the rows that the outputs two lines on will be the first to take, into the second cache.
  const auto request = [&](int64_t line, int64_t column, int64_t width, const std::byte* from) {
    const int64_t first = (line + 1) * s.h_stride + s.h_k;
    for (int64_t r = first; r < std::min(first + s.h_stride, s.h_in); ++r) {
      const std::byte* row = from + (r * input.in_row + column) * element;
      for (int64_t at = 0; at < width * element; at += 64) __builtin_prefetch(row + at, 0, 2);
    }
  };
  parallel_ranges(rows, grain, [&](int64_t begin, int64_t end) {
    void* scratch = gemm_scratch(GemmScratch::local, static_cast<size_t>(work));
    DenseWriter writer(out.data() + begin * s.w_out * element, past_caches);
    for (int64_t row = begin; row < end;) {
      const int64_t plane = row / s.h_out;
      const int64_t line = row % s.h_out;
      const int64_t count = std::min({together, end - row, s.h_out - line});
      const std::byte* from =
          input.in + (plane / s.channels * input.in_batch + plane % s.channels * input.in_channel) * element;
      for (int64_t c = 0; c < s.w_out; c += columns) {
        const int64_t width = std::min(columns, s.w_out - c);
        writer.write(count * width * element, [&](std::byte* to) {
          for (int64_t l = line; l < line + count; ++l) {
            request(l, c * s.w_stride, (width - 1) * s.w_stride + s.w_k, from);
            loop({from + (l * s.h_stride * input.in_row + c * s.w_stride) * element, input.in_row, s.h_k,
                  s.w_k, s.w_stride, width, scratch, to + (l - line) * width * element});
          }
        });
      }
      row += count;
    }
  });
}

}  // namespace

void CpuBackend::pool(const PoolShape& s, const Operand& x, const Target& out) {
  if (s.h_k > kLargeWindow / s.w_k) {
    pool_large(s, x, out);
    return;
  }
  ConvInput input{};
  input.dtype = x.dtype;
  input.batch = s.batch;
  input.groups = s.channels;
  input.c_in = 1;
  input.y = {s.h_in, s.h_out, s.h_k, s.h_stride, 1, 0};
  input.x = {s.w_in, s.w_out, s.w_k, s.w_stride, 1, 0};
  Copied copied;
  set_input(input, x, copied);
  if (const auto loop = row_loop(s, x.dtype); loop != nullptr) {
    pool_rows(s, input, loop, out);
    return;
  }

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
