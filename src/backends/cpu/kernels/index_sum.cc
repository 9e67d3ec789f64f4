// SPDX-License-Identifier: Apache-2.0
// The tree over lanes is walked depth first: the two halves of a node are summed before the next node is
// begun, so that a handful of partial sums is alive at a time, not 64.
#include "backends/cpu/kernels/index_sum.h"

namespace beeswax::cpu::BW_ISA {
namespace {

constexpr int64_t kLanes = 64;
constexpr int64_t kChunk = 512;
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

// The sum of at most 512 values, in place.
template <class A>
BW_FN A sum_values(A* v, int64_t count) {
  for (int64_t k = kLanes; k < count; k += kLanes) {
    const int64_t lanes = count - k < kLanes ? count - k : kLanes;
    for (int64_t l = 0; l < lanes; ++l) v[l] = static_cast<A>(v[l] + v[k + l]);
  }
  int64_t present = count < kLanes ? count : kLanes;
  for (int64_t h = kLanes / 2; h > 0; h /= 2) {
    for (int64_t l = 0; l < h && l + h < present; ++l) v[l] = static_cast<A>(v[l] + v[l + h]);
    present = present < h ? present : h;
  }
  return v[0];
}

// The sum of any number of values, in place: each pass leaves one value of every chunk.
template <class A>
__attribute__((noinline)) A sum_all(A* v, int64_t count) {
  while (count > kChunk) {
    int64_t chunks = 0;
    for (int64_t begin = 0; begin < count; begin += kChunk)
      v[chunks++] = sum_values(v + begin, count - begin < kChunk ? count - begin : kChunk);
    count = chunks;
  }
  return sum_values(v, count);
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
      return sum_all(v, count);
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
    s.values[level + 1][s.counts[level + 1]++] = sum_values(s.values[level], s.counts[level]);
    s.counts[level++] = 0;
  } while (s.counts[level] == kChunk);
}

template <class A>
__attribute__((noinline)) A finish(LongSum<A>& s) {
  int top = kLevels - 1;
  while (s.counts[top] == 0) --top;
  for (int level = 1; level < top; ++level)
    if (s.counts[level] > 0)
      s.values[level + 1][s.counts[level + 1]++] = sum_values(s.values[level], s.counts[level]);
  return sum_values(s.values[top], s.counts[top]);
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

// A counting sort by destination that keeps the order of contributions, then the sum of each run.
template <class T, class A>
void add_column(const IdColumn& column) {
  T* y = static_cast<T*>(column.to);
  const T* x = static_cast<const T*>(column.from);
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
