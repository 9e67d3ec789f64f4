// SPDX-License-Identifier: Apache-2.0
// Sums by ids: index_add and scatter_add. Rows of ids of their own that are short are scatter_rows.cc's. Else
// contributions are sorted by the destination that their id names,
// which keeps the order of ids; then each destination gets the sum of its own.
#include <bit>

#include "backends/gpu/ids.h"
#include "backends/gpu/scatter_rows.h"
#include "backends/gpu/sort.h"
#include "backends/index_layouts.h"
#include "kernels/index_args.h"

namespace beeswax::gpu {
namespace {

enum Step : size_t { kRows, kPacked, kChunks, kJoin };
constexpr size_t kSteps = 4;
KernelTable sum_kernels(kDTypes* kSteps, [](size_t i) -> KernelTable::Name {
  const auto dtype = static_cast<DType>(i / kSteps);
  const std::string of =
      dtype_is_float(dtype) ? std::string(dtype_name(dtype)) : std::to_string(bytes_of(dtype));
  switch (i % kSteps) {
    case kRows:
      return {"index_add_" + of, "index_add"};
    case kPacked:
      return {"index_add_" + of + "_packed", "index_add"};
    case kChunks:
      return {"index_add_chunks_" + of, "index_add"};
    default:
      return {"index_add_join_" + of, "index_add"};
  }
});
KernelTable keys_kernels(2, [](size_t i) -> KernelTable::Name {
  return {"index_keys", i == 0 ? "index_add" : "scatter_add"};
});

constexpr size_t kFrom = 0;
constexpr size_t kTo = 1;
constexpr int64_t kChunk = 512;  // contributions whose sum is one step of the documented order

// Keys are 31 bits, and so are the numbers of contributions.
void check_count(std::string_view operation, int64_t count) {
  if (count > kMostElements)
    fail(ErrorKind::Unsupported, operation, "along an axis of ", count,
         " elements has no GPU kernel; the most is ", kMostElements);
}

int pack_of(DType dtype) { return bytes_of(dtype) == 8 ? kAddPack / 2 : kAddPack; }

// Whether neighbouring columns can be added in packs.
bool packs(const IndexSumArgs& arguments, const Nest<2>& columns, DType dtype) {
  const int64_t n = pack_of(dtype);
  const size_t last = columns.last();
  if (columns.strides[kFrom][last] != 1 || columns.strides[kTo][last] != 1) return false;
  int64_t steps = columns.dims[last];
  for (size_t k = 0; k < 2; ++k)
    for (size_t axis = 0; axis < last; ++axis) steps |= columns.strides[k][axis];
  for (int axis = 0; axis < arguments.from.rank; ++axis) steps |= arguments.from.strides[0][axis];
  for (int axis = 0; axis < arguments.to.rank; ++axis) steps |= arguments.to.strides[0][axis];
  const auto places = reinterpret_cast<uintptr_t>(arguments.x) | reinterpret_cast<uintptr_t>(arguments.y);
  return steps % n == 0 && places % static_cast<uintptr_t>(n * bytes_of(dtype)) == 0;
}

// Adds all columns of the rows that are ready in `arguments`.
class Sums {
 public:
  Sums(GpuBackend& backend, Gpu& gpu, DType dtype, const IndexSumArgs& arguments)
      : backend_(backend), gpu_(gpu), dtype_(dtype), arguments_(arguments) {}

  void add(const Nest<2>& columns) {
    const bool packed = packs(arguments_, columns, dtype_);
    Nest<2> packs = columns;
    if (packed) {
      const int64_t n = pack_of(dtype_);
      packs.dims[packs.last()] /= n;
      packs.count /= n;
      packs.strides[kFrom][packs.last()] = packs.strides[kTo][packs.last()] = n;
    }
    launch(packed ? kPacked : kRows, packs, arguments_.count);
    if (arguments_.count <= kChunk) return;
    // Long segments, if there are any.
    const int64_t windows = ceil_div(int64_t{arguments_.count}, kChunk);
    const auto bytes = dtype_bytes(compute_dtype(dtype_), static_cast<size_t>(2 * windows * columns.count));
    const detail::Ref<Storage> partials = backend_.allocate(bytes);
    arguments_.partials = partials->data();
    launch(kChunks, columns, 2 * windows);
    launch(kJoin, columns, windows);
  }

 private:
  void launch(Step step, const Nest<2>& columns, int64_t rows) {
    const int64_t across = std::min<int64_t>(
        kMapThreads, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns.count))));
    const int64_t tiles = ceil_div(columns.count, across);
    arguments_.columns = static_cast<uint32_t>(columns.count);
    arguments_.tile_columns = static_cast<uint32_t>(across);
    arguments_.column_tiles = divisor_of(static_cast<uint32_t>(tiles));
    arguments_.column = walk_of(columns);
    gpu_.launch(sum_kernels.get(gpu_, index_of(dtype_) * kSteps + step),
                {{static_cast<uint32_t>(ceil_div(rows, kMapThreads / across) * tiles), 1, 1}, kMapThreads, 0},
                arguments_);
  }

  GpuBackend& backend_;
  Gpu& gpu_;
  DType dtype_;
  IndexSumArgs arguments_;
};

// One id for each position along the axis: rows of columns.
void add_shared(GpuBackend& backend, Gpu& gpu, IdUser user, const Operand& ids, int ids_axis,
                const Operand& source, int axis, const Target& out) {
  const int64_t count = source.layout->dim(axis), size = out.layout->dim(axis);
  if (size == 0) return check_ids(gpu, user, ids, size);
  check_count(user == IdUser::IndexAdd ? "index_add" : "scatter_add", std::max(count, size));
  const Shape list{count};
  const Layout ids_of_list = along_axis(list, 0, ids.layout->stride(ids_axis)),
               no_columns = along_axis(list, 0, 0);
  const Kernel& kernel = keys_kernels.get(gpu, user == IdUser::IndexAdd ? 0 : 1);
  const detail::Ref<Storage> keys = backend.allocate(static_cast<size_t>(count) * sizeof(uint32_t));
  IndexKeysArgs key_arguments{};
  key_arguments.ids = ids_args(ids, size, false, 0, 0, reporter(gpu, kernel));
  for (int i = ids_axis + 1; i < ids.layout->rank(); ++i) key_arguments.ids.step *= ids.layout->dim(i);
  key_arguments.keys = reinterpret_cast<uint32_t*>(keys->data());
  key_arguments.count = static_cast<uint32_t>(count);
  key_arguments.skipped = static_cast<uint32_t>(size);
  key_arguments.walk = walk_of(Nest<2>({&ids_of_list, &no_columns}));
  gpu.launch(kernel, index_shape(count), key_arguments);
  const SortedNumbers sorted =
      sort_numbers(backend, gpu, keys, count, static_cast<int>(std::bit_width(static_cast<uint64_t>(size))));

  IndexSumArgs arguments{};
  arguments.keys = reinterpret_cast<const uint32_t*>(sorted.numbers->data());
  arguments.place = reinterpret_cast<const uint32_t*>(sorted.places->data());
  arguments.count = key_arguments.count;
  arguments.skipped = key_arguments.skipped;
  const Layout from = along_axis(list, 0, source.layout->stride(axis));
  const Layout to = along_axis(Shape{size}, 0, out.layout->stride(axis));
  arguments.from = walk_of(Nest<1>({&from}));
  arguments.to = walk_of(Nest<1>({&to}));
  const Layout from_columns = drop_axis(*source.layout, axis);
  const Layout to_columns = drop_axis(without_step(*out.layout, source.layout->shape(), axis), axis);
  for_each_part(
      Nest<2>({&from_columns, &to_columns}),
      [&](const Nest<2>& part, const std::array<int64_t, 2>& offset, int64_t) {
        arguments.x = at(source.data(), offset[kFrom], source.dtype);
        arguments.y = at(out.data(), offset[kTo], out.dtype);
        Sums(backend, gpu, source.dtype, arguments).add(part);
      },
      {}, 0, std::max<int64_t>(1, most_elements() / count));
}

// Ids that differ from column to column: each element is a row of its own. `is_part`: of others, whose ids
// have all been looked at.
void add_each(GpuBackend& backend, Gpu& gpu, const Operand& ids, const Operand& source, int axis,
              const Target& out, bool is_part = false) {
  const int rank = ids.layout->rank();
  const int64_t size = out.layout->dim(axis);
  if (size == 0) return check_ids(gpu, IdUser::ScatterAdd, ids, size);
  // A key is the row-major number of a destination, the axis being the last.
  std::array<int64_t, kMaxRank> key_strides{};
  std::array<int, kMaxRank> axis_last{};
  int64_t named = size;
  for (int i = rank, place = rank - 1; i-- > 0;) {
    if (i == axis) continue;
    key_strides[static_cast<size_t>(i)] = named;
    named *= ids.layout->dim(i);
    axis_last[static_cast<size_t>(--place)] = i;
  }
  axis_last[static_cast<size_t>(rank - 1)] = axis;
  const int64_t count = ids.layout->shape().elem_count();
  if (std::max(named, count) > most_elements()) {
    // Half of the columns at a time.
    int longest = axis == 0 ? rank - 1 : 0;
    for (int i = 0; i < rank; ++i)
      if (i != axis && ids.layout->dim(i) > ids.layout->dim(longest)) longest = i;
    const int64_t length = longest == axis ? 1 : ids.layout->dim(longest);
    if (length == 1) check_count("scatter_add", std::max(named, count));
    // Parts number their ids from 0: where a wrong one stands is told before.
    if (length > 1 && !is_part) check_ids(gpu, IdUser::ScatterAdd, ids, size);
    for (int64_t begin = 0, part = length / 2; length > 1 && begin < length;
         begin += part, part = length - begin) {
      const Layout ids_part = ids.layout->narrow(longest, begin, part);
      const Layout from_part = source.layout->narrow(longest, begin, part);
      const Layout to_part = out.layout->narrow(longest, begin, part);
      add_each(backend, gpu, {ids.storage, &ids_part, ids.dtype}, {source.storage, &from_part, source.dtype},
               axis, {out.storage, &to_part, out.dtype}, true);
    }
    if (length > 1) return;
  }
  const Layout key_layout(ids.layout->shape(), std::span(key_strides.data(), static_cast<size_t>(rank)), 0);
  const Kernel& kernel = keys_kernels.get(gpu, 1);
  const detail::Ref<Storage> keys = backend.allocate(static_cast<size_t>(count) * sizeof(uint32_t));
  IndexKeysArgs key_arguments{};
  key_arguments.ids = ids_args(ids, size, false, 0, 0, reporter(gpu, kernel));
  key_arguments.keys = reinterpret_cast<uint32_t*>(keys->data());
  key_arguments.count = static_cast<uint32_t>(count);
  key_arguments.skipped = static_cast<uint32_t>(named);
  key_arguments.walk = walk_of(Nest<2>({ids.layout, &key_layout}));
  gpu.launch(kernel, index_shape(count), key_arguments);
  const SortedNumbers sorted =
      sort_numbers(backend, gpu, keys, count, static_cast<int>(std::bit_width(static_cast<uint64_t>(named))));

  IndexSumArgs arguments{};
  arguments.keys = reinterpret_cast<const uint32_t*>(sorted.numbers->data());
  arguments.place = reinterpret_cast<const uint32_t*>(sorted.places->data());
  arguments.count = key_arguments.count;
  arguments.skipped = key_arguments.skipped;
  arguments.x = source.data();
  arguments.y = out.data();
  Shape destinations = ids.layout->shape();
  destinations.set(axis, size);
  const Layout to = Layout(destinations, out.layout->strides(), 0)
                        .permute(std::span(axis_last.data(), static_cast<size_t>(rank)));
  arguments.from = walk_of(Nest<1>({source.layout}));
  arguments.to = walk_of(Nest<1>({&to}));
  const Layout one{Shape{}};
  Sums(backend, gpu, source.dtype, arguments).add(Nest<2>({&one, &one}));
}

// Whether the ids depend on the position along the axis only.
bool shared(const Layout& ids, int axis) {
  for (int i = 0; i < ids.rank(); ++i)
    if (i != axis && ids.dim(i) > 1 && ids.stride(i) != 0) return false;
  return true;
}

}  // namespace

void GpuBackend::scatter_add(const Operand& ids, const Operand& source, int axis, const Target& out) {
  if (shared(*ids.layout, axis)) {
    add_shared(*this, gpu_, IdUser::ScatterAdd, ids, axis, source, axis, out);
  } else if (!scatter_rows(gpu_, ids, source, axis, out)) {
    add_each(*this, gpu_, ids, source, axis, out);
  }
}

void GpuBackend::index_add(const Operand& ids, const Operand& source, int axis, const Target& out) {
  if (source.layout->shape().elem_count() == 0)
    return check_ids(gpu_, IdUser::IndexAdd, ids, out.layout->dim(axis));
  add_shared(*this, gpu_, IdUser::IndexAdd, ids, 0, source, axis, out);
}

}  // namespace beeswax::gpu
