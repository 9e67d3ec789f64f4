// SPDX-License-Identifier: Apache-2.0
// Constants, ranges and copies.
#include "backends/gpu/launch.h"
#include "backends/gpu/turn.h"

namespace beeswax::gpu {
namespace {

static_assert(JoinArgs::kParts == Backend::kMostJoined);

KernelTable fill_kernels(5,
                         [](size_t i) -> KernelTable::Name { return {join_text("fill_", 1 << i), "fill"}; });
KernelTable copy_kernels(5,
                         [](size_t i) -> KernelTable::Name { return {join_text("copy_", 1 << i), "copy"}; });
KernelTable join_kernels(5,
                         [](size_t i) -> KernelTable::Name { return {join_text("join_", 1 << i), "cat"}; });
KernelTable collect_kernels(3, [](size_t i) -> KernelTable::Name {
  return {join_text("collect_", 1 << i), "copy"};
});
KernelTable transpose_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("transpose_", 1 << i), "copy"};
});
KernelTable transpose_squares_kernels(2 * 2, [](size_t i) -> KernelTable::Name {
  return {join_text("transpose_squares_", 1 << (i / 2), "_", 1 + i % 2), "copy"};
});
KernelTable range_kernels(kDTypes, [](size_t i) -> KernelTable::Name {
  return {join_text("range_", name_of(i)), "arange"};
});

// A nest by the widest units, of 16 bytes at most, that all operands hold side by side and on their
// boundaries.
struct Units {
  Nest<2> nest;
  size_t size;  // log2 of a unit's bytes

  Units(const Nest<2>& elements, const void* x, const void* y, int bytes) : nest(elements) {
    const size_t last = std::min(nest.last(), size_t{kMaxRank - 1});  // which compilers do not know
    const bool dense = nest.strides[0][last] == 1 && nest.strides[1][last] == 1;
    uint64_t places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y) | kMostBytes |
                      static_cast<uint64_t>(nest.dims[last] * bytes);
    for (size_t k = 0; k < 2; ++k)
      for (size_t axis = 0; axis < last; ++axis)
        places |= static_cast<uint64_t>(nest.strides[k][axis] * bytes);
    size = static_cast<size_t>(std::countr_zero(dense ? places : static_cast<uint64_t>(bytes)));
    const int64_t n = (int64_t{1} << size) / bytes;
    nest.dims[last] /= n;
    nest.count /= n;
    for (size_t k = 0; k < 2; ++k)
      for (size_t axis = 0; axis < last; ++axis) nest.strides[k][axis] /= n;
  }
  static constexpr uint64_t kMostBytes = 16;
};

// Whether out takes packs of n elements, whose parts may come from anywhere.
bool takes_packs(const Nest<2>& nest, const void* out, int bytes, int n) {
  const size_t last = nest.last();
  int64_t places = nest.dims[last];
  for (size_t axis = 0; axis < last; ++axis) places |= nest.strides[1][axis];
  return nest.strides[1][last] == 1 && places % n == 0 && begins_at(out, n * bytes);
}

// An element of `bytes` as often as it goes into 8.
uint64_t repeated(uint64_t element, int bytes) {
  for (int bits = 8 * bytes; bits < 64; bits *= 2) element |= element << bits;
  return element;
}

// How a turned copy is made: by squares with so many words in a row, or by single elements.
struct TurnedBy {
  int words = 0;
  TurnedTile tile;
};
TurnedTile squares_tile(int bytes, int words) {
  const SquareTile squares = square_tile(bytes, words);
  const int64_t side = transpose_square(bytes, words);
  return {squares.down * side, squares.across * side};
}
// Whether both sides take whole squares, of matrices that fill a good part of their tiles.
bool turns_squares(const Nest<2>& nest, const Turn& turn, const void* x, const void* y, int bytes,
                   int words) {
  const auto rows = static_cast<size_t>(turn.rows), columns = static_cast<size_t>(turn.columns);
  int64_t places = nest.dims[rows] | nest.dims[columns];
  for (size_t axis = 0; axis < static_cast<size_t>(nest.rank); ++axis) {
    if (axis != columns) places |= nest.strides[0][axis];
    if (axis != rows) places |= nest.strides[1][axis];
  }
  const TurnedTile tile = squares_tile(bytes, words);
  return places % transpose_square(bytes, words) == 0 && begins_at(x, 4 * words) && begins_at(y, 4 * words) &&
         2 * nest.dims[rows] > tile.rows && 2 * nest.dims[columns] > tile.columns;
}
// Large tiles are for matrices that keep `units` multiprocessors busy with them.
TurnedBy turned_by(const Nest<2>& nest, const Turn& turn, const void* x, const void* y, int bytes,
                   int64_t units) {
  constexpr int64_t kEnough = 4;  // blocks of a multiprocessor
  for (const int words : {2, 1}) {
    if (bytes > 2 || !turns_squares(nest, turn, x, y, bytes, words)) continue;
    const TurnedTile tile = squares_tile(bytes, words);
    if (words == 1 || tiles_of(nest, turn, tile) >= kEnough * units) return {words, tile};
  }
  const int64_t side = transpose_tile(bytes);
  return {0, {side, side}};
}

// Leaves half of an axis to walk; gives how far away the other half is, 0 where there is none.
std::array<int64_t, 2> halve(Nest<2>& nest) {
  for (size_t axis = 0; axis < static_cast<size_t>(nest.rank); ++axis) {
    if (nest.dims[axis] % 2 != 0) continue;
    nest.dims[axis] /= 2;
    nest.count /= 2;
    return {nest.strides[0][axis] * nest.dims[axis], nest.strides[1][axis] * nest.dims[axis]};
  }
  return {};
}

}  // namespace

void GpuBackend::fill(const Target& out, const Scalar& value) {
  const int bytes = bytes_of(out.dtype);
  CopyArgs arguments{};
  arguments.value = repeated(bits_of(value, out.dtype), bytes);
  for_each_part(Nest<2>({out.layout, out.layout}),
                [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t) {
                  arguments.y = at(out.data(), offset[1], out.dtype);
                  const Units units(part, arguments.y, arguments.y, bytes);
                  arguments.count = static_cast<uint32_t>(units.nest.count);
                  arguments.walk = walk_of(units.nest);
                  gpu_.launch(fill_kernels.get(gpu_, units.size), strided_shape(units.nest.count), arguments);
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
  const Nest<2> whole({x.layout, out.layout});
  if (const Turn turn = turn_of(whole, 0, 1); turn.rows >= 0) {
    const int bytes = bytes_of(out.dtype);
    const auto [words, tile] = turned_by(whole, turn, x.data(), out.data(), bytes, gpu_.properties().units);
    const Kernel& kernel =
        words > 0 ? transpose_squares_kernels.get(gpu_, 2 * kind + static_cast<size_t>(words) - 1)
                  : transpose_kernels.get(gpu_, kind);
    return for_each_turned(
        whole, turn, tile, [&, tile = tile](const Nest<2>& part, const std::array<int64_t, 2>& offset) {
          const auto rows = static_cast<size_t>(turn.rows), columns = static_cast<size_t>(turn.columns);
          TransposeArgs arguments{};
          arguments.x = at(x.data(), offset[0], x.dtype);
          arguments.y = at(out.data(), offset[1], out.dtype);
          arguments.rows = static_cast<uint32_t>(part.dims[rows]);
          arguments.columns = static_cast<uint32_t>(part.dims[columns]);
          arguments.x_row = part.strides[0][rows];
          arguments.y_column = part.strides[1][columns];
          arguments.row_tiles = divisor_of(blocks_for(part.dims[rows], tile.rows));
          arguments.column_tiles = divisor_of(blocks_for(part.dims[columns], tile.columns));
          arguments.batch = batch_of(part, turn);
          gpu_.launch(kernel, {{static_cast<uint32_t>(tiles_of(part, turn, tile)), 1, 1}, kTileThreads, 0},
                      arguments);
        });
  }
  for_each_part(whole, [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t) {
    const std::byte* from = at(x.data(), offset[0], x.dtype);
    std::byte* to = at(out.data(), offset[1], out.dtype);
    if (part.dense(0) && part.dense(1))
      return gpu_.copy(to, from, dtype_bytes(out.dtype, static_cast<size_t>(part.count)));
    CopyArgs arguments{};
    arguments.x = from;
    arguments.y = to;
    const int bytes = bytes_of(out.dtype), n = packed_elements(bytes);
    const Units units(part, from, to, bytes);
    Nest<2> nest = units.nest;
    const bool collects = units.size == kind && kind < 3 && takes_packs(part, to, bytes, n);
    if (collects) {
      const size_t last = nest.last();
      arguments.step = nest.strides[0][last];
      nest.dims[last] /= n;
      nest.count /= n;
      for (auto& strides : nest.strides) strides[last] *= n;
      const auto apart = halve(nest);
      std::copy(apart.begin(), apart.end(), arguments.apart);
    }
    arguments.count = static_cast<uint32_t>(nest.count);
    arguments.walk = walk_of(nest);
    if (collects) {
      gpu_.launch(collect_kernels.get(gpu_, kind),
                  {{blocks_for(nest.count, kMapThreads), 1, 1}, kMapThreads, 0}, arguments);
    } else {
      gpu_.launch(copy_kernels.get(gpu_, units.size), strided_shape(nest.count), arguments);
    }
  });
}

bool GpuBackend::join(std::span<const Operand> parts, int axis, int64_t start, const Target& out) {
  const Shape& shape = out.layout->shape();
  int64_t rows = 1, inner = bytes_of(out.dtype);  // inner: the bytes of one step along the axis
  for (int i = 0; i < axis; ++i) rows *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  uint64_t places = reinterpret_cast<uintptr_t>(out.data()) | static_cast<uint64_t>(start * inner) |
                    static_cast<uint64_t>(shape[axis] * inner) | Units::kMostBytes;
  for (const Operand& part : parts) {
    if (!part.layout->is_contiguous()) return false;
    places |=
        reinterpret_cast<uintptr_t>(part.data()) | static_cast<uint64_t>(part.layout->shape()[axis] * inner);
  }
  const int size = std::countr_zero(places);
  const int64_t pitch = shape[axis] * inner >> size;
  if (rows * pitch > most_elements()) return false;
  JoinArgs arguments{};
  arguments.y = out.data();
  arguments.rows = static_cast<uint32_t>(rows);
  arguments.pitch = static_cast<uint32_t>(pitch);
  JoinArgs::Part* next = arguments.parts;
  uint32_t blocks = 0;
  int64_t place = start * inner >> size;
  for (const Operand& part : parts) {
    const int64_t width = part.layout->shape()[axis] * inner >> size;
    if (width == 0) continue;
    blocks += strided_shape(rows * width).blocks[0];
    *next++ = {part.data(), blocks, static_cast<uint32_t>(width), static_cast<uint32_t>(place)};
    place += width;
  }
  if (blocks == 0) return true;
  std::fill(next, std::end(arguments.parts), next[-1]);
  gpu_.launch(join_kernels.get(gpu_, static_cast<size_t>(size)), {{blocks, 1, 1}, kMapThreads, 0}, arguments);
  return true;
}

}  // namespace beeswax::gpu
