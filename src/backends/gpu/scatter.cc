// SPDX-License-Identifier: Apache-2.0
// Scatter: of several ids that name one element the last wins. Where ids are many for what they can name,
// each of these elements has a number, the last id's; else ids are sorted by what they name, and all but the
// last are dropped.
#include <bit>

#include "backends/gpu/ids.h"
#include "backends/gpu/sort.h"
#include "backends/index_layouts.h"

namespace beeswax::gpu {
namespace {

KernelTable scatter_kernels(4, [](size_t i) -> KernelTable::Name {
  return {join_text("scatter_", 1 << i), "scatter"};
});
KernelTable claim_kernels(1, [](size_t) -> KernelTable::Name { return {"scatter_claim", "scatter"}; });
KernelTable keys_kernels(1, [](size_t) -> KernelTable::Name { return {"index_keys", "scatter"}; });

// Numbers for so many elements are cleared sooner than the fewest ids are sorted.
constexpr int64_t kFewNamed = 1 << 18;
// Elements for each id from which on ids are sorted: that takes some 30 bytes an id, a number 4 an element.
constexpr int64_t kSparse = 16;

// Ids that lie in memory once are one key, the number of the element that they name among those that any can
// name: the axis is the last there.
struct Keys {
  Shape shape;  // of the ids, without the outer and inner axes along which they repeat
  std::array<int64_t, kMaxRank> strides{};  // of the keys' columns
  int64_t named;                            // elements
  int64_t repeats = 1;                      // of an id side by side
  Keys(const Layout& ids, int axis, int64_t size) : shape(ids.shape()), named(size) {
    const auto repeat = [&](int i) { return i != axis && (ids.stride(i) == 0 || ids.dim(i) == 1); };
    for (int i = 0; repeat(i); ++i) shape.set(i, 1);
    for (int i = ids.rank() - 1; repeat(i); --i) {
      repeats *= ids.dim(i);
      shape.set(i, 1);
    }
    for (int i = ids.rank(); i-- > 0;) {
      if (i == axis || shape[i] == 1) continue;
      strides[static_cast<size_t>(i)] = named;
      named *= shape[i];
    }
  }
  int64_t count() const { return shape.elem_count(); }
};

ScatterArgs scatter_args(const Operand& source, const Target& out, const Nest<4>& part,
                         const std::array<int64_t, 4>& offset, int64_t axis_stride, const IdsArgs& ids) {
  ScatterArgs arguments{};
  arguments.x = at(source.data(), offset[0], source.dtype);
  arguments.y = at(out.data(), offset[2], out.dtype);
  arguments.count = static_cast<uint32_t>(part.count);
  arguments.axis_stride = axis_stride;
  arguments.ids = ids;
  arguments.walk = walk_of(part);
  return arguments;
}

// Element i of the source goes to i's place in `to` + its id * axis_stride, where the id is below `size`. No
// two ids of those name one element.
void scatter_alone(Gpu& gpu, const Operand& ids, int64_t size, const Operand& source, const Layout& to,
                   int64_t axis_stride, bool report, const Target& out) {
  const Kernel& kernel = scatter_kernels.get(gpu, size_index(source.dtype));
  const void* const written[] = {out.data()};  // a part's place in `to` may lie before it
  for_each_part(Nest<4>({source.layout, ids.layout, &to, &to}),
                [&](const Nest<4>& part, const std::array<int64_t, 4>& offset, int64_t first) {
                  const Reporter reports = report ? reporter(gpu, kernel) : Reporter{};
                  gpu.launch(kernel, index_shape(part.count),
                             scatter_args(source, out, part, offset, axis_stride,
                                          ids_args(ids, size, false, offset[1], first, reports)),
                             written);
                });
}

// By numbers for all elements that ids can name: the shape of the ids, but with out's size along the axis.
void scatter_claimed(GpuBackend& backend, Gpu& gpu, const Operand& ids, const Operand& source, int axis,
                     const Layout& to, const Target& out) {
  const int64_t size = out.layout->dim(axis);
  Shape named = ids.layout->shape();
  named.set(axis, size);
  const Layout winners(named);
  const Layout winner_base = without_step(winners, ids.layout->shape(), axis);
  const size_t bytes = static_cast<size_t>(named.elem_count()) * sizeof(uint32_t);
  const detail::Ref<Storage> winner = backend.allocate(bytes);
  const Kernel& kernel = scatter_kernels.get(gpu, size_index(source.dtype));
  // Parts come in order, so a later one's elements win without being compared.
  for_each_part(Nest<4>({source.layout, ids.layout, &to, &winner_base}),
                [&](const Nest<4>& part, const std::array<int64_t, 4>& offset, int64_t first) {
                  ScatterArgs arguments =
                      scatter_args(source, out, part, offset, out.layout->stride(axis),
                                   ids_args(ids, size, false, offset[1], first, reporter(gpu, kernel)));
                  arguments.winner_stride = winners.stride(axis);
                  gpu.fill_bytes(winner->data(), 0, bytes);
                  arguments.winner = reinterpret_cast<uint32_t*>(winner->data()) + offset[3];
                  gpu.launch(claim_kernels.get(gpu, 0), index_shape(part.count), arguments);
                  arguments.ids.report.slot = nullptr;  // reported
                  gpu.launch(kernel, index_shape(part.count), arguments);
                });
}

// The keys of ids in their order, u32; those that another one follows, and those that skip, are keys.named.
detail::Ref<Storage> last_keys(GpuBackend& backend, Gpu& gpu, const Operand& ids, int64_t size,
                               const Keys& keys) {
  const int64_t count = keys.count();
  const auto words = [&](int64_t n) { return backend.allocate(static_cast<size_t>(n) * sizeof(uint32_t)); };
  const Layout all{Shape{count}}, next(Shape{count}, 1), end(Shape{1}, count);
  // One more at the end, which follows the last and names nothing.
  const detail::Ref<Storage> unsorted = words(count + 1);
  backend.fill({unsorted.get(), &end, DType::U32}, keys.named);
  const Kernel& kernel = keys_kernels.get(gpu, 0);
  const Layout own(keys.shape, ids.layout->strides(), 0),
      columns(keys.shape, std::span(keys.strides.data(), static_cast<size_t>(keys.shape.rank())), 0);
  IndexKeysArgs arguments{};
  arguments.ids = ids_args(ids, size, false, 0, 0, reporter(gpu, kernel));
  arguments.ids.step = keys.repeats;
  arguments.keys = reinterpret_cast<uint32_t*>(unsorted->data());
  arguments.count = static_cast<uint32_t>(count);
  arguments.skipped = static_cast<uint32_t>(keys.named);
  arguments.walk = walk_of(Nest<2>({&own, &columns}));
  gpu.launch(kernel, index_shape(count), arguments);
  const SortedNumbers sorted = sort_numbers(
      backend, gpu, unsorted, count + 1, static_cast<int>(std::bit_width(static_cast<uint64_t>(keys.named))));

  const Operand numbers{sorted.numbers.get(), &all, DType::U32};
  const Layout nothing = end.broadcast_as(Shape{count}, "scatter");
  const detail::Ref<Storage> followed = backend.allocate(static_cast<size_t>(count));
  backend.compare(CompareOp::Eq, {numbers}, {{sorted.numbers.get(), &next, DType::U32}},
                  {followed.get(), &all, DType::U8});
  const detail::Ref<Storage> kept = words(count), out = words(count);
  backend.where({followed.get(), &all, DType::U8}, {sorted.numbers.get(), &nothing, DType::U32}, numbers,
                {kept.get(), &all, DType::U32});
  const Layout begin = along_axis(Shape{count}, 0, 0);
  scatter_alone(gpu, {sorted.places.get(), &all, DType::U32}, count, {kept.get(), &all, DType::U32}, begin, 1,
                false, {out.get(), &all, DType::U32});
  return out;
}

}  // namespace

void GpuBackend::scatter(ScatterMode mode, const Operand& ids, const Operand& source, int axis,
                         const Target& out) {
  if (mode == ScatterMode::Add) return scatter_add(ids, source, axis, out);
  const Shape& shape = ids.layout->shape();
  if (shape.elem_count() == 0) return;
  const int64_t size = out.layout->dim(axis), axis_stride = out.layout->stride(axis);
  const Layout to = without_step(*out.layout, shape, axis);
  if (shape[axis] == 1) return scatter_alone(gpu_, ids, size, source, to, axis_stride, true, out);
  const Keys keys(*ids.layout, axis, size);
  const int64_t named = shape.elem_count() / shape[axis] * size;
  if (named < kFewNamed || keys.count() * kSparse >= named || keys.named >= kMostElements ||
      keys.count() >= kMostElements)
    return scatter_claimed(*this, gpu_, ids, source, axis, to, out);
  const detail::Ref<Storage> last = last_keys(*this, gpu_, ids, size, keys);
  // A key has the step to its column in it.
  std::array<int64_t, kMaxRank> strides{};
  for (size_t i = 0; i < static_cast<size_t>(shape.rank()); ++i)
    strides[i] = to.strides()[i] - keys.strides[i] * axis_stride;
  const Layout steps(shape, std::span(strides.data(), static_cast<size_t>(shape.rank())), 0);
  const Layout key_layout = Layout(keys.shape).broadcast_as(shape, "scatter");
  scatter_alone(gpu_, {last.get(), &key_layout, DType::U32}, keys.named, source, steps, axis_stride, false,
                out);
}

}  // namespace beeswax::gpu
