// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/reduction.h"

#include "backends/gpu/rows.h"
#include "tables/reduce_kernels.h"

namespace beeswax::gpu {
namespace {

bool has_kernel(size_t row, size_t dtype) {
  const bool floats_only = std::string_view(kReduceTexts[row].dtypes) == "Float";
  return reduce_kernel(static_cast<int>(row)) == static_cast<int>(row) &&
         (!floats_only || dtype_is_float(static_cast<DType>(dtype)));
}
enum class Over : size_t { Rows, ShortRows, Columns };
constexpr std::string_view kOver[] = {"", "_short", "_columns"};
KernelTable kernels(static_cast<size_t>(kReduceRows) * kDTypes * std::size(kOver),
                    [](size_t i) -> KernelTable::Name {
                      const size_t over = i % std::size(kOver), entry = i / std::size(kOver);
                      const size_t dtype = entry % kDTypes, row = entry / kDTypes;
                      if (!has_kernel(row, dtype)) return {"", ""};
                      const auto method = kReduceTexts[row].method;
                      return {join_text("reduce_", method, "_", name_of(dtype), kOver[over]), method};
                    });
const Kernel& kernel_of(Gpu& gpu, int row, DType dtype, Over over) {
  const auto kernel = static_cast<size_t>(reduce_kernel(row));
  return kernels.get(gpu,
                     (kernel * kDTypes + index_of(dtype)) * std::size(kOver) + static_cast<size_t>(over));
}

// Rows with a center, in registers.
enum : size_t { kKeptKinds = static_cast<size_t>(RowKind::Wide) + 1 };
KernelTable kept_kernels(
    static_cast<size_t>(kReduceRows) * kDTypes * kKeptKinds, [](size_t i) -> KernelTable::Name {
      constexpr std::string_view kKinds[kKeptKinds] = {"_kept_short_", "_kept_", "_kept_wide_"};
      const auto kind = static_cast<RowKind>(i % kKeptKinds);
      const size_t dtype = i / kKeptKinds % kDTypes, row = i / kKeptKinds / kDTypes;
      if (kReduceCenters[row] == reduce_center::NONE || !has_kernel(row, dtype) ||
          !has_rows(kind, bytes_of(static_cast<DType>(dtype))))
        return {"", ""};
      const auto method = kReduceTexts[row].method;
      return {join_text("reduce_", method, kKinds[i % kKeptKinds], name_of(dtype)), method};
    });

// What rounds the results of passes over f32 to a dtype.
uint32_t rounding_to(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return kReduceToF16;
    case DType::BF16:
      return kReduceToBf16;
    case DType::F8E4M3:
      return kReduceToF8;
    default:
      return 0;
  }
}

int64_t chunks_of(int64_t n) { return ceil_div(n, int64_t{kChunk}); }
uint32_t last_of(int64_t n) { return static_cast<uint32_t>(n - (chunks_of(n) - 1) * int64_t{kChunk}); }

// One pass, to a result for each row, or for each of its chunks.
struct Pass {
  int row;
  uint32_t flags;  // without those that the view and the kernel decide
  int64_t n;       // for the last step
  const std::byte* centers;
  std::byte* y;
  int64_t result_bytes;
  const Kernel* kernel;  // null: the row's own
};

void rows_pass(Gpu& gpu, const Pass& pass, const ReduceView& view, bool split);

// Chunks of rows that are longer than kernels count: whole chunks of a row at a time.
void long_rows_pass(Gpu& gpu, const Pass& pass, const ReduceView& view) {
  const int64_t n = view.n(), stride = view.reduced.strides[0][0];
  const auto one_row = [&](const Nest<1>&, const std::array<int64_t, 1>& offset, int64_t row) {
    for (int64_t first = 0; first < n; first += most_elements()) {
      ReduceView piece(at(view.base, offset[0] + first * stride, view.dtype), view.dtype, 1,
                       std::min(most_elements(), n - first), 1);
      piece.reduced.strides[0][0] = stride;
      Pass part = pass;
      part.y += (row * chunks_of(n) + first / int64_t{kChunk}) * pass.result_bytes;
      if (pass.centers != nullptr) part.centers += row * bytes_of(compute_dtype(view.dtype));
      rows_pass(gpu, part, piece, true);
    }
  };
  for_each_part(view.outer, one_row, {}, 0, 1);
}

void rows_pass(Gpu& gpu, const Pass& pass, const ReduceView& view, bool split) {
  if (split && view.n() > most_elements()) return long_rows_pass(gpu, pass, view);
  const int64_t chunks = chunks_of(view.n());
  ReduceRowsArgs args{};
  args.last = last_of(view.n());
  args.chunks = divisor_of(static_cast<uint32_t>(chunks));
  const int bytes = bytes_of(view.dtype);
  const auto in_packs = [&](int64_t lanes) {
    return view.dense_rows() &&
           rows_begin_at(view.base, view.dtype, view.outer, std::min(16, static_cast<int>(lanes) * bytes));
  };
  const int64_t few = short_lanes(bytes, dtype_is_float(view.dtype));
  const bool in_short =
      pass.kernel == nullptr && view.n() <= kShortRow && view.n() % few == 0 && in_packs(few);
  const int64_t own = in_short ? few : kOwnLanes;
  // In packs as memory has them, a row begins some elements after its first pack does.
  const int64_t ahead = in_short || !view.dense_rows() || in_packs(kOwnLanes) ? 0 : kOwnLanes - 1;
  args.width_log2 = log2_up(std::min(kLanes / own, ceil_div(view.n() + ahead, own)));
  // As many groups of threads as go through a row's chunks in the fewest rounds.
  const int64_t groups = split ? 1 : ceil_div(chunks, ceil_div(chunks, int64_t{kReduceGroups}));
  const int64_t unit_threads = groups << args.width_log2;
  args.groups = divisor_of(static_cast<uint32_t>(groups));
  args.block_units = static_cast<uint32_t>(kReduceThreads / unit_threads);
  const auto threads = static_cast<uint32_t>(round_up(args.block_units * unit_threads, 32));
  args.flags = pass.flags | (split ? kReduceSplit : 0) | (reduce_reverses(pass.row) ? kReduceReverses : 0) |
               (view.dense_rows() ? kReduceDense : 0);
  const Kernel& kernel = pass.kernel != nullptr
                             ? *pass.kernel
                             : kernel_of(gpu, pass.row, view.dtype, in_short ? Over::ShortRows : Over::Rows);
  args.row = static_cast<uint32_t>(pass.row);
  args.n = pass.n;
  args.reduced = reduced_axes(view.reduced);
  const int64_t per_row = split ? chunks : 1;
  const int64_t in_block = int64_t{args.block_units} * (in_short ? short_rows(view.n()) : 1);
  const int compute_bytes = bytes_of(compute_dtype(view.dtype));
  for_each_part(
      view.outer,
      [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
        args.x = at(view.base, offset[0], view.dtype);
        args.y = pass.y + first * per_row * pass.result_bytes;
        args.centers = pass.centers == nullptr ? nullptr : pass.centers + first * compute_bytes;
        args.outer = walk_of(part);
        args.units = static_cast<uint32_t>(part.count * per_row);
        gpu.launch(kernel, {{blocks_for(args.units, in_block), 1, 1}, threads, 0}, args);
      },
      {}, 0, most_blocks(kReduceThreads) * in_block / per_row);
}

void columns_pass(Gpu& gpu, const Pass& pass, const ReduceView& view) {
  const int64_t chunks = chunks_of(view.n());
  const bool split = view.n() > 16;
  const uint32_t own = own_columns(static_cast<uint32_t>(bytes_of(view.dtype)));
  ReduceColumnsArgs args{};
  args.columns = static_cast<uint32_t>(view.columns);
  args.tiles = blocks_for(view.columns, int64_t{own} * (split ? int64_t{kColumnThreads} : kReduceThreads));
  args.chunks = static_cast<uint32_t>(chunks);
  args.last = last_of(view.n());
  args.flags = pass.flags | (split ? kReduceSplit : 0) | (reduce_reverses(pass.row) ? kReduceReverses : 0);
  if (columns_in_packs(view, own)) args.flags |= kReducePacks;
  args.row = static_cast<uint32_t>(pass.row);
  args.n = pass.n;
  args.reduced = reduced_axes(view.reduced);
  const int compute_bytes = bytes_of(compute_dtype(view.dtype));
  for_each_part(
      view.outer,
      [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
        args.x = at(view.base, offset[0], view.dtype);
        args.y = pass.y + first * chunks * view.columns * pass.result_bytes;
        args.centers =
            pass.centers == nullptr ? nullptr : pass.centers + first * view.columns * compute_bytes;
        args.outer = walk_of(part);
        const auto blocks = static_cast<uint32_t>(part.count * chunks * args.tiles);
        gpu.launch(kernel_of(gpu, pass.row, view.dtype, Over::Columns), {{blocks, 1, 1}, kReduceThreads, 0},
                   args);
      },
      {}, 0, most_blocks(kReduceThreads) / (chunks * args.tiles));
}

// Whether a pass over chunks comes first: of columns with several, of rows too long for a block, and of rows
// too few to fill the device.
bool needs_more(const Gpu& gpu, const ReduceView& view) {
  const int64_t chunks = chunks_of(view.n());
  if (view.columns > 1) return chunks > 1;
  return chunks > int64_t{kChunk} ||
         (chunks > int64_t{4 * kReduceGroups} && view.outer.count < 2 * int64_t{gpu.properties().units});
}

// The results of a row that has a center, in the operand's dtype: one pass over memory, where rows fit
// registers and are enough.
bool reduce_kept(Gpu& gpu, int row, const ReduceView& view, std::byte* y) {
  if (view.columns > 1 || view.outer.rank != 1 || !view.dense_rows() || view.n() == 0 ||
      needs_more(gpu, view))
    return false;
  const DenseRows rows{view.base, view.outer.count, view.n(), view.outer.strides[0][0]};
  const std::optional<RowsPlan> plan =
      in_packs(rows, view.dtype) ? plan_rows(gpu, rows.n, view.dtype, true) : std::nullopt;
  if (!plan.has_value()) return false;
  const size_t entry = static_cast<size_t>(row) * kDTypes + index_of(view.dtype);
  const Kernel& kernel = kept_kernels.get(gpu, entry * kKeptKinds + static_cast<size_t>(plan->kind));
  launch_rows(gpu, kernel, *plan, rows, view.dtype, y, 1, {});
  return true;
}

}  // namespace

ReduceView::ReduceView(const Operand& x, uint32_t axes, int64_t least_columns)
    : ReduceNest(*x.layout, axes, least_columns), base(x.data()), dtype(x.dtype) {
  // AMD's cards launch 2^32 - 1 threads at a time, and a column may have so many of them.
  constexpr int64_t kMostThreads = kReduceThreads / kColumnThreads;
  if (columns > std::min(most_elements(), UINT32_MAX / kMostThreads) ||
      (columns > 1 && n() > most_elements()))
    static_cast<ReduceNest&>(*this) = ReduceNest(*x.layout, axes, INT64_MAX);
}

bool ReduceView::fits() const {
  if (reduced.rank > kMostReducedAxes || (reduced.rank > 1 && n() > most_elements())) return false;
  return columns > 1 || outer.rank <= kMaxWalk;
}

ReducedAxes reduced_axes(const Nest<1>& reduced) {
  ReducedAxes axes{};
  axes.rank = reduced.rank;
  for (int axis = 0; axis < reduced.rank; ++axis) {
    const auto from = static_cast<size_t>(reduced.rank - 1 - axis);
    if (reduced.rank > 1) axes.dims[axis] = divisor_of(static_cast<uint32_t>(reduced.dims[from]));
    axes.strides[axis] = reduced.strides[0][from];
  }
  return axes;
}

bool columns_in_packs(const ReduceView& view, int64_t own) {
  const auto in_packs = [&](const Nest<1>& nest) {
    for (int axis = 0; axis < nest.rank; ++axis)
      if (nest.strides[0][static_cast<size_t>(axis)] % own != 0) return false;
    return true;
  };
  return begins_at(view.base, bytes_of(view.dtype) * own) && view.columns % own == 0 &&
         in_packs(view.outer) && in_packs(view.reduced);
}

bool rows_begin_at(const std::byte* base, DType dtype, const Nest<1>& outer, int bytes) {
  if (!begins_at(base, bytes)) return false;
  for (int axis = 0; axis < outer.rank; ++axis)
    if (outer.dims[static_cast<size_t>(axis)] > 1 &&
        outer.strides[0][static_cast<size_t>(axis)] * bytes_of(dtype) % bytes != 0)
      return false;
  return true;
}

void reduce_view(Gpu& gpu, ReduceOp op, const ReduceView& view, Finish finish, std::byte* y,
                 const std::byte* centers, const Kernel* mapping) {
  const int row = static_cast<int>(op);
  const DType compute = compute_dtype(view.dtype);
  const int64_t size = bytes_of(compute);
  const int center = kReduceCenters[row];
  const bool centered = center != reduce_center::NONE;
  if (centered && centers == nullptr && finish == Finish::InDType && reduce_kept(gpu, row, view, y)) return;
  const PoolScratch own_centers(gpu, !centered || centers != nullptr ? 0 : view.results() * size);
  if (own_centers.data() != nullptr) {
    reduce_view(gpu, static_cast<ReduceOp>(center), view, Finish::InCompute, own_centers.data());
    centers = own_centers.data();
  }
  const bool wide = finish != Finish::InDType;
  const uint32_t last_flags = (finish == Finish::None ? 0 : kReduceFinishes) | (wide ? kReduceWide : 0);
  const uint32_t rounds = wide ? 0 : rounding_to(view.dtype);
  const auto one_pass = [&](const ReduceView& from, uint32_t flags, bool split, std::byte* to) {
    const bool in_compute = (flags & kReduceWide) != 0 && (flags & kReduceRounds) == 0;
    const Pass pass{row,
                    flags,
                    view.n(),
                    centers,
                    to,
                    in_compute ? size : bytes_of(view.dtype),
                    (flags & kReduceMaps) != 0 ? mapping : nullptr};
    if (from.columns > 1) {
      columns_pass(gpu, pass, from);
    } else {
      rows_pass(gpu, pass, from, split);
    }
  };
  if (!needs_more(gpu, view)) {
    one_pass(view, last_flags | kReduceMaps, false, y);
    return;
  }
  // Chunks' results are dense and of the compute dtype.
  int64_t n = chunks_of(view.n());
  const int64_t outer = view.outer.count;
  PoolScratch partial(gpu, outer * n * view.columns * size);
  one_pass(view, kReduceWide | kReduceMaps, true, partial.data());
  ReduceView next(partial.data(), compute, outer, n, view.columns);
  const PoolScratch shorter(gpu, needs_more(gpu, next) ? outer * chunks_of(n) * view.columns * size : 0);
  std::byte* spare = shorter.data();
  while (needs_more(gpu, next)) {
    one_pass(next, kReduceWide, true, spare);
    n = chunks_of(n);
    std::byte* const used = const_cast<std::byte*>(next.base);
    next = ReduceView(spare, compute, outer, n, view.columns);
    spare = used;
  }
  one_pass(next, last_flags | kReduceWide | rounds, false, y);
}

void chunk_sums(Gpu& gpu, const ReduceView& rows, std::byte* y) {
  const Pass pass{static_cast<int>(ReduceOp::Sum),
                  kReduceWide | kReduceMaps,
                  rows.n(),
                  nullptr,
                  y,
                  bytes_of(compute_dtype(rows.dtype)),
                  nullptr};
  rows_pass(gpu, pass, rows, true);
}

}  // namespace beeswax::gpu
