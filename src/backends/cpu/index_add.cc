// SPDX-License-Identifier: Apache-2.0
// Sums by ids: scatter_add and index_add. Contributions are grouped by their destination (a counting sort
// that keeps the order of ids); each destination then gets the sum of its group, so that nothing depends on
// threads.
#include <vector>

#include "backends/cpu/backend.h"
#include "backends/cpu/ids.h"
#include "backends/cpu/index_layouts.h"
#include "backends/cpu/kernels/index_sum.h"
#include "backends/cpu/scratch.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

constexpr int64_t kGrain = 1 << 16;  // elements in one task
constexpr int64_t kLeastRow = 16;    // columns from which whole rows are added at once
constexpr size_t kFrom = 0;
constexpr size_t kTo = 1;

// Contributions grouped by destination: a counting sort that keeps the order of ids.
struct Groups {
  Groups(const int64_t* ids, int64_t count, int64_t size) {
    std::vector<int64_t> places(static_cast<size_t>(size), 0);
    const auto place = [&](int64_t id) -> int64_t& { return places[static_cast<size_t>(id)]; };
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] >= 0 && place(ids[i])++ == 0) list.push_back({ids[i], 0, 0});
    int64_t at = 0;
    for (IdGroup& group : list) {
      group.begin = at;
      at += std::exchange(place(group.id), at);
      group.end = at;
    }
    order.resize(static_cast<size_t>(at));
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] >= 0) order[static_cast<size_t>(place(ids[i])++)] = i;
  }

  std::vector<int64_t> order;  // contributions, destination after destination
  std::vector<IdGroup> list;
};

// A part of the groups and of the columns.
struct Task {
  size_t group_begin;
  size_t group_end;
  int64_t column_begin;
  int64_t column_end;
};

// Tasks of about kGrain elements. A group that is larger alone is split by columns.
std::vector<Task> split(const std::vector<IdGroup>& groups, int64_t columns) {
  std::vector<Task> tasks;
  size_t begin = 0;
  int64_t work = 0;
  const auto close = [&](size_t end) {
    if (begin < end) tasks.push_back({begin, end, 0, columns});
    begin = end;
    work = 0;
  };
  for (size_t g = 0; g < groups.size(); ++g) {
    const int64_t count = groups[g].end - groups[g].begin;
    if (count * columns > 4 * kGrain && columns > kSumWidth) {
      close(g);
      const int64_t part = std::max<int64_t>(1, kGrain / count / kSumWidth) * kSumWidth;
      for (int64_t c = 0; c < columns; c += part) tasks.push_back({g, g + 1, c, std::min(c + part, columns)});
      begin = g + 1;
    } else {
      work += count * columns;
      if (work >= kGrain) close(g + 1);
    }
  }
  close(groups.size());
  return tasks;
}

// A dense copy of `x` with one axis outermost or innermost in memory; its shape is that of x.
class DenseCopy {
 public:
  enum class Axis { Outermost, Innermost };
  DenseCopy(const Operand& x, int axis, Axis place) : dtype_(x.dtype) {
    const int rank = x.layout->rank();
    std::array<int, kMaxRank> order{};    // axes as they lie in memory
    std::array<int, kMaxRank> inverse{};  // where each axis lies
    int next = 0;
    if (place == Axis::Outermost) order[static_cast<size_t>(next++)] = axis;
    for (int i = 0; i < rank; ++i)
      if (i != axis) order[static_cast<size_t>(next++)] = i;
    if (place == Axis::Innermost) order[static_cast<size_t>(next++)] = axis;
    for (int i = 0; i < rank; ++i) inverse[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
    const auto axes = [rank](const std::array<int, kMaxRank>& list) {
      return std::span(list.data(), static_cast<size_t>(rank));
    };
    const Layout from = x.layout->permute(axes(order));
    const Layout to(from.shape());
    storage_ =
        CpuBackend::instance().allocate(dtype_bytes(dtype_, static_cast<size_t>(to.shape().elem_count())));
    CpuBackend::instance().copy({x.storage, &from, dtype_}, {storage_.get(), &to, dtype_});
    layout_ = to.permute(axes(inverse));
  }
  Operand operand() const { return {storage_.get(), &layout_, dtype_}; }

 private:
  Layout layout_;
  detail::Ref<Storage> storage_;
  DType dtype_;
};

// Adds with one list of ids for all columns: out[.., ids[i], ..] += source[.., i, ..]. Both layouts have the
// source's shape, `to` without a step along the axis; `order` and `groups` count along the axis.
void add_shared(const Groups& ids, const Operand& source, const Layout& to, int axis, const Target& out) {
  const Layout to_columns = drop_axis(to, axis);
  const Layout from_columns = drop_axis(*source.layout, axis);
  const Nest<2> nest({&from_columns, &to_columns});
  const bool rows = nest.strides[kTo][nest.last()] == 1 && nest.inner() >= kLeastRow;
  if (rows && nest.strides[kFrom][nest.last()] != 1) {
    const DenseCopy dense(source, axis, DenseCopy::Axis::Outermost);
    add_shared(ids, dense.operand(), to, axis, out);
    return;
  }
  const auto dtype = static_cast<size_t>(source.dtype);
  const auto bytes = static_cast<int64_t>(dtype_bytes(source.dtype, 1));
  const auto add_rows = index_sum_kernels().add_rows[dtype];
  const auto add_groups = index_sum_kernels().add_groups[dtype];
  const int64_t from_step = source.layout->stride(axis);
  const int64_t to_step = out.layout->stride(axis);
  const int64_t columns = rows ? nest.inner() : 1;
  const std::vector<Task> tasks = split(ids.list, columns);
  const auto task_count = static_cast<int64_t>(tasks.size());
  if (task_count == 0) return;
  const int64_t planes = nest.count / columns;
  // Short tasks go together: one plane may be a handful of elements.
  const auto work = static_cast<int64_t>(ids.order.size()) * columns;
  const int64_t grain = std::max<int64_t>(1, kGrain * task_count / std::max<int64_t>(1, work));
  parallel_ranges(planes * task_count, std::min(grain, planes * task_count), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const NestPosition<2> plane(nest, i / task_count * columns);
      const Task& task = tasks[static_cast<size_t>(i % task_count)];
      const std::byte* x = source.data() + plane.offset(kFrom) * bytes;
      std::byte* y = out.data() + plane.offset(kTo) * bytes;
      if (!rows) {
        add_groups(y, to_step, x, from_step, ids.order.data(), ids.list.data() + task.group_begin,
                   static_cast<int64_t>(task.group_end - task.group_begin));
        continue;
      }
      for (size_t g = task.group_begin; g < task.group_end; ++g) {
        const IdGroup& group = ids.list[g];
        for (int64_t c = task.column_begin; c < task.column_end; c += kSumWidth)
          add_rows(y + (group.id * to_step + c) * bytes, x + c * bytes, from_step,
                   ids.order.data() + group.begin, group.end - group.begin,
                   std::min(kSumWidth, task.column_end - c));
      }
    }
  });
}

void add_shared(const Operand& ids, const Operand& source, int axis, const Target& out) {
  const int64_t count = source.layout->dim(axis);
  std::vector<int64_t> list(static_cast<size_t>(count));
  const int ids_axis = ids.layout->rank() == 1 ? 0 : axis;
  load_ids(list.data(), ids, 0, ids.layout->stride(ids_axis), count, out.layout->dim(axis));
  const Groups groups(list.data(), count, out.layout->dim(axis));
  add_shared(groups, source, without_step(*out.layout, source.layout->shape(), axis), axis, out);
}

// Adds with ids that differ from column to column.
void add_columns(const Operand& ids, const Operand& source, int axis, const Target& out) {
  constexpr size_t kIdsAt = 2;
  const Layout from_columns = drop_axis(*source.layout, axis);
  const Layout to_columns = drop_axis(without_step(*out.layout, ids.layout->shape(), axis), axis);
  const Layout id_columns = drop_axis(*ids.layout, axis);
  const Nest<3> nest({&from_columns, &to_columns, &id_columns});
  const int64_t count = ids.layout->dim(axis);
  if (count > 1 && ids.layout->stride(axis) > nest.strides[kIdsAt][nest.last()] && nest.inner() > 1) {
    // Walking down columns would use one element of each cache line.
    const DenseCopy dense_ids(ids, axis, DenseCopy::Axis::Innermost);
    const DenseCopy dense_source(source, axis, DenseCopy::Axis::Innermost);
    add_columns(dense_ids.operand(), dense_source.operand(), axis, out);
    return;
  }
  const auto add_column = index_sum_kernels().add_column[static_cast<size_t>(source.dtype)];
  const auto bytes = static_cast<int64_t>(dtype_bytes(source.dtype, 1));
  const int64_t size = out.layout->dim(axis);
  const int64_t grain = std::max<int64_t>(1, std::max(kGrain / 2, 4 * size) / count);
  parallel_ranges(nest.count, grain, [&](int64_t begin, int64_t end) {
    const Scratch<int64_t> list(count);
    const Scratch<int64_t> touched(count + 1);
    const Scratch<int64_t> places(size);
    const Scratch<double> values(count);
    const bool few = count <= 2 * size && size <= 4 * count;
    const Scratch<double> slots(few ? kSlots * size : 0);
    std::memset(places.data(), 0, static_cast<size_t>(size) * sizeof(int64_t));
    NestPosition<3> position(nest, begin);
    for (int64_t column = begin; column < end; ++column, position.advance(1)) {
      load_ids(list.data(), ids, position.offset(kIdsAt), ids.layout->stride(axis), count, size);
      add_column({out.data() + position.offset(kTo) * bytes, source.data() + position.offset(kFrom) * bytes,
                  list.data(), out.layout->stride(axis), source.layout->stride(axis), count, places.data(),
                  touched.data(), values.data(), few ? slots.data() : nullptr, size});
    }
  });
}

// Whether the ids depend on the position along the axis only.
bool shared(const Layout& ids, int axis) {
  for (int i = 0; i < ids.rank(); ++i)
    if (i != axis && ids.dim(i) > 1 && ids.stride(i) != 0) return false;
  return true;
}

}  // namespace

void scatter_add(const Operand& ids, const Operand& source, int axis, const Target& out) {
  check_ids("scatter_add", ids, out.layout->shape(), axis);
  if (shared(*ids.layout, axis)) {
    add_shared(ids, source, axis, out);
  } else {
    add_columns(ids, source, axis, out);
  }
}

void CpuBackend::index_add(const Operand& ids, const Operand& source, int axis, const Target& out) {
  check_ids("index_add", ids, out.layout->shape(), axis);
  if (source.layout->shape().elem_count() == 0) return;
  add_shared(ids, source, axis, out);
}

}  // namespace beeswax::cpu
