// SPDX-License-Identifier: Apache-2.0
// The tree over lanes is walked depth first: the two halves of a node are summed before the next node is
// begun, so that a handful of partial sums is alive at a time, not 64.
#include "backends/cpu/kernels/index_sum.h"

#include "backends/cpu/kernels/tree.h"

namespace beeswax::cpu::BW_ISA {
namespace {

constexpr int kLevels = 5;  // 512^5 contributions are more than any tensor has

// The elements of each level: contributions, sums of 512 of these, sums of 512 of those, ... down to one.
struct Levels {
  int64_t count[kLevels];
  int top;
};
BW_FN Levels levels_of(int64_t count) {
  Levels levels = {{count}, 0};
  while (levels.count[levels.top] > kChunk) {
    levels.count[levels.top + 1] = (levels.count[levels.top] + kChunk - 1) / kChunk;
    ++levels.top;
  }
  return levels;
}

// ---------------------------------------------------------------------------------- rows, column by column

// Adds a row of contributions to `sum`, or stores it there. It alone knows the dtype; the tree is made once
// for each type that sums are made in.
template <class T, class A>
void add_row(A* sum, const void* row, bool first, int64_t width) {
  const T* x = static_cast<const T*>(row);
  if (first) {
    for (int64_t c = 0; c < width; ++c) sum[c] = static_cast<A>(x[c]);
  } else {
    for (int64_t c = 0; c < width; ++c) sum[c] = static_cast<A>(sum[c] + static_cast<A>(x[c]));
  }
}

template <class A>
struct Rows {
  const unsigned char* from;
  const int64_t* order;
  int64_t row_bytes, width;
  void (*add)(A* sum, const void* row, bool first, int64_t width);
  Levels levels;
};

template <class A>
void sum_chunk(A* sum, const Rows<A>& rows, int level, int64_t chunk);

// Lane `lane` of the chunk that begins at element `begin` of a level and has `count` elements.
template <class A>
void sum_lane(A* sum, const Rows<A>& rows, int level, int64_t begin, int64_t count, int64_t lane) {
  A element[kSumWidth];
  for (int64_t k = lane; k < count; k += kLanes) {
    if (level == 0) {
      rows.add(sum, rows.from + rows.order[begin + k] * rows.row_bytes, k == lane, rows.width);
    } else {
      sum_chunk(element, rows, level - 1, begin + k);
      add_row<A, A>(sum, element, k == lane, rows.width);
    }
  }
}

// The node of the tree that joins the lanes lane, lane + step, lane + 2 step, ... below 64.
template <class A>
void sum_node(A* sum, const Rows<A>& rows, int level, int64_t begin, int64_t count, int64_t lane,
              int64_t step) {
  if (step == kLanes) {
    sum_lane(sum, rows, level, begin, count, lane);
    return;
  }
  sum_node(sum, rows, level, begin, count, lane, 2 * step);
  if (lane + step >= count) return;
  A other[kSumWidth];
  sum_node(other, rows, level, begin, count, lane + step, 2 * step);
  add_row<A, A>(sum, other, false, rows.width);
}

// The sum of chunk `chunk` of a level: one element of the next.
template <class A>
__attribute__((noinline)) void sum_chunk(A* sum, const Rows<A>& rows, int level, int64_t chunk) {
  const int64_t begin = chunk * kChunk;
  const int64_t left = rows.levels.count[level] - begin;
  sum_node(sum, rows, level, begin, left < kChunk ? left : kChunk, 0, 1);
}

template <class T, class A>
void add_rows(void* out, const void* from, int64_t row_stride, const int64_t* order, int64_t count,
              int64_t width) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  const auto add = [](T to, A sum) __attribute__((always_inline)) {
    return static_cast<T>(static_cast<A>(static_cast<A>(to) + sum));
  };
  if (count == 1) {
    const T* a = x + order[0] * row_stride;
    for (int64_t c = 0; c < width; ++c) y[c] = add(y[c], static_cast<A>(a[c]));
  } else if (count == 2) {
    const T* a = x + order[0] * row_stride;
    const T* b = x + order[1] * row_stride;
    for (int64_t c = 0; c < width; ++c)
      y[c] = add(y[c], static_cast<A>(static_cast<A>(a[c]) + static_cast<A>(b[c])));
  } else {
    A sum[kSumWidth];
    const Rows<A> rows = {static_cast<const unsigned char*>(from),
                          order,
                          row_stride * static_cast<int64_t>(sizeof(T)),
                          width,
                          add_row<T, A>,
                          levels_of(count)};
    sum_chunk(sum, rows, rows.levels.top, 0);
    for (int64_t c = 0; c < width; ++c) y[c] = add(y[c], sum[c]);
  }
}

// -------------------------------------------------------------------------------------- sequences of values

template <class A>
__attribute__((noinline)) A sum_many(A* v, int64_t count) {
  return tree_join(v, count);
}

// A few values by the same rule, without loops.
template <class A>
BW_FN A sum_few(A* v, int64_t count) {
  switch (count) {
    case 1:
      return v[0];
    case 2:
      return static_cast<A>(v[0] + v[1]);
    case 3:
      return static_cast<A>(static_cast<A>(v[0] + v[2]) + v[1]);
    case 4:
      return static_cast<A>(static_cast<A>(v[0] + v[2]) + static_cast<A>(v[1] + v[3]));
    default:
      return sum_many(v, count);
  }
}

// Values that come chunk by chunk: the sums of chunks wait on their level until 512 of them are there.
template <class A>
struct LongSum {
  A values[kLevels][kChunk];  // [0] is the caller's to fill
  int64_t counts[kLevels];
};

template <class A>
__attribute__((noinline)) void close_chunk(LongSum<A>& s, int64_t count) {
  s.counts[0] = count;
  int level = 0;
  do {
    s.values[level + 1][s.counts[level + 1]++] =
        tree_chunk(static_cast<const A*>(s.values[level]), s.counts[level]);
    s.counts[level++] = 0;
  } while (s.counts[level] == kChunk);
}

template <class A>
__attribute__((noinline)) A finish(LongSum<A>& s) {
  int top = kLevels - 1;
  while (s.counts[top] == 0) --top;
  for (int level = 1; level < top; ++level)
    if (s.counts[level] > 0)
      s.values[level + 1][s.counts[level + 1]++] =
          tree_chunk(static_cast<const A*>(s.values[level]), s.counts[level]);
  return tree_chunk(static_cast<const A*>(s.values[top]), s.counts[top]);
}

template <class T, class A>
__attribute__((noinline)) A sum_long_group(const T* x, int64_t stride, const int64_t* order, int64_t count) {
  LongSum<A> s;
  for (int64_t& waiting : s.counts) waiting = 0;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t part = count - begin < kChunk ? count - begin : kChunk;
    for (int64_t k = 0; k < part; ++k) s.values[0][k] = static_cast<A>(x[order[begin + k] * stride]);
    close_chunk(s, part);
  }
  return finish(s);
}

template <class T, class A>
BW_FN void add_value(T* to, A sum) {
  *to = static_cast<T>(static_cast<A>(static_cast<A>(*to) + sum));
}

template <class T, class A>
void add_groups(void* out, int64_t axis_stride, const void* from, int64_t stride, const int64_t* order,
                const IdGroup* groups, int64_t group_count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  for (int64_t g = 0; g < group_count; ++g) {
    const IdGroup& group = groups[g];
    const int64_t* list = order + group.begin;
    const int64_t count = group.end - group.begin;
    A sum;
    if (count <= kChunk) {
      A values[kChunk];
      for (int64_t k = 0; k < count; ++k) values[k] = static_cast<A>(x[list[k] * stride]);
      sum = sum_few(values, count);
    } else {
      sum = sum_long_group<T, A>(x, stride, list, count);
    }
    add_value<T, A>(y + group.id * axis_stride, sum);
  }
}

template <size_t kBytes>
struct Count;
template <>
struct Count<1> {
  using type = int8_t;
};
template <>
struct Count<2> {
  using type = int16_t;
};
template <>
struct Count<4> {
  using type = int32_t;
};
template <>
struct Count<8> {
  using type = int64_t;
};

// Contribution k of each destination goes to slot k; then all destinations are summed side by side. False,
// with nothing changed, where a destination has too many.
template <class T, class A>
BW_FN bool add_in_slots(const IdColumn& column) {
  using C = typename Count<sizeof(A)>::type;
  const T* x = static_cast<const T*>(column.from);
  T* y = static_cast<T*>(column.to);
  C* __restrict counts = reinterpret_cast<C*>(column.places);
  A* __restrict v = static_cast<A*>(column.slots);
  const int64_t size = column.size;
  for (int64_t i = 0; i < column.count; ++i) {
    const int64_t id = column.ids[i];
    if (id < 0) continue;
    const C k = counts[id];
    if (k == kSlots) {
      __builtin_memset(counts, 0, static_cast<size_t>(size) * sizeof(C));
      return false;
    }
    counts[id] = static_cast<C>(k + 1);
    v[k * size + id] = static_cast<A>(x[i * column.from_stride]);
  }
  const auto add_if = [](bool both, A a, A b) __attribute__((always_inline)) {
    const A sum = static_cast<A>(a + b);
    return both ? sum : a;
  };
  for (int64_t id = 0; id < size; ++id) {
    const C n = counts[id];
    counts[id] = 0;
    const A a = add_if(n > 4, v[id], v[4 * size + id]);
    const A b = add_if(n > 5, v[size + id], v[5 * size + id]);
    const A c = add_if(n > 6, v[2 * size + id], v[6 * size + id]);
    const A d = add_if(n > 7, v[3 * size + id], v[7 * size + id]);
    const A sum = add_if(n > 1, add_if(n > 2, a, c), add_if(n > 3, b, d));
    const T old = y[id * column.to_stride];
    T to = old;
    add_value<T, A>(&to, sum);
    y[id * column.to_stride] = n > 0 ? to : old;
  }
  return true;
}

// A counting sort by destination that keeps the order of contributions, then the sum of each run.
template <class T, class A>
void add_column(const IdColumn& column) {
  T* y = static_cast<T*>(column.to);
  const T* x = static_cast<const T*>(column.from);
  if (column.slots != nullptr && add_in_slots<T, A>(column)) return;
  const int64_t* ids = column.ids;
  A* values = static_cast<A*>(column.values);
  int64_t touched = 0;
  for (int64_t i = 0; i < column.count; ++i) {
    if (ids[i] < 0) continue;
    int64_t& place = column.places[ids[i]];
    column.touched[touched] = ids[i];  // kept if this is the first contribution there
    touched += place == 0 ? 1 : 0;
    ++place;
  }
  int64_t begin = 0;
  for (int64_t t = 0; t < touched; ++t) {
    int64_t& place = column.places[column.touched[t]];
    const int64_t count = place;
    place = begin;
    begin += count;
  }
  for (int64_t i = 0; i < column.count; ++i)
    if (ids[i] >= 0) values[column.places[ids[i]]++] = static_cast<A>(x[i * column.from_stride]);
  // Now each place is the end of its run.
  begin = 0;
  for (int64_t t = 0; t < touched; ++t) {
    const int64_t id = column.touched[t];
    const int64_t end = column.places[id];
    column.places[id] = 0;
    add_value<T, A>(y + id * column.to_stride, sum_few(values + begin, end - begin));
    begin = end;
  }
}

// Signs do not matter to sums that wrap.
template <class T>
struct SummedAs {
  using type = T;
};
template <>
struct SummedAs<int32_t> {
  using type = uint32_t;
};

}  // namespace

const IndexSumKernels& index_sum_kernels() {
  static constexpr IndexSumKernels kTable = {
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) add_rows<SummedAs<ctype>::type, SummedAs<compute>::type>,
#include "tables/dtypes.def"
      },
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) add_groups<SummedAs<ctype>::type, SummedAs<compute>::type>,
#include "tables/dtypes.def"
      },
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) add_column<SummedAs<ctype>::type, SummedAs<compute>::type>,
#include "tables/dtypes.def"
      },
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
