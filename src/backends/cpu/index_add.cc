// SPDX-License-Identifier: Apache-2.0
// Sums by ids: scatter_add and index_add. Contributions are grouped by their destination (in the order of
// ids); each destination then gets the sum of its group, so that nothing depends on threads.
#include <algorithm>
#include <span>
#include <utility>
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

// So few contributions that a table of all destinations costs more than to sort them.
bool few(int64_t contributions, int64_t destinations) { return contributions < destinations / 64; }

// Contributions grouped by destination, those of a group in the order of ids: by a counting sort, or where
// there are few by comparing them. Negative ids are left out.
class Groups {
 public:
  Groups(const int64_t* ids, int64_t count, int64_t size) : order_(count), list_(std::min(count, size)) {
    if (few(count, size)) {
      by_comparing(ids, count);
    } else {
      by_counting(ids, count, size);
    }
  }
  /// Contributions, destination after destination.
  std::span<const int64_t> order() const { return {order_.data(), static_cast<size_t>(order_count_)}; }
  std::span<const IdGroup> list() const { return {list_.data(), static_cast<size_t>(list_count_)}; }

 private:
  void by_counting(const int64_t* ids, int64_t count, int64_t size) {
    const Scratch<int64_t> places(size);
    std::fill_n(places.data(), size, 0);
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] >= 0 && places[ids[i]]++ == 0) list_[list_count_++] = {ids[i], 0, 0};
    for (IdGroup& group : std::span(list_.data(), static_cast<size_t>(list_count_))) {
      group.begin = order_count_;
      order_count_ += std::exchange(places[group.id], order_count_);
      group.end = order_count_;
    }
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] >= 0) order_[places[ids[i]]++] = i;
  }

  void by_comparing(const int64_t* ids, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] >= 0) order_[order_count_++] = i;
    std::sort(order_.data(), order_.data() + order_count_,
              [ids](int64_t a, int64_t b) { return ids[a] != ids[b] ? ids[a] < ids[b] : a < b; });
    for (int64_t k = 0; k < order_count_; ++k) {
      if (k == 0 || ids[order_[k]] != list_[list_count_ - 1].id)
        list_[list_count_++] = {ids[order_[k]], k, k};
      list_[list_count_ - 1].end = k + 1;
    }
  }

  Scratch<int64_t> order_;
  Scratch<IdGroup> list_;
  int64_t order_count_ = 0;
  int64_t list_count_ = 0;
};

// A part of the groups and of the columns.
struct Task {
  size_t group_begin;
  size_t group_end;
  int64_t column_begin;
  int64_t column_end;
};

// Tasks of about kGrain elements. A group that is larger alone is split by columns.
std::vector<Task> split(std::span<const IdGroup> groups, int64_t columns) {
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
  const std::vector<Task> tasks = split(ids.list(), columns);
  const auto task_count = static_cast<int64_t>(tasks.size());
  if (task_count == 0) return;
  const int64_t planes = nest.count / columns;
  // Short tasks go together: one plane may be a handful of elements.
  const auto work = static_cast<int64_t>(ids.order().size()) * columns;
  const int64_t grain = std::max<int64_t>(1, kGrain * task_count / std::max<int64_t>(1, work));
  parallel_ranges(planes * task_count, std::min(grain, planes * task_count), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const NestPosition<2> plane(nest, i / task_count * columns);
      const Task& task = tasks[static_cast<size_t>(i % task_count)];
      const std::byte* x = source.data() + plane.offset(kFrom) * bytes;
      std::byte* y = out.data() + plane.offset(kTo) * bytes;
      if (!rows) {
        add_groups(y, to_step, x, from_step, ids.order().data(), ids.list().data() + task.group_begin,
                   static_cast<int64_t>(task.group_end - task.group_begin));
        continue;
      }
      for (size_t g = task.group_begin; g < task.group_end; ++g) {
        const IdGroup& group = ids.list()[g];
        for (int64_t c = task.column_begin; c < task.column_end; c += kSumWidth)
          add_rows(y + (group.id * to_step + c) * bytes, x + c * bytes, from_step,
                   ids.order().data() + group.begin, group.end - group.begin,
                   std::min(kSumWidth, task.column_end - c));
      }
    }
  });
}

void add_shared(const Operand& ids, const Operand& source, int axis, const Target& out) {
  const int64_t count = source.layout->dim(axis);
  const Scratch<int64_t> list(count);
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
  if (few(nest.count * count, size)) {
    const auto add_groups = index_sum_kernels().add_groups[static_cast<size_t>(source.dtype)];
    const Scratch<int64_t> list(count);
    NestPosition<3> position(nest, 0);
    for (int64_t column = 0; column < nest.count; ++column, position.advance(1)) {
      load_ids(list.data(), ids, position.offset(kIdsAt), ids.layout->stride(axis), count, size);
      const Groups groups(list.data(), count, size);
      add_groups(out.data() + position.offset(kTo) * bytes, out.layout->stride(axis),
                 source.data() + position.offset(kFrom) * bytes, source.layout->stride(axis),
                 groups.order().data(), groups.list().data(), static_cast<int64_t>(groups.list().size()));
    }
    return;
  }
  const int64_t grain = std::max<int64_t>(1, std::max(kGrain / 2, 4 * size) / count);
  parallel_ranges(nest.count, grain, [&](int64_t begin, int64_t end) {
    const Scratch<int64_t> list(count);
    const Scratch<int64_t> touched(count + 1);
    const Scratch<int64_t> places(size);
    const Scratch<double> values(count);
    const bool narrow = count <= 2 * size && size <= 4 * count;
    const Scratch<double> slots(narrow ? kSlots * size : 0);
    std::memset(places.data(), 0, static_cast<size_t>(size) * sizeof(int64_t));
    NestPosition<3> position(nest, begin);
    for (int64_t column = begin; column < end; ++column, position.advance(1)) {
      load_ids(list.data(), ids, position.offset(kIdsAt), ids.layout->stride(axis), count, size);
      add_column({out.data() + position.offset(kTo) * bytes, source.data() + position.offset(kFrom) * bytes,
                  list.data(), out.layout->stride(axis), source.layout->stride(axis), count, places.data(),
                  touched.data(), values.data(), narrow ? slots.data() : nullptr, size});
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
