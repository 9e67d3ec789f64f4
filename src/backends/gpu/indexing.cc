// SPDX-License-Identifier: Apache-2.0
// Moves by ids: index_select and gather. scatter is in scatter.cc, sums by ids in index_add.cc.
#include "backends/gpu/ids.h"
#include "backends/index_layouts.h"

namespace beeswax::gpu {
namespace {

constexpr size_t kSizes = 4;
KernelTable select_kernels(kSizes + 1, [](size_t i) -> KernelTable::Name {
  return {join_text("gather_", 1 << i), "index_select"};
});
KernelTable gather_kernels(kSizes + 1, [](size_t i) -> KernelTable::Name {
  return {join_text("gather_", 1 << i), "gather"};
});
KernelTable select_rows_kernels(kSizes, [](size_t i) -> KernelTable::Name {
  return {join_text("gather_rows_", 1 << i), "index_select"};
});
KernelTable gather_rows_kernels(kSizes, [](size_t i) -> KernelTable::Name {
  return {join_text("gather_rows_", 1 << i), "gather"};
});
KernelTable check_kernels(3, [](size_t i) -> KernelTable::Name {
  constexpr const char* kOperations[] = {"index_select", "index_add", "scatter_add"};  // by IdUser
  return {"check_ids", kOperations[i]};
});

// A gather whose elements are runs of elements where these lie together in x and share an id: fewer and wider
// moves.
struct Moves {
  Nest<2> nest;  // x without a step along the axis, ids
  int64_t axis_stride;
  int64_t bytes;
};
Moves widen(Moves moves, const std::byte* x, const std::byte* y) {
  Nest<2>& nest = moves.nest;
  const size_t last = nest.last();
  if (nest.strides[0][last] != 1 || nest.strides[1][last] != 0) return moves;
  int64_t together = nest.dims[last] * moves.bytes | moves.axis_stride * moves.bytes |
                     static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) |
                     16;
  for (size_t axis = 0; axis < last; ++axis) together |= nest.strides[0][axis] * moves.bytes;
  const int64_t factor = (together & -together) / moves.bytes;
  nest.dims[last] /= factor;
  nest.count /= factor;
  for (size_t axis = 0; axis < last; ++axis) nest.strides[0][axis] /= factor;
  moves.axis_stride /= factor;
  moves.bytes *= factor;
  return moves;
}

// Whether ids choose from rows that blocks can keep: rows enough for all blocks, and of each row so much that
// reading all of it costs no more than the lines of single elements.
bool takes_rows(const Nest<2>& nest, const Operand& x, int axis) {
  if (nest.count == 0) return false;
  const size_t last = nest.last();
  const int64_t length = x.layout->dim(axis), columns = nest.dims[last], rows = nest.count / columns;
  constexpr int64_t kFewestRows = 128, kFewestColumns = 256, kLine = 32;
  return axis == x.layout->rank() - 1 && x.layout->stride(axis) == 1 && nest.strides[0][last] == 0 &&
         length * bytes_of(x.dtype) <= std::min<int64_t>(kGatherRowBytes, columns * kLine) &&
         rows >= kFewestRows && columns >= kFewestColumns;
}

// move_by_ids, where takes_rows says so.
void move_by_rows(Gpu& gpu, KernelTable& table, const Operand& x, Nest<2> nest, const Operand& ids, bool list,
                  int axis, const Target& out) {
  const size_t last = nest.last();
  const Kernel& kernel = table.get(gpu, size_index(x.dtype));
  GatherRowsArgs arguments{};
  const int64_t columns = nest.dims[last];
  arguments.length = static_cast<uint32_t>(x.layout->dim(axis));
  arguments.columns = static_cast<uint32_t>(columns);
  arguments.ids_stride = nest.strides[1][last];
  nest.dims[last] = 1;
  nest.count /= columns;
  for_each_part(
      nest,
      [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t first) {
        arguments.x = at(x.data(), offset[0], x.dtype);
        arguments.y = at(out.data(), first * columns, out.dtype);
        arguments.ids =
            ids_args(ids, x.layout->dim(axis), list, offset[1], first * columns, reporter(gpu, kernel));
        arguments.walk = walk_of(part);
        gpu.launch(kernel, {{static_cast<uint32_t>(part.count), 1, 1}, kMapThreads, 0}, arguments);
      },
      {}, 0, most_elements() / columns);
}

// Columns of out where gathering by panels pays, else 0: where each element has an id of its own, anywhere in
// more than a cache holds, and columns side by side lie so in x.
int64_t panel_columns(const Nest<2>& nest, int64_t named, int64_t bytes) {
  constexpr int64_t kCached = 8 << 20;
  const int64_t columns = nest.inner();
  const bool pays = nest.strides[0][nest.last()] == 1 && nest.strides[1][nest.last()] != 0 &&
                    columns >= 4 * kMapThreads && nest.count / columns >= kMapThreads &&
                    named * columns * bytes > kCached;
  return pays ? columns : 0;
}

// out[i] = x[base of i + id of i * axis_stride], both layouts having out's shape.
void move_by_ids(Gpu& gpu, KernelTable& table, KernelTable& rows, const Operand& x, const Layout& base,
                 const Operand& ids, const Layout& id_layout, bool list, int axis, const Target& out) {
  if (const Nest<2> nest({&base, &id_layout}); takes_rows(nest, x, axis))
    return move_by_rows(gpu, rows, x, nest, ids, list, axis, out);
  const Moves moves =
      widen({Nest<2>({&base, &id_layout}), x.layout->stride(axis), bytes_of(x.dtype)}, x.data(), out.data());
  const Kernel& kernel =
      table.get(gpu, static_cast<size_t>(__builtin_ctzll(static_cast<uint64_t>(moves.bytes))));
  // Whether the elements of a row share an id, and rows lie along one axis.
  const bool shares = moves.nest.rank == 2 && moves.nest.strides[1][0] != 0 && moves.nest.strides[1][1] == 0;
  for_each_part(moves.nest, [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t first) {
    GatherArgs arguments{};
    arguments.x = x.data() + offset[0] * moves.bytes;
    arguments.y = out.data() + first * moves.bytes;
    arguments.count = static_cast<uint32_t>(part.count);
    int64_t places = part.count;
    if (const int64_t columns = panel_columns(part, x.layout->dim(axis), moves.bytes); columns > 0) {
      const int64_t rows = part.count / columns;
      arguments.columns = static_cast<uint32_t>(columns);
      arguments.rows = divisor_of(static_cast<uint32_t>(rows));
      places = rows * blocks_for(columns, kMapThreads) * kMapThreads;
    }
    arguments.axis_stride = moves.axis_stride;
    arguments.ids = ids_args(ids, x.layout->dim(axis), list, offset[1], first, reporter(gpu, kernel));
    if (!list) arguments.ids.step = moves.bytes / bytes_of(x.dtype);  // indices are those of wide moves
    if (!list && shares) {                                            // the first of them is named
      arguments.ids.first = offset[1];
      arguments.ids.stride = moves.nest.strides[1][0];
      arguments.ids.step *= moves.nest.inner();
    }
    arguments.walk = walk_of(part);
    gpu.launch(kernel, index_shape(places), arguments);
  });
}

}  // namespace

void check_ids(Gpu& gpu, IdUser user, const Operand& ids, int64_t size) {
  const Kernel& kernel = check_kernels.get(gpu, static_cast<size_t>(user));
  for_each_part(
      Nest<1>({ids.layout}), [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
        CheckIdsArgs arguments{};
        arguments.ids = ids_args(ids, size, false, offset[0], first, reporter(gpu, kernel));
        arguments.count = static_cast<uint32_t>(part.count);
        arguments.walk = walk_of(part);
        gpu.launch(kernel, {{blocks_for(part.count, kMapThreads), 1, 1}, kMapThreads, 0}, arguments);
      });
}

void GpuBackend::index_select(const Operand& x, const Operand& ids, int axis, const Target& out) {
  if (out.layout->shape().elem_count() == 0)
    return check_ids(gpu_, IdUser::IndexSelect, ids, x.layout->dim(axis));
  move_by_ids(gpu_, select_kernels, select_rows_kernels, x,
              without_step(*x.layout, out.layout->shape(), axis), ids,
              along_axis(out.layout->shape(), axis, ids.layout->stride(0)), true, axis, out);
}

void GpuBackend::gather(const Operand& x, const Operand& ids, int axis, const Target& out) {
  move_by_ids(gpu_, gather_kernels, gather_rows_kernels, x,
              without_step(*x.layout, ids.layout->shape(), axis), ids, *ids.layout, false, axis, out);
}

}  // namespace beeswax::gpu
