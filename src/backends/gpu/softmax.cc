// SPDX-License-Identifier: Apache-2.0
// Softmax and norms: one pass over memory where a row fits the registers of a block, or of a cluster of them,
// else sums first and then a pass over elements.
#include <iterator>

#include "backends/gpu/reduction.h"
#include "backends/gpu/rows.h"

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
struct RowsView : DenseRows {
  RowsView(GpuBackend& backend, const Operand& operand, int trailing, const Target& out) : DenseRows() {
    x = operand.data();
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

// Rows in registers, if they fit.
bool launch_rows(Gpu& gpu, KernelTable& table, const RowsView& view, DType dtype, std::byte* y,
                 const RowsArgs& args) {
  const bool packs = in_packs(view, dtype) && in_packs(y, dtype) && in_packs(args.weight, dtype) &&
                     in_packs(args.bias, dtype);
  const std::optional<RowsPlan> plan = plan_rows(gpu, view.n, dtype, packs, kClusterTarget);
  if (!plan.has_value()) return false;
  const size_t step = !plan->spread ? static_cast<size_t>(plan->kind) : packs ? kSpread : kLooseSpread;
  launch_rows(gpu, table.get(gpu, entry(dtype, step)), *plan, view, dtype, y, view.n, args);
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
