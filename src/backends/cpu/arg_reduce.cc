// SPDX-License-Identifier: Apache-2.0
// argmax and argmin. Pieces of one long row are searched by all threads and compared in order.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/kernels/arg_reduce.h"
#include "backends/cpu/reduction.h"
#include "backends/cpu/scratch.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements of a row in one task
constexpr int64_t kColumns = 1024;   // columns in one task

// The best of elements [begin, end) of one row.
void search_row(const ReduceView& view, const ArgReduceLoops& loops, int64_t offset, int64_t begin,
                int64_t end, std::byte* best, uint32_t* at) {
  alignas(64) std::byte gathered[kArgRow * 8];
  alignas(64) std::byte values[kArgRow * 8];
  const std::byte* base = view.base + offset * static_cast<int64_t>(view.bytes);
  const bool dense = view.dense_rows();
  for (int64_t first = begin; first < end; first += kArgRow) {
    const int64_t count = std::min(kArgRow, end - first);
    const std::byte* x = base + first * static_cast<int64_t>(view.bytes);
    if (!dense) {
      gather_run(view.reduced, NestPosition<1>(view.reduced, first), 0, base, view.bytes, gathered, count);
      x = gathered;
    }
    if (view.widen != nullptr) {
      view.widen(x, values, count);
      x = values;
    }
    loops.row(x, count, first, first == begin, best, at);
  }
}

void search_rows(const ReduceView& view, const ArgReduceLoops& loops, uint32_t* out) {
  const int64_t n = view.n();
  const int64_t rows = view.outer.count;
  const size_t size = view.compute_bytes();
  if (n <= kPiece || rows >= 2 * ThreadPool::global().threads()) {
    parallel_ranges(rows, std::max<int64_t>(1, kPiece / n), [&](int64_t begin, int64_t end) {
      alignas(8) std::byte best[8];
      NestPosition<1> position(view.outer, begin);
      for (int64_t row = begin; row < end; ++row, position.advance(1))
        search_row(view, loops, position.offset(0), 0, n, best, out + row);
    });
    return;
  }
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  const Scratch<std::byte> best(pieces * static_cast<int64_t>(size));
  const Scratch<uint32_t> at(pieces);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t offset = NestPosition<1>(view.outer, row).offset(0);
    ThreadPool::global().parallel_for(pieces, [&](int64_t piece) {
      search_row(view, loops, offset, piece * kPiece, std::min(n, (piece + 1) * kPiece),
                 best.data() + static_cast<size_t>(piece) * size, at.data() + piece);
    });
    alignas(8) std::byte extreme[8];
    uint32_t winner = 0;
    for (int64_t piece = 0; piece < pieces; ++piece)
      loops.row(best.data() + static_cast<size_t>(piece) * size, 1, piece, piece == 0, extreme, &winner);
    out[row] = at[winner];
  }
}

void search_columns(const ReduceView& view, const ArgReduceLoops& loops, uint32_t* out) {
  const int64_t wanted = 2 * ThreadPool::global().threads();
  const int64_t share = (view.columns * view.outer.count / wanted + 63) / 64 * 64;
  const int64_t width = std::clamp<int64_t>(share, 64, kColumns);
  const int64_t stripes = (view.columns + width - 1) / width;
  const int64_t length = std::max<int64_t>(1, view.n() * std::min(width, view.columns));
  parallel_ranges(
      view.outer.count * stripes, std::max<int64_t>(1, kPiece / length), [&](int64_t begin, int64_t end) {
        alignas(64) std::byte best[kColumns * 8];
        alignas(64) std::byte values[kColumns * 8];
        std::array<int64_t, kArgRow> offsets;
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task / stripes;
          const int64_t column = task % stripes * width;
          const int64_t count = std::min(width, view.columns - column);
          const int64_t offset = NestPosition<1>(view.outer, row).offset(0) + column;
          for (int64_t first = 0; first < view.n(); first += kArgRow) {
            const int64_t rows = std::min(kArgRow, view.n() - first);
            reduced_offsets(view, first, rows, offsets.data());
            for (int64_t i = 0; i < rows; ++i) {
              const std::byte* x =
                  view.base + (offset + offsets[static_cast<size_t>(i)]) * static_cast<int64_t>(view.bytes);
              if (view.widen != nullptr) {
                view.widen(x, values, count);
                x = values;
              }
              loops.columns(x, count, first + i, best, out + row * view.columns + column);
            }
          }
        }
      });
}

}  // namespace

void CpuBackend::arg_reduce(ArgReduceOp op, const Operand& x, uint32_t axes, const Target& out) {
  const ReduceView view(x, axes);
  const ArgReduceLoops& loops =
      arg_reduce_kernels().loops[static_cast<size_t>(op)][static_cast<size_t>(view.compute)];
  auto* to = reinterpret_cast<uint32_t*>(out.data());
  if (view.columns == 1) {
    search_rows(view, loops, to);
  } else {
    search_columns(view, loops, to);
  }
}

}  // namespace beeswax::cpu
