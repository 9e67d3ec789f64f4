// SPDX-License-Identifier: Apache-2.0
// Products on Hopper whose operands the copy engine brings: which operands suit it, and the choice of tile
// and parts.
#include <optional>

#include "backends/gpu/gemm.h"
#include "kernels/hopper_args.h"

namespace beeswax::gpu {
namespace {

constexpr size_t kTiles = std::size(kWgmmaTiles);
constexpr int64_t kMostSize = (int64_t{1} << 31) - 1;
constexpr int64_t kLeastWork = int64_t{1} << 20;  // multiplications; below, other kernels start sooner
constexpr int64_t kLeastFew = int64_t{1} << 18;   // for each of few rows
constexpr int64_t kLeastSteps = 8;                // of k, in a part

// Which of a and b are dense along their rows or columns, not k.
constexpr const char* kLayouts[] = {"_nt", "_nn", "_tt", "_tn"};

// By dtype (f16, bf16), tile and layout. The narrowest tile takes b dense along k only.
KernelTable wgmma_kernels(2 * kTiles * 4, [](size_t i) -> KernelTable::Name {
  const size_t tile = i / 4 % kTiles;
  if (kWgmmaTiles[tile].columns < 64 && i % 2 == 1) return {};
  return {
      join_text("gemm_wgmma_", i / 4 < kTiles ? "f16_" : "bf16_", kWgmmaTiles[tile].columns, kLayouts[i % 4]),
      "matmul", kHopper, static_cast<uint32_t>(wgmma_shared(kWgmmaTiles[tile]))};
});
// By tile and layout.
KernelTable lines_kernels(std::size(kLinesTiles) * 4, [](size_t i) -> KernelTable::Name {
  const LinesTile& tile = kLinesTiles[i / 4];
  return {join_text("gemm_lines_f32_", tile.rows, kLayouts[i % 4]), "matmul", kHopper,
          static_cast<uint32_t>(lines_shared(tile))};
});

// A side of a product, or its result: lanes (rows of a, columns of b) by steps, in a batch.
struct Side {
  const std::byte* data;
  int64_t element;  // bytes
  int64_t lanes, steps, lane_stride, step_stride, batch, batch_stride;
  bool turned;  // the lanes are dense, not the steps
};

// The side as the copy engine can see it, in boxes of so many lanes, or, where it is turned, of so many
// steps.
std::optional<TensorView> view_of(const Side& side, int64_t box_lanes, int64_t box_steps) {
  const int64_t across = side.turned ? side.lanes : side.steps, down = side.turned ? side.steps : side.lanes;
  if ((side.turned ? side.lane_stride : side.step_stride) != 1 && across > 1) return std::nullopt;
  const auto stride_bytes = [&](int64_t stride, int64_t size) {
    return size > 1 ? stride * side.element : kHopperAlign;  // one that is never walked may be any
  };
  const int64_t bytes[] = {stride_bytes(side.turned ? side.step_stride : side.lane_stride, down),
                           stride_bytes(side.batch_stride, side.batch)};
  for (const int64_t stride : bytes)
    if (stride <= 0 || stride % kHopperAlign != 0 || stride >= int64_t{1} << 40) return std::nullopt;
  if (reinterpret_cast<uintptr_t>(side.data) % kHopperAlign != 0) return std::nullopt;
  TensorView view{};
  view.data = side.data;
  view.element = static_cast<int>(side.element);
  view.dims[0] = static_cast<uint64_t>(across);
  view.dims[1] = static_cast<uint64_t>(down);
  view.dims[2] = static_cast<uint64_t>(side.batch);
  view.strides[0] = static_cast<uint64_t>(bytes[0]);
  view.strides[1] = static_cast<uint64_t>(bytes[1]);
  view.box[0] = static_cast<uint32_t>(kHopperLine / side.element);
  view.box[1] = static_cast<uint32_t>(side.turned ? box_steps : box_lanes);
  return view;
}

bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

// How a product is cut: into tiles that a kernel makes, and k into parts.
struct Plan {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  int rows = 0, columns = 0, step = 0;
  int64_t tiles = 0, steps = 0, part_steps = 0;
  double time = 0;
};

// What a product takes on an H200, in microseconds: steps of all tiles that a unit makes one after another,
// and the joining of their parts. Fitted to 331 plans of 19 shapes in bf16; f32's step is what one round of
// 64 by 14336 by 4096 took, and its joining is taken to be the same.
constexpr double kWgmmaStepTime = 0.0029, kLeastStepTime = 0.25;  // of a column; of a tile, however narrow
constexpr double kLinesStepTime = 1.8e-4;                         // of an element
constexpr double kJoinTime = 3.7, kJoinColumnTime = 0.0127;       // of a tile; of each of its columns
// Until a tile's first step is done, and after its last: where k is short, few large tiles take less than
// many.
constexpr double kTileTime = 0.4;

double wgmma_step_time(int columns) { return std::max(kLeastStepTime, columns * kWgmmaStepTime); }

static_assert(kHopperParts <= kMostCluster);
// The plan for a tile with the number of parts that takes the least time.
Plan plan_parts(Gpu& gpu, const Product& p, Plan plan, double step_time) {
  plan.tiles = ceil_div(p.m, plan.rows) * ceil_div(p.n, plan.columns) * p.batch.count;
  plan.steps = ceil_div(p.k, plan.step);
  Plan best;
  const int64_t most = std::min<int64_t>(kHopperParts, ceil_div(plan.steps, kLeastSteps));
  for (int64_t parts = 1; parts <= most; ++parts) {
    plan.part_steps = ceil_div(plan.steps, parts);
    plan.shape.cluster = static_cast<uint32_t>(ceil_div(plan.steps, plan.part_steps));
    plan.shape.blocks[0] = plan.shape.cluster;
    const int64_t at_once =
        plan.shape.cluster == 1 ? gpu.properties().units : gpu.clusters(*plan.kernel, plan.shape);
    if (at_once == 0) continue;
    const int64_t rounds = ceil_div(plan.tiles, at_once);
    const double join = parts == 1 ? 0 : kJoinTime + kJoinColumnTime * plan.columns;
    plan.time =
        static_cast<double>(rounds) * (kTileTime + static_cast<double>(plan.part_steps) * step_time + join);
    if (best.kernel == nullptr || plan.time < best.time) best = plan;
  }
  return best;
}

Plan plan_wgmma(Gpu& gpu, const Product& p, size_t layout, size_t tile) {
  Plan plan;
  plan.kernel = &wgmma_kernels.get(gpu, ((p.a_type == DType::BF16 ? kTiles : 0) + tile) * 4 + layout);
  plan.rows = kWgmmaRows;
  plan.columns = kWgmmaTiles[tile].columns;
  plan.step = kWgmmaStep;
  plan.shape.threads = kWgmmaThreads;
  plan.shape.shared_bytes = static_cast<uint32_t>(wgmma_shared(kWgmmaTiles[tile]));
  return plan_parts(gpu, p, plan, wgmma_step_time(plan.columns));
}

Plan plan_lines(Gpu& gpu, const Product& p, size_t layout, size_t tile) {
  Plan plan;
  plan.kernel = &lines_kernels.get(gpu, tile * 4 + layout);
  plan.rows = kLinesTiles[tile].rows;
  plan.columns = kLinesTiles[tile].columns;
  plan.step = kLinesStep;
  plan.shape.threads = kLinesThreads + 128;
  plan.shape.shared_bytes = static_cast<uint32_t>(lines_shared(kLinesTiles[tile]));
  return plan_parts(gpu, p, plan, plan.rows * plan.columns * kLinesStepTime);
}

// The quickest of the tiles that suit a product.
Plan plan_of(Gpu& gpu, const Product& p, size_t layout) {
  const bool half = is_half(p.a_type);
  // What few columns take does not depend on how many they are.
  if (half && p.n <= kWgmmaTiles[3].columns && p.b_step == 1) return plan_wgmma(gpu, p, layout, 3);
  if (half && p.n <= kWgmmaTiles[2].columns) return plan_wgmma(gpu, p, layout, 2);
  const size_t tiles = half ? 3 : std::size(kLinesTiles);
  Plan best;
  for (size_t tile = 0; tile < tiles; ++tile) {
    const Plan plan = half ? plan_wgmma(gpu, p, layout, tile) : plan_lines(gpu, p, layout, tile);
    if (tile == 0 || plan.time < best.time) best = plan;
  }
  return best;
}

}  // namespace

bool hopper_takes(const Gpu& gpu, const Product& p) {
  if (!Bundle::is_for(gpu.target(), kHopper) || p.batch.rank > 1 || p.a_type != p.b_type) return false;
  // What few rows or columns take does not depend on how many they are, so that neither does a row's result.
  const int64_t few = std::min(p.m, p.n), work = std::max(p.m, p.n) * p.k;
  if (p.k == 0 || (few <= kThinRows ? work < kLeastFew : work * few < kLeastWork)) return false;
  if (is_half(p.a_type)) return p.c_type == p.a_type || p.c_type == DType::F32;
  // Few rows or columns of f32 are a matter of bandwidth, which this tile would not use.
  return p.a_type == DType::F32 && p.c_type == DType::F32 && few > kThinRows;
}

bool gemm_hopper(Gpu& gpu, const Product& original) {
  if (!hopper_takes(gpu, original)) return false;
  // Few rows are the columns of the exchanged product: tiles are narrow where they have few columns.
  // For f32 few columns are the rows, as its narrow tile has few of these.
  const int64_t few = kWgmmaTiles[2].columns;
  static_assert(kWgmmaTiles[2].columns == kLinesTiles[1].rows);
  const bool half = is_half(original.a_type);
  const bool exchange =
      half ? original.m < original.n && original.m <= few : original.n < original.m && original.n <= few;
  const Product p = exchange ? exchanged(original) : original;
  const bool turned_a = p.a_step != 1 && p.k > 1, turned_b = p.b_step != 1 && p.k > 1;
  const size_t layout = (turned_a ? 2u : 0u) + (turned_b ? 1u : 0u);
  Plan plan = plan_of(gpu, p, layout);
  const int64_t matrices = p.batch.count, parts = plan.shape.cluster, work = plan.tiles * parts;
  if (work > kMostSize) return false;

  const auto side = [&](size_t i, const std::byte* data, int64_t lanes, int64_t steps, int64_t lane_stride,
                        int64_t step_stride, bool turned) {
    const int64_t stride = p.batch.strides[i][0];
    return Side{data,        bytes_of(p.a_type),         lanes,  steps, lane_stride,
                step_stride, stride == 0 ? 1 : matrices, stride, turned};
  };
  const auto a = view_of(side(0, p.a, p.m, p.k, p.a_row, p.a_step, turned_a), plan.rows, plan.step);
  const auto b = view_of(side(1, p.b, p.n, p.k, p.b_column, p.b_step, turned_b), plan.columns, plan.step);
  if (!a.has_value() || !b.has_value()) return false;
  std::optional<TensorView> c;
  if (is_half(p.c_type) && parts == 1 && plan.columns >= 64 && p.c_column == 1)
    c = view_of(side(2, p.c, p.m, p.n, p.c_row, 1, false), 64, 64);

  HopperArgs arguments{};
  gpu.make_tensor_map(*a, &arguments.a);
  gpu.make_tensor_map(*b, &arguments.b);
  if (c.has_value()) gpu.make_tensor_map(*c, &arguments.c);
  arguments.through_map = c.has_value();
  arguments.c_data = p.c;
  arguments.c_row = p.c_row;
  arguments.c_column = p.c_column;
  arguments.c_batch = p.batch.strides[2][0];
  arguments.m = static_cast<uint32_t>(p.m);
  arguments.n = static_cast<uint32_t>(p.n);
  arguments.steps = static_cast<uint32_t>(plan.steps);
  arguments.parts = plan.shape.cluster;
  arguments.part_steps = static_cast<uint32_t>(plan.part_steps);
  arguments.part = divisor_of(arguments.parts);
  arguments.a_batch = a->dims[2] > 1;
  arguments.b_batch = b->dims[2] > 1;
  arguments.c_wide = p.c_type == DType::F32;
  arguments.parts_down = p.c_row < p.c_column;
  arguments.grid = gemm_grid(p.m, p.n, {plan.rows, plan.columns, 0, 0, 0}, half ? kWgmmaBand : kGemmBand);
  arguments.work = static_cast<uint32_t>(work);
  // Blocks of the matrix units stay for many tiles.
  const int64_t units = gpu.properties().units;
  arguments.blocks = static_cast<uint32_t>(half && parts == 1 ? std::min(work, units) : work);
  plan.shape.blocks[0] = arguments.blocks;
  const void* const mapped[] = {a->data, b->data};  // maps do not show their addresses
  gpu.launch(*plan.kernel, plan.shape, arguments, mapped);
  return true;
}

}  // namespace beeswax::gpu
