// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/index_sum.h"

namespace beeswax::cpu::BW_ISA {
namespace {

constexpr int64_t kLanes = 64;
constexpr int64_t kChunk = 512;
constexpr int kLevels = 5;  // 512^5 contributions are more than any tensor has

// The lanes of a chunk as rows of kSumWidth columns; each column is a sum of its own.
template <class A>
struct RowLanes {
  alignas(64) A lane[kLanes][kSumWidth];
};

template <class A>
BW_FN void add_row(A* y, const A* x, int64_t width) {
  for (int64_t c = 0; c < width; ++c) y[c] = static_cast<A>(y[c] + x[c]);
}

// Joins lanes 0 .. present-1 into lane 0.
template <class A>
BW_FN void join_lanes(RowLanes<A>& rows, int64_t present, int64_t width) {
  for (int64_t h = kLanes / 2; h > 0; h /= 2) {
    for (int64_t l = 0; l < h && l + h < present; ++l) add_row(rows.lane[l], rows.lane[l + h], width);
    present = present < h ? present : h;
  }
}

// One level of the reduction: a chunk that is being filled.
template <class A>
struct Level {
  RowLanes<A> rows;
  int64_t count;
};

template <class T, class A>
BW_FN void fill_lane(Level<A>& level, const T* x, int64_t width) {
  A* lane = level.rows.lane[level.count % kLanes];
  if (level.count < kLanes) {
    for (int64_t c = 0; c < width; ++c) lane[c] = static_cast<A>(x[c]);
  } else {
    for (int64_t c = 0; c < width; ++c) lane[c] = static_cast<A>(lane[c] + static_cast<A>(x[c]));
  }
  ++level.count;
}

// Closes the chunk of level k and appends its sum to the next level.
template <class A>
BW_FN void close_chunk(Level<A>* levels, int k, int64_t width) {
  Level<A>& level = levels[k];
  join_lanes(level.rows, level.count < kLanes ? level.count : kLanes, width);
  level.count = 0;
  fill_lane<A, A>(levels[k + 1], level.rows.lane[0], width);
}

template <class T, class A>
BW_FN void add_to(T* y, int64_t step, const A* sum, int64_t width) {
  if (step == 1) {
    for (int64_t c = 0; c < width; ++c) y[c] = static_cast<T>(static_cast<A>(static_cast<A>(y[c]) + sum[c]));
  } else {
    for (int64_t c = 0; c < width; ++c)
      y[c * step] = static_cast<T>(static_cast<A>(static_cast<A>(y[c * step]) + sum[c]));
  }
}

// More than one full set of lanes: chunk after chunk, level after level.
template <class T, class A>
__attribute__((noinline)) void add_many_rows(T* y, int64_t step, const T* x, int64_t row_stride,
                                             const int64_t* order, int64_t count, int64_t width) {
  Level<A> levels[kLevels];
  for (Level<A>& level : levels) level.count = 0;
  for (int64_t k = 0; k < count; ++k) {
    fill_lane<T, A>(levels[0], x + order[k] * row_stride, width);
    for (int up = 0; levels[up].count == kChunk; ++up) close_chunk(levels, up, width);
  }
  // What is left on each level is its last chunk; one chunk alone on the highest level is the sum.
  int top = kLevels - 1;
  while (levels[top].count == 0) --top;
  for (int k = 0; k < top; ++k)
    if (levels[k].count > 0) close_chunk(levels, k, width);
  join_lanes(levels[top].rows, levels[top].count < kLanes ? levels[top].count : kLanes, width);
  add_to(y, step, levels[top].rows.lane[0], width);
}

template <class T, class A>
void add_rows(void* out, int64_t step, const void* from, int64_t row_stride, const int64_t* order,
              int64_t count, int64_t width) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  if (count > kLanes) {
    add_many_rows<T, A>(y, step, x, row_stride, order, count, width);
    return;
  }
  RowLanes<A> rows;
  // The first step of the tree reads the contributions themselves.
  int64_t h = kLanes / 2;
  while (h > 1 && h >= count) h /= 2;
  for (int64_t l = 0; l < h; ++l) {
    const T* a = x + order[l] * row_stride;
    if (l + h < count) {
      const T* b = x + order[l + h] * row_stride;
      for (int64_t c = 0; c < width; ++c)
        rows.lane[l][c] = static_cast<A>(static_cast<A>(a[c]) + static_cast<A>(b[c]));
    } else {
      for (int64_t c = 0; c < width; ++c) rows.lane[l][c] = static_cast<A>(a[c]);
    }
  }
  join_lanes(rows, h, width);
  add_to(y, step, rows.lane[0], width);
}

// The sum of one chunk of at most 512 values, in place.
template <class A>
BW_FN A chunk_sum(A* v, int64_t count) {
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

template <class T, class A>
__attribute__((noinline)) A long_sum(const T* x, int64_t stride, const int64_t* order, int64_t count) {
  A values[kLevels][kChunk];
  int64_t counts[kLevels] = {};
  for (int64_t k = 0; k < count; ++k) {
    values[0][counts[0]++] = static_cast<A>(x[order[k] * stride]);
    for (int up = 0; counts[up] == kChunk; ++up) {
      values[up + 1][counts[up + 1]++] = chunk_sum(values[up], kChunk);
      counts[up] = 0;
    }
  }
  int top = kLevels - 1;
  while (counts[top] == 0) --top;
  for (int k = 0; k < top; ++k) {
    if (counts[k] == 0) continue;
    values[k + 1][counts[k + 1]++] = chunk_sum(values[k], counts[k]);
  }
  return chunk_sum(values[top], counts[top]);
}

template <class T, class A>
void add_groups(void* out, int64_t axis_stride, const void* from, int64_t stride, const int64_t* order,
                const IdGroup* groups, int64_t group_count) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(from);
  for (int64_t g = 0; g < group_count; ++g) {
    const IdGroup& group = groups[g];
    const int64_t* ids = order + group.begin;
    const int64_t count = group.end - group.begin;
    A sum;
    if (count == 1) {
      sum = static_cast<A>(x[ids[0] * stride]);
    } else if (count == 2) {
      sum = static_cast<A>(static_cast<A>(x[ids[0] * stride]) + static_cast<A>(x[ids[1] * stride]));
    } else if (count <= kChunk) {
      A values[kChunk];
      for (int64_t k = 0; k < count; ++k) values[k] = static_cast<A>(x[ids[k] * stride]);
      sum = chunk_sum(values, count);
    } else {
      sum = long_sum<T, A>(x, stride, ids, count);
    }
    T* at = y + group.id * axis_stride;
    *at = static_cast<T>(static_cast<A>(static_cast<A>(*at) + sum));
  }
}

}  // namespace

const IndexSumKernels& index_sum_kernels() {
  static constexpr IndexSumKernels kTable = {
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) add_rows<ctype, compute>,
#include "tables/dtypes.def"
      },
      {
#define BW_DTYPE(Name, name, ctype, compute, ...) add_groups<ctype, compute>,
#include "tables/dtypes.def"
      },
  };
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
