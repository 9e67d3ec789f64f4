// SPDX-License-Identifier: Apache-2.0
// Products on Hopper whose operands the copy engine brings: which operands suit it, and the choice of tile
// and parts.
#include <optional>

#include "backends/gpu/gemm.h"
#include "kernels/hopper_args.h"

namespace beeswax::gpu {
namespace {

constexpr const char* kTarget = "sm_90";
constexpr size_t kTiles = std::size(kWgmmaTiles);
constexpr int64_t kAlign = 16;  // bytes, of what the copy engine sees
constexpr int64_t kLine = 128;  // bytes of a box's lines, along the axis that is dense
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
      "matmul", kTarget, static_cast<uint32_t>(wgmma_shared(kWgmmaTiles[tile]))};
});
KernelTable lines_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("gemm_lines_f32", kLayouts[i]), "matmul", kTarget, kLinesShared};
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
    return size > 1 ? stride * side.element : kAlign;  // one that is never walked may be any
  };
  const int64_t bytes[] = {stride_bytes(side.turned ? side.step_stride : side.lane_stride, down),
                           stride_bytes(side.batch_stride, side.batch)};
  for (const int64_t stride : bytes)
    if (stride <= 0 || stride % kAlign != 0 || stride >= int64_t{1} << 40) return std::nullopt;
  if (reinterpret_cast<uintptr_t>(side.data) % kAlign != 0) return std::nullopt;
  TensorView view{};
  view.data = side.data;
  view.element = static_cast<int>(side.element);
  view.dims[0] = static_cast<uint64_t>(across);
  view.dims[1] = static_cast<uint64_t>(down);
  view.dims[2] = static_cast<uint64_t>(side.batch);
  view.strides[0] = static_cast<uint64_t>(bytes[0]);
  view.strides[1] = static_cast<uint64_t>(bytes[1]);
  view.box[0] = static_cast<uint32_t>(kLine / side.element);
  view.box[1] = static_cast<uint32_t>(side.turned ? box_steps : box_lanes);
  return view;
}

bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

struct Plan {
  size_t tile = 0;  // of kWgmmaTiles
  int rows = 0, columns = 0, step = 0, threads = 0, shared = 0;
  int64_t tiles = 0, steps = 0, parts = 1, part_steps = 0;
};

Plan plan_of(const Product& p, int64_t units) {
  const auto tiles_of = [&](int rows, int columns) {
    return ceil_div(p.m, rows) * ceil_div(p.n, columns) * p.batch.count;
  };
  Plan plan;
  if (p.a_type == DType::F32) {
    plan.rows = kLinesRows;
    plan.columns = kLinesColumns;
    plan.step = kLinesStep;
    plan.threads = kLinesThreads + 128;
    plan.shared = kLinesShared;
  } else {
    if (p.n <= kWgmmaTiles[3].columns && p.b_step == 1) {
      plan.tile = 3;
    } else if (p.n <= kWgmmaTiles[2].columns) {
      plan.tile = 2;
    } else {
      // The tile that takes fewer rounds of all units. One of half the columns reads more for what it makes,
      // which costs it about a tenth.
      const int64_t wide = ceil_div(tiles_of(kWgmmaRows, kWgmmaTiles[0].columns), units) * 20;
      const int64_t narrow = ceil_div(tiles_of(kWgmmaRows, kWgmmaTiles[1].columns), units) * 11;
      plan.tile = wide <= narrow ? 0 : 1;
    }
    plan.rows = kWgmmaRows;
    plan.columns = kWgmmaTiles[plan.tile].columns;
    plan.step = kWgmmaStep;
    plan.threads = kWgmmaThreads;
    plan.shared = wgmma_shared(kWgmmaTiles[plan.tile]);
  }
  plan.tiles = tiles_of(plan.rows, plan.columns);
  plan.steps = ceil_div(p.k, plan.step);
  // Parts of k keep all units busy where there are few tiles.
  plan.parts = std::clamp<int64_t>(units / plan.tiles, 1, ceil_div(plan.steps, kLeastSteps));
  plan.part_steps = ceil_div(plan.steps, plan.parts);
  plan.parts = ceil_div(plan.steps, plan.part_steps);
  return plan;
}

}  // namespace

bool hopper_takes(const Gpu& gpu, const Product& p) {
  if (gpu.target() != kTarget || p.batch.rank > 1 || p.a_type != p.b_type) return false;
  // What few rows or columns take does not depend on how many they are, so that neither does a row's result.
  const int64_t few = std::min(p.m, p.n), work = std::max(p.m, p.n) * p.k;
  if (p.k == 0 || (few <= kThinRows ? work < kLeastFew : work * few < kLeastWork)) return false;
  if (is_half(p.a_type)) return p.c_type == p.a_type || p.c_type == DType::F32;
  // Few rows or columns of f32 are a matter of bandwidth, which this tile would not use.
  return p.a_type == DType::F32 && p.c_type == DType::F32 && few > kThinRows;
}

bool gemm_hopper(Gpu& gpu, Backend& backend, const Product& original) {
  if (!hopper_takes(gpu, original)) return false;
  // Few rows are the columns of the exchanged product: tiles are narrow where they have few columns.
  const bool exchange = is_half(original.a_type) && original.m < original.n && original.m <= 64;
  const Product p = exchange ? exchanged(original) : original;
  const bool turned_a = p.a_step != 1 && p.k > 1, turned_b = p.b_step != 1 && p.k > 1;
  const Plan plan = plan_of(p, gpu.properties().units);
  const int64_t matrices = p.batch.count, work = plan.tiles * plan.parts;
  if (work > kMostSize || (plan.parts > 1 && work * plan.rows * plan.columns > kMostSize)) return false;

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
  if (is_half(p.c_type) && plan.parts == 1 && plan.columns >= 64 && p.c_column == 1)
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
  arguments.parts = static_cast<uint32_t>(plan.parts);
  arguments.part_steps = static_cast<uint32_t>(plan.part_steps);
  arguments.part = divisor_of(arguments.parts);
  arguments.a_batch = a->dims[2] > 1;
  arguments.b_batch = b->dims[2] > 1;
  arguments.c_wide = p.c_type == DType::F32;
  const bool wgmma = is_half(p.a_type);
  arguments.grid = gemm_grid(p.m, p.n, {plan.rows, plan.columns, 0, 0, 0}, wgmma ? kWgmmaBand : kGemmBand);
  arguments.work = static_cast<uint32_t>(work);
  // Blocks of the matrix units stay for many tiles.
  arguments.blocks = static_cast<uint32_t>(wgmma ? std::min<int64_t>(work, gpu.properties().units) : work);
  detail::Ref<Storage> sums;
  if (plan.parts > 1) {
    sums = backend.allocate(static_cast<size_t>(matrices * plan.parts * p.m * p.n) * sizeof(float));
    arguments.sums = reinterpret_cast<float*>(sums->data());
  }
  // Parts lie as c does, so that both are walked along the axis that is dense. Rows that are dense are the
  // columns of the exchanged result.
  const Product result = p.c_row < p.c_column ? exchanged(p) : p;
  arguments.sums_row = p.c_row < p.c_column ? 1 : p.n;
  arguments.sums_column = p.c_row < p.c_column ? p.m : 1;
  const size_t layout = (turned_a ? 2u : 0u) + (turned_b ? 1u : 0u);
  const Kernel& kernel =
      wgmma ? wgmma_kernels.get(gpu, ((p.a_type == DType::BF16 ? kTiles : 0) + plan.tile) * 4 + layout)
            : lines_kernels.get(gpu, layout);
  gpu.launch(
      kernel,
      {{arguments.blocks, 1, 1}, static_cast<uint32_t>(plan.threads), static_cast<uint32_t>(plan.shared)},
      arguments);
  if (plan.parts > 1) gemm_add_parts(gpu, result, arguments.sums, plan.parts);
  return true;
}

}  // namespace beeswax::gpu
