// SPDX-License-Identifier: Apache-2.0
// Softmax and norms: one pass over memory where a row fits the registers of a block, or of a cluster of them,
// else sums first and then a pass over elements.
#include <iterator>
#include <optional>

#include "backends/gpu/reduction.h"

namespace beeswax::gpu {
namespace {

constexpr const char* kClusterTarget = "sm_90";

// For each dtype: rows in registers of every kind, over a cluster where packs fit them and where not,
// elements after sums, and sums.
enum : size_t { kSpread = kRowKinds, kLooseSpread, kApply, kSum, kSteps };
KernelTable::Name named(const char* operation, size_t index) {
  constexpr std::string_view kNames[] = {
      "_short_",      "_",        "_wide_",         "_loose_short_", "_loose_",
      "_loose_wide_", "_spread_", "_spread_loose_", "_apply_",       "_sum_"};
  static_assert(std::size(kNames) == kSteps);
  const auto dtype = static_cast<DType>(index / kSteps);
  const size_t step = index % kSteps;
  const bool spread = step == kSpread || step == kLooseSpread;
  const RowKind kind = spread ? RowKind::Wide : static_cast<RowKind>(step);
  if (!dtype_is_float(dtype) || (step < kApply && !has_rows(kind, bytes_of(dtype)))) return {"", ""};
  return {join_text(operation, kNames[step], dtype_name(dtype)), operation, spread ? kClusterTarget : ""};
}
KernelTable softmax_kernels(kDTypes* kSteps,
                            [](size_t i) -> KernelTable::Name { return named("softmax", i); });
KernelTable norm_kernels(kDTypes* kSteps, [](size_t i) -> KernelTable::Name {
  if (i % kSteps == kSum) return {"", ""};
  return named("norm", i);
});
size_t entry(DType dtype, size_t step) { return index_of(dtype) * kSteps + step; }

// x as rows of n neighbouring elements; where they are not, a copy of it in `out`, whose shape it has.
struct RowsView {
  const std::byte* x;
  int64_t rows, n;
  int64_t stride;  // elements from row to row

  RowsView(GpuBackend& backend, const Operand& operand, int trailing, const Target& out) : x(operand.data()) {
    const int rank = operand.layout->rank();
    const uint32_t axes = ((1u << trailing) - 1u) << (rank - trailing);
    const ReduceNest nest(*operand.layout, axes, INT64_MAX);
    rows = nest.outer.count;
    n = nest.n();
    stride = nest.outer.strides[0][0];
    if (nest.outer.rank == 1 && nest.dense_rows()) return;
    backend.copy(operand, out);
    x = out.data();
    stride = n;
  }
};

// Elements of a pack: the lanes of a thread where rows are not loose.
uint32_t pack_of(DType dtype) { return row_shape(RowKind::Usual, bytes_of(dtype)).lanes; }
bool in_packs(const void* x, DType dtype) {
  const unsigned bytes = std::min(16u, pack_of(dtype) * static_cast<unsigned>(bytes_of(dtype)));
  return begins_at(x, bytes);
}

// A launch over all rows, in parts that fit one: launch(first row, rows).
template <class Launch>
void for_rows(int64_t rows, int64_t per_launch, const Launch& launch) {
  for (int64_t first = 0; first < rows; first += per_launch)
    launch(first, std::min(per_launch, rows - first));
}

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

// How rows that fit registers are launched.
struct RowsPlan {
  size_t step;  // of the kernels: a RowKind, kSpread, kLooseSpread
  uint32_t chunks, block_chunks, width_log2, block_rows;
  LaunchShape launch;  // but for the number of blocks
};
std::optional<RowsPlan> plan_rows(const Gpu& gpu, int64_t n, DType dtype, bool packs) {
  const int bytes = bytes_of(dtype);
  std::optional<RowKind> kind = kind_of(n, !packs, bytes);
  const bool spread = !kind.has_value();
  if (spread) {
    kind = packs ? RowKind::Wide : RowKind::LooseWide;
    if (!has_rows(*kind, bytes) || !Bundle::is_for(gpu.target(), kClusterTarget) ||
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
  plan.step = !spread ? static_cast<size_t>(*kind) : packs ? kSpread : kLooseSpread;
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

// Rows in registers, if they fit.
bool launch_rows(Gpu& gpu, KernelTable& table, const RowsView& view, DType dtype, std::byte* y,
                 RowsArgs args) {
  const uint32_t pack = pack_of(dtype);
  const bool packs = in_packs(view.x, dtype) && in_packs(y, dtype) && view.n % pack == 0 &&
                     (view.rows == 1 || view.stride % pack == 0) && in_packs(args.weight, dtype) &&
                     in_packs(args.bias, dtype);
  const std::optional<RowsPlan> plan = plan_rows(gpu, view.n, dtype, packs);
  if (!plan.has_value()) return false;
  args.n = static_cast<uint32_t>(view.n);
  args.width_log2 = plan->width_log2;
  args.chunks = divisor_of(plan->chunks);
  args.block_chunks = plan->block_chunks;
  args.block_rows = plan->block_rows;
  args.x_row = view.stride;
  const Kernel& kernel = table.get(gpu, entry(dtype, plan->step));
  LaunchShape launch = plan->launch;
  const int64_t most = std::max<int64_t>(1, most_blocks(launch.threads) / launch.cluster) * plan->block_rows;
  for_rows(view.rows, most, [&](int64_t first, int64_t rows) {
    args.x = at(view.x, first * view.stride, dtype);
    args.y = at(y, first * view.n, dtype);
    args.rows = static_cast<uint32_t>(rows);
    launch.blocks[0] = blocks_for(rows, args.block_rows) * launch.cluster;
    gpu.launch(kernel, launch, args);
  });
  return true;
}

// y from x and what was found of its rows.
void launch_apply(Gpu& gpu, KernelTable& table, const RowsView& view, DType dtype, std::byte* y,
                  RowsApplyArgs args) {
  const int64_t size = bytes_of(compute_dtype(dtype));
  args.n = view.n;
  args.x_row = view.stride;
  args.tiles = blocks_for(view.n, kApplyTile);
  const int pack = apply_pack(bytes_of(dtype));
  args.packs = begins_at(view.x, int64_t{pack} * bytes_of(dtype)) &&
               begins_at(y, int64_t{pack} * bytes_of(dtype)) && view.n % pack == 0 &&
               (view.rows == 1 || view.stride % pack == 0);
  const auto* first_of = static_cast<const std::byte*>(args.first);
  const auto* second_of = static_cast<const std::byte*>(args.second);
  for_rows(view.rows, std::max<int64_t>(1, most_blocks(kMapThreads) / args.tiles),
           [&](int64_t first, int64_t rows) {
             args.x = at(view.x, first * view.stride, dtype);
             args.y = at(y, first * view.n, dtype);
             args.first = first_of == nullptr ? nullptr : first_of + first * size;
             args.second = second_of + first * size;
             args.rows = static_cast<uint32_t>(rows);
             gpu.launch(table.get(gpu, entry(dtype, kApply)),
                        {{args.rows * args.tiles, 1, 1}, kMapThreads, 0}, args);
           });
}

ReduceView reduced_rows(const RowsView& view, DType dtype) {
  ReduceView reduced(view.x, dtype, view.rows, view.n, 1);
  reduced.outer.strides[0][0] = view.stride;
  return reduced;
}

}  // namespace

void GpuBackend::softmax(const Operand& x, int trailing, bool log, const Target& out) {
  const RowsView view(*this, x, trailing, out);
  RowsArgs args{};
  args.flags = log ? kRowsSecond : 0;
  if (launch_rows(gpu_, softmax_kernels, view, x.dtype, out.data(), args)) return;
  const int64_t bytes = view.rows * bytes_of(compute_dtype(x.dtype));
  const PoolScratch tops(gpu_, bytes), sums(gpu_, bytes);
  const ReduceView reduced = reduced_rows(view, x.dtype);
  reduce_view(gpu_, ReduceOp::Max, reduced, Finish::InCompute, tops.data());
  reduce_view(gpu_, ReduceOp::Sum, reduced, Finish::None, sums.data(), tops.data(),
              &softmax_kernels.get(gpu_, entry(x.dtype, kSum)));
  RowsApplyArgs apply{};
  apply.first = tops.data();
  apply.second = sums.data();
  apply.flags = args.flags;
  launch_apply(gpu_, softmax_kernels, view, x.dtype, out.data(), apply);
}

void GpuBackend::norm(NormKind kind, const Operand& x, const Operand& weight, const Operand& bias, double eps,
                      const Target& out) {
  const RowsView view(*this, x, weight.layout->rank(), out);
  RowsArgs args{};
  args.weight = weight.data();
  args.bias = bias.storage == nullptr ? nullptr : bias.data();
  args.eps = eps;
  args.flags = kind == NormKind::Layer ? kRowsSecond : 0;
  if (launch_rows(gpu_, norm_kernels, view, x.dtype, out.data(), args)) return;
  const int64_t bytes = view.rows * bytes_of(compute_dtype(x.dtype));
  const PoolScratch means(gpu_, kind == NormKind::Layer ? bytes : 0), squares(gpu_, bytes);
  const ReduceView reduced = reduced_rows(view, x.dtype);
  if (kind == NormKind::Layer) {
    reduce_view(gpu_, ReduceOp::Mean, reduced, Finish::InCompute, means.data());
    reduce_view(gpu_, ReduceOp::Var, reduced, Finish::None, squares.data(), means.data());
  } else {
    reduce_view(gpu_, ReduceOp::Norm, reduced, Finish::None, squares.data());
  }
  RowsApplyArgs apply{};
  apply.weight = args.weight;
  apply.bias = args.bias;
  apply.first = means.data();
  apply.second = squares.data();
  apply.eps = eps;
  launch_apply(gpu_, norm_kernels, view, x.dtype, out.data(), apply);
}

}  // namespace beeswax::gpu
