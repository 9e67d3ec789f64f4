// SPDX-License-Identifier: Apache-2.0
// Constants, ranges and copies.
#include "backends/gpu/launch.h"

namespace beeswax::gpu {
namespace {

constexpr int kSizes = 4;
KernelTable fill_kernels(kSizes * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("fill_", 1 << (i / 2), i % 2 == 0 ? "" : "_strided"), "fill"};
});
KernelTable copy_kernels(kSizes, [](size_t i) -> KernelTable::Name {
  return {join_text("copy_", 1 << i, "_strided"), "copy"};
});
KernelTable transpose_kernels(kSizes, [](size_t i) -> KernelTable::Name {
  return {join_text("transpose_", 1 << i), "copy"};
});
KernelTable range_kernels(kDTypes, [](size_t i) -> KernelTable::Name {
  return {join_text("range_", name_of(i)), "arange"};
});

// The axes of a nest that make it a batch of transposes, columns being the axis that is dense in x and rows
// the one that is dense in out; -1 where there are none worth it.
struct Turn {
  int rows = -1, columns = -1;
};
Turn turn_of(const Nest<2>& nest) {
  Turn turn;
  for (int axis = 0; axis < nest.rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (nest.strides[0][i] == 1) turn.columns = axis;
    if (nest.strides[1][i] == 1) turn.rows = axis;
  }
  constexpr int64_t kWorth = 8;  // shorter rows fill tiles too badly
  if (turn.rows < 0 || turn.columns < 0 || turn.rows == turn.columns ||
      nest.dims[static_cast<size_t>(turn.rows)] < kWorth ||
      nest.dims[static_cast<size_t>(turn.columns)] < kWorth)
    return {};
  return turn;
}

}  // namespace

void GpuBackend::fill(const Target& out, const Scalar& value) {
  const Nest<2> nest({out.layout, out.layout});
  CopyArgs arguments{};
  arguments.value = bits_of(value, out.dtype);
  for_each_part(nest, [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t) {
    arguments.y = at(out.data(), offset[1], out.dtype);
    arguments.count = static_cast<uint32_t>(part.count);
    const size_t entry = size_index(out.dtype) * 2;
    if (part.dense(1)) {
      gpu_.launch(fill_kernels.get(gpu_, entry),
                  dense_shape(part.count, {bytes_of(out.dtype)}, bytes_of(out.dtype)), arguments);
    } else {
      arguments.walk = walk_of(part);
      gpu_.launch(fill_kernels.get(gpu_, entry + 1), strided_shape(part.count), arguments);
    }
  });
}

void GpuBackend::range(const Target& out, const Scalar& start, const Scalar& step) {
  RangeArgs arguments{};
  arguments.start = start.as_double();
  arguments.step = step.as_double();
  arguments.whole_start = start.as_int();
  arguments.whole_step = step.as_int();
  for_each_part(Nest<1>({out.layout}),
                [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
                  arguments.y = at(out.data(), offset[0], out.dtype);
                  arguments.count = static_cast<uint32_t>(part.count);
                  arguments.first = first;
                  gpu_.launch(range_kernels.get(gpu_, index_of(out.dtype)),
                              dense_shape(part.count, {bytes_of(out.dtype)}, bytes_of(out.dtype)), arguments);
                });
}

void GpuBackend::copy(const Operand& x, const Target& out) {
  const size_t kind = size_index(out.dtype);
  for_each_part(Nest<2>({x.layout, out.layout}), [&](const Nest<2>& part,
                                                     const std::array<int64_t, 2>& offset, int64_t) {
    const std::byte* from = at(x.data(), offset[0], x.dtype);
    std::byte* to = at(out.data(), offset[1], out.dtype);
    if (part.dense(0) && part.dense(1))
      return gpu_.copy(to, from, dtype_bytes(out.dtype, static_cast<size_t>(part.count)));
    if (const Turn turn = turn_of(part); turn.rows >= 0) {
      TransposeArgs arguments{};
      const auto rows = static_cast<size_t>(turn.rows), columns = static_cast<size_t>(turn.columns);
      arguments.x = from;
      arguments.y = to;
      arguments.rows = static_cast<uint32_t>(part.dims[rows]);
      arguments.columns = static_cast<uint32_t>(part.dims[columns]);
      arguments.x_row = part.strides[0][rows];
      arguments.y_column = part.strides[1][columns];
      arguments.row_tiles = blocks_for(part.dims[rows], kTile);
      arguments.column_tiles = blocks_for(part.dims[columns], kTile);
      Nest<2> batch = part;
      batch.dims[rows] = batch.dims[columns] = 1;
      batch.count = part.count / (part.dims[rows] * part.dims[columns]);
      arguments.batch = walk_of(batch);
      const int64_t blocks = batch.count * arguments.row_tiles * arguments.column_tiles;
      return gpu_.launch(transpose_kernels.get(gpu_, kind),
                         {{static_cast<uint32_t>(blocks), 1, 1}, kTileThreads, 0}, arguments);
    }
    CopyArgs arguments{};
    arguments.x = from;
    arguments.y = to;
    arguments.count = static_cast<uint32_t>(part.count);
    arguments.walk = walk_of(part);
    gpu_.launch(copy_kernels.get(gpu_, kind), strided_shape(part.count), arguments);
  });
}

}  // namespace beeswax::gpu
