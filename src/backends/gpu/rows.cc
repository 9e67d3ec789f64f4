// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/rows.h"

#include "backends/gpu/reduction.h"

namespace beeswax::gpu {
namespace {

// Elements of a pack: the lanes of a thread where rows are not loose.
int64_t pack_of(DType dtype) { return row_shape(RowKind::Usual, bytes_of(dtype)).lanes; }
// The kernel for rows of n elements that are loose or not, if there is one.
std::optional<RowKind> kind_of(int64_t n, bool loose, int bytes) {
  for (uint32_t i = 0; i < kRowKinds; ++i)
    if (const auto kind = static_cast<RowKind>(i);
        is_loose(kind) == loose && has_rows(kind, bytes) && n <= row_shape(kind, bytes).most())
      return kind;
  return {};
}

// Threads of a block with so many rows: whole warps.
constexpr uint32_t block_threads(int64_t rows, int64_t row_threads) {
  return static_cast<uint32_t>(round_up(rows * row_threads, 32));
}
// Rows of a block of at most `most` threads. Threads of a row wait for each other, and so for all that share
// the block: few do, but so many that hardly any thread of the last warp is idle.
constexpr uint32_t block_rows(int64_t row_threads, int64_t most) {
  constexpr int64_t kFewThreads = 128, kIdlePart = 16;
  const auto few = static_cast<uint32_t>(std::max<int64_t>(1, std::min(kFewThreads, most) / row_threads));
  for (uint32_t rows = few; rows <= 2 * few && block_threads(rows, row_threads) <= most; ++rows)
    if (const uint32_t threads = block_threads(rows, row_threads);
        threads - rows * row_threads <= threads / kIdlePart)
      return rows;
  return few;
}

// Blocks that share a row of so many chunks, at least `least`: as many as let a multiprocessor be full, whose
// registers hold kResident threads of these kernels.
int64_t cluster_blocks(int64_t chunks, const RowShape& shape, int64_t least) {
  constexpr int64_t kResident = 1024;
  int64_t best = least, most = 0;
  for (int64_t blocks = least; blocks <= kMostCluster; ++blocks) {
    const int64_t own = ceil_div(chunks, blocks);
    const int64_t resident = kResident / int64_t{block_threads(own, shape.chunk_threads())};
    if (const int64_t busy = resident * chunks * 1024 / blocks; busy >= most) {
      best = blocks;
      most = busy;
    }
  }
  return best;
}

}  // namespace

bool in_packs(const void* x, DType dtype) {
  const int64_t bytes = std::min<int64_t>(16, pack_of(dtype) * bytes_of(dtype));
  return begins_at(x, bytes);
}
bool in_packs(const DenseRows& rows, DType dtype) {
  const int64_t pack = pack_of(dtype);
  return in_packs(rows.x, dtype) && rows.n % pack == 0 && (rows.rows == 1 || rows.stride % pack == 0);
}
std::optional<RowsPlan> plan_rows(const Gpu& gpu, int64_t n, DType dtype, bool packs,
                                  const char* spread_target) {
  const int bytes = bytes_of(dtype);
  std::optional<RowKind> kind = kind_of(n, !packs, bytes);
  const bool spread = !kind.has_value();
  if (spread) {
    kind = packs ? RowKind::Wide : RowKind::LooseWide;
    if (spread_target == nullptr || !has_rows(*kind, bytes) || !Bundle::is_for(gpu.target(), spread_target) ||
        !gpu.properties().counted_stores)
      return {};
  }
  const RowShape shape = row_shape(*kind, bytes);
  const int64_t chunks = shape.one_chunk() ? 1 : ceil_div(n, int64_t{kChunk});
  const int64_t least = ceil_div(n, int64_t{shape.most()});
  if (least > kMostCluster) return {};
  const int64_t blocks = spread ? cluster_blocks(chunks, shape, least) : 1;  // of a row
  const int64_t turned = packs || shape.one_chunk() ? 0 : shape.lanes - 1;   // rows.h
  RowsPlan plan{};
  plan.kind = *kind;
  plan.spread = spread;
  plan.chunks = static_cast<uint32_t>(chunks);
  plan.block_chunks = static_cast<uint32_t>(ceil_div(chunks, blocks));
  plan.width_log2 =
      log2_up(std::min<int64_t>(shape.chunk_threads(), ceil_div(n + turned, int64_t{shape.lanes})));
  const int64_t row_threads = int64_t{plan.block_chunks} << plan.width_log2;
  plan.block_rows = spread ? 1 : block_rows(row_threads, shape.threads);
  plan.launch.threads = block_threads(plan.block_rows, row_threads);
  plan.launch.cluster = static_cast<uint32_t>(blocks);
  return plan;
}

void launch_rows(Gpu& gpu, const Kernel& kernel, const RowsPlan& plan, const DenseRows& rows, DType dtype,
                 std::byte* y, int64_t y_row, RowsArgs args) {
  args.n = static_cast<uint32_t>(rows.n);
  args.width_log2 = plan.width_log2;
  args.chunks = divisor_of(plan.chunks);
  args.block_chunks = plan.block_chunks;
  args.block_rows = plan.block_rows;
  args.x_row = rows.stride;
  LaunchShape launch = plan.launch;
  const int64_t most = std::max<int64_t>(1, most_blocks(launch.threads) / launch.cluster) * plan.block_rows;
  for_rows(rows.rows, most, [&](int64_t first, int64_t count) {
    args.x = at(rows.x, first * rows.stride, dtype);
    args.y = at(y, first * y_row, dtype);
    args.rows = static_cast<uint32_t>(count);
    launch.blocks[0] = blocks_for(count, args.block_rows) * launch.cluster;
    gpu.launch(kernel, launch, args);
  });
}

}  // namespace beeswax::gpu
