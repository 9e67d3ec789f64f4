// SPDX-License-Identifier: Apache-2.0
// argmax and argmin. Pieces of one long row are searched by all threads and compared in order.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/kernels/arg_reduce.h"
#include "backends/cpu/reduction.h"
#include "backends/cpu/scratch.h"
#include "core/divide.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements of a row in one task
constexpr int64_t kGathered = 512;   // elements that go through a buffer at once
constexpr int64_t kBlock = 1 << 18;  // elements of neighbouring blocks of columns in one task, at least
// Rows of a block, at least, that is cut so that all threads have work. Two Zen 5 cores find places in 2048
// to 4096 rows of 32 KiB at 0.75 to 0.80 of the speed of reading where rows are cut in halves instead, so at
// 0.93 to 0.94.
constexpr int64_t kLeastRows = 256;
constexpr int64_t kRowsAtOnce = 8;  // that loops take, at most

// The best of elements [begin, end) of one row.
void search_row(const ReduceView& view, const ArgReduceLoops& loops, int64_t offset, int64_t begin,
                int64_t end, std::byte* best, uint32_t* at) {
  const auto bytes = static_cast<int64_t>(view.bytes);
  const std::byte* base = view.base + offset * bytes;
  if (view.dense_rows()) {
    loops.row(base + begin * bytes, end - begin, begin, true, best, at);
    return;
  }
  alignas(64) std::byte gathered[kGathered * 8];
  for (int64_t first = begin; first < end; first += kGathered) {
    const int64_t count = std::min(kGathered, end - first);
    gather_run(view.reduced, NestPosition<1>(view.reduced, first), 0, base, view.bytes, gathered, count);
    loops.row(gathered, count, first, first == begin, best, at);
  }
}

void search_rows(const ReduceView& view, const ArgReduceLoops& loops, uint32_t* out) {
  const int64_t n = view.n();
  const int64_t rows = view.outer.count;
  if (n <= kPiece || rows >= 2 * ThreadPool::global().threads()) {
    parallel_ranges(rows, std::max<int64_t>(1, kPiece / n), [&](int64_t begin, int64_t end) {
      alignas(8) std::byte best[kBestBytes];
      NestPosition<1> position(view.outer, begin);
      for (int64_t row = begin; row < end; ++row, position.advance(1))
        search_row(view, loops, position.offset(0), 0, n, best, out + row);
    });
    return;
  }
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  const Scratch<std::byte> best(pieces * kBestBytes);
  const Scratch<uint32_t> at(pieces);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t offset = NestPosition<1>(view.outer, row).offset(0);
    ThreadPool::global().parallel_for(pieces, [&](int64_t piece) {
      search_row(view, loops, offset, piece * kPiece, std::min(n, (piece + 1) * kPiece),
                 best.data() + piece * kBestBytes, at.data() + piece);
    });
    for (int64_t piece = 1; piece < pieces; ++piece)
      loops.join(best.data() + piece * kBestBytes, at.data() + piece, 1, best.data(), at.data());
    out[row] = at[0];
  }
}

// Blocks of rows, each over stripes of columns, and then the blocks of each column in order.
void search_columns(const ReduceView& view, const ArgReduceLoops& loops, uint32_t* out) {
  const auto bytes = static_cast<int64_t>(view.bytes);
  const int64_t most = kArgRowBytes / bytes;
  const int64_t wanted = 4 * ThreadPool::global().threads();
  int64_t stripes = (view.columns + most - 1) / most;
  // Few blocks are cut across before they are cut along: parts of rows are read slower than whole ones.
  int64_t block = bytes == 1 ? kArgByteRows : kArgRows;
  const auto blocks_of = [&](int64_t rows) { return ceil_div(view.n(), rows); };
  while (block > kLeastRows && block / 2 * std::min(most, view.columns) >= kBlock &&
         view.outer.count * blocks_of(block) * stripes < wanted)
    block /= 2;
  // All of much the same length, so that no task is left with a few rows.
  block = std::min(block, round_up(ceil_div(view.n(), blocks_of(block)), kRowsAtOnce));
  const int64_t blocks = blocks_of(block);
  if (const int64_t units = view.outer.count * blocks; units * stripes < wanted)
    stripes = std::max(stripes, std::min(wanted / units, view.columns / 128));
  const int64_t width = std::min(most, ((view.columns + stripes - 1) / stripes + 63) / 64 * 64);
  stripes = (view.columns + width - 1) / width;
  const int64_t length = std::min(block, view.n()) * std::min(width, view.columns);
  const int64_t places = blocks == 1 ? 0 : view.outer.count * blocks * view.columns;
  const Scratch<std::byte> best(places * kBestBytes);
  const Scratch<uint32_t> at(places);
  const int64_t tasks = view.outer.count * blocks * stripes;
  const auto start_of = [&](int64_t task) {
    const int64_t unit = task / stripes;
    return NestPosition<1>(view.outer, unit / blocks).offset(0) + task % stripes * width +
           NestPosition<1>(view.reduced, unit % blocks * block).offset(0);
  };
  parallel_ranges(tasks, std::max<int64_t>(1, kBlock / length), [&](int64_t begin, int64_t end) {
    const Scratch<std::byte> scratch(width * kBestBytes);
    const Scratch<std::byte> unused(blocks == 1 ? width * kBestBytes : 0);
    std::array<int64_t, kArgRows> offsets;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t unit = task / stripes;
      const int64_t column = task % stripes * width;
      const int64_t first = unit % blocks * block;
      const int64_t rows = std::min(block, view.n() - first);
      const int64_t result = unit * view.columns + column;
      const int64_t offset = NestPosition<1>(view.outer, unit / blocks).offset(0) + column;
      if (blocks > 1 || task == begin) reduced_offsets(view, first, rows, offsets.data());
      const int64_t columns = std::min(width, view.columns - column);
      loops.columns({.x = view.base + offset * bytes,
                     .offsets = offsets.data(),
                     .rows = rows,
                     .columns = columns,
                     .dense = columns == view.columns && view.dense_rows(),
                     .first = first,
                     .next = start_of(std::min(task + 1, tasks - 1)) - start_of(task),
                     .scratch = scratch.data(),
                     .best = blocks == 1 ? unused.data() : best.data() + result * kBestBytes,
                     .at = (blocks == 1 ? out : at.data()) + result});
    }
  });
  if (blocks == 1) return;
  parallel_ranges(view.outer.count * stripes, std::max<int64_t>(1, kBlock / (blocks * width)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t task = begin; task < end; ++task) {
                      const int64_t column = task % stripes * width;
                      const int64_t count = std::min(width, view.columns - column);
                      const int64_t from = task / stripes * blocks * view.columns + column;
                      for (int64_t later = 1; later < blocks; ++later) {
                        const int64_t other = from + later * view.columns;
                        loops.join(best.data() + other * kBestBytes, at.data() + other, count,
                                   best.data() + from * kBestBytes, at.data() + from);
                      }
                      std::memcpy(out + task / stripes * view.columns + column, at.data() + from,
                                  static_cast<size_t>(count) * sizeof(uint32_t));
                    }
                  });
}

}  // namespace

void CpuBackend::arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) {
  const ReduceView view(x, axes);
  const ArgReduceLoops& loops =
      arg_reduce_kernels().loops[static_cast<size_t>(op)][static_cast<size_t>(view.dtype)];
  auto* to = reinterpret_cast<uint32_t*>(out.data());
  if (view.columns == 1) {
    search_rows(view, loops, to);
  } else {
    search_columns(view, loops, to);
  }
}

}  // namespace beeswax::cpu
