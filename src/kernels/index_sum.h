// SPDX-License-Identifier: Apache-2.0
// Sums of contributions in the documented order (docs/numerics.md): contribution k goes to lane k mod 64 of
// its chunk of 512, lanes add in order, a tree joins the lanes, and the chunks' sums are added by the same
// rule.
//
// Contributions are sorted by destination, so those of one, a segment, stand together. Segments of one chunk
// are summed where they begin. Of longer ones, each chunk is first summed by itself: a window of 512
// positions that begins at a multiple of 512 has the beginning of at most one chunk of the segment that its
// first position lies in, and of at most one of the segment of its last position, and only these two can be
// longer than a chunk and begin a chunk there.
#pragma once

#include "core/math/convert.h"
#include "kernels/elements.h"
#include "kernels/index_args.h"

namespace beeswax::gpu {

inline constexpr uint32_t kChunk = 512;
inline constexpr uint32_t kLanes = 64;

template <class A, int n>
struct Sums {
  A v[n];
};
template <class A, int n>
BW_DEVICE void add_to(Sums<A, n>& sum, const Sums<A, n>& other) {
#pragma unroll
  for (int c = 0; c < n; ++c) sum.v[c] = static_cast<A>(sum.v[c] + other.v[c]);
}

inline constexpr int kSumLevels = 6;  // of the tree over lanes

// Joins a sum with those that wait for it: bit `level` of j says that its neighbour there is done.
template <int level = 0, class A, int n>
BW_DEVICE void join(Sums<A, n>& sum, Sums<A, n> (&waiting)[kSumLevels - 1], uint32_t j) {
  if constexpr (level < kSumLevels - 1) {
    if (((j >> level) & 1u) == 0) {
      waiting[level] = sum;
    } else {
      add_to(waiting[level], sum);
      sum = waiting[level];
      join<level + 1>(sum, waiting, j);
    }
  }
}

/// The sum of load(0) .. load(count - 1), 0 < count <= 512. Lanes l and l + 2^(levels - 1) are joined first,
/// so lanes are visited in the order of their reversed bits.
template <class A, int n, class Load>
BW_DEVICE Sums<A, n> sum_chunk(uint32_t count, Load load) {
  Sums<A, n> sum = load(0);
  if constexpr (__is_integral(A)) {  // they wrap: any order
    for (uint32_t k = 1; k < count; ++k) add_to(sum, load(k));
  } else if (count > 1) {
    const int levels = count > kLanes / 2 ? kSumLevels : 32 - __builtin_clz(count - 1);
    const uint32_t half = 1u << (levels - 1);
    Sums<A, n> waiting[kSumLevels - 1];
#pragma unroll 1
    for (uint32_t j = 0; j < half; ++j) {
      const uint32_t lane = half == 1 ? 0 : __builtin_bitreverse32(j) >> (33 - levels);
      sum = load(lane);
#pragma unroll 1
      for (uint32_t k = lane + kLanes; k < count; k += kLanes) add_to(sum, load(k));
      if (lane + half < count) {
        Sums<A, n> other = load(lane + half);
#pragma unroll 1
        for (uint32_t k = lane + half + kLanes; k < count; k += kLanes) add_to(other, load(k));
        add_to(sum, other);
      }
      join(sum, waiting, j);
    }
  }
  return sum;
}

/// Where in sorted keys the first that is not less than `key` stands; between low and high.
BW_DEVICE uint32_t first_not_less(const uint32_t* keys, uint32_t low, uint32_t high, uint32_t key) {
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// A block's part of the columns, and this thread's row among those that the block takes.
struct SumPlace {
  uint32_t row, column;
  BW_DEVICE_MEMBER explicit SumPlace(const IndexSumArgs& args) {
    const uint32_t rows = divide(block(), args.column_tiles);
    const uint32_t tile = block() - rows * args.column_tiles.divisor;
    const uint32_t across = thread() & (args.tile_columns - 1);
    row = rows * (kMapThreads / args.tile_columns) + thread() / args.tile_columns;
    column = tile * args.tile_columns + across;
  }
};

template <class T, int n>
struct IndexSum {
  using A = Compute<T>;
  using Row = Sums<A, n>;
  const IndexSumArgs& args;
  int64_t from, to;  // this thread's column
  BW_DEVICE_MEMBER IndexSum(const IndexSumArgs& arguments, uint32_t column) : args(arguments) {
    int64_t offset[2];
    offsets_at(args.column, column, offset);
    from = offset[0];
    to = offset[1];
  }
  /// Contribution number `position` in the order of keys.
  BW_DEVICE_MEMBER Row load(uint32_t position) const {
    int64_t offset[1];
    offsets_at(args.from, args.place[position], offset);
    const auto in = *reinterpret_cast<const Pack<T, n>*>(static_cast<const T*>(args.x) + from + offset[0]);
    Row out;
#pragma unroll
    for (int c = 0; c < n; ++c) out.v[c] = static_cast<A>(in.v[c]);
    return out;
  }
  BW_DEVICE_MEMBER Row sum(uint32_t begin, uint32_t count) const {
    return sum_chunk<A, n>(count, [&](uint32_t k) __attribute__((always_inline)) { return load(begin + k); });
  }
  BW_DEVICE_MEMBER void add(uint32_t key, const Row& sum) const {
    int64_t offset[1];
    offsets_at(args.to, key, offset);
    auto* y = reinterpret_cast<Pack<T, n>*>(static_cast<T*>(args.y) + to + offset[0]);
    Pack<T, n> out = *y;
#pragma unroll
    for (int c = 0; c < n; ++c) {
      const A value = static_cast<A>(static_cast<A>(out.v[c]) + sum.v[c]);
      if constexpr (__is_same(A, T))
        out.v[c] = value;
      else
        out.v[c] = m::convert<T>(value);
    }
    *y = out;
  }
};

/// Segments of at most one chunk.
template <class T, int n>
BW_DEVICE void index_add(const IndexSumArgs& args) {
  const SumPlace place(args);
  const uint32_t p = place.row;
  if (p >= args.count || place.column >= args.columns) return;
  const uint32_t key = args.keys[p];
  if (key == args.skipped || (p > 0 && args.keys[p - 1] == key)) return;
  uint32_t end = p + 1;
  for (int k = 0; k < 4 && end < args.count && args.keys[end] == key; ++k) ++end;
  if (end == p + 5) end = first_not_less(args.keys, end, args.count, key + 1);
  if (end - p > kChunk) return;
  const IndexSum<T, n> work(args, place.column);
  work.add(key, work.sum(p, end - p));
}

/// A segment that is longer than a chunk and has position `at`.
struct LongSegment {
  uint32_t begin = 0, end = 0;
  BW_DEVICE_MEMBER LongSegment(const IndexSumArgs& args, uint32_t at) {
    const uint32_t key = args.keys[at];
    constexpr uint32_t kFar =
        kChunk / 2;  // a long segment goes that far to one side of each of its positions
    const bool far = (at >= kFar && args.keys[at - kFar] == key) ||
                     (at + kFar < args.count && args.keys[at + kFar] == key);
    if (key == args.skipped || !far) return;
    begin = first_not_less(args.keys, 0, at, key);
    end = first_not_less(args.keys, at, args.count, key + 1);
  }
  BW_DEVICE_MEMBER bool is_long() const { return end - begin > kChunk; }
  BW_DEVICE_MEMBER uint32_t chunks() const { return (end - begin + kChunk - 1) / kChunk; }
};
BW_DEVICE uint32_t window_last(const IndexSumArgs& args, uint32_t window) {
  return window * kChunk + (kChunk - 1) < args.count ? window * kChunk + (kChunk - 1) : args.count - 1;
}

// The place of a chunk's sum: by the window that the chunk begins in, a segment's last chunk beside the
// other.
BW_DEVICE uint32_t slot_of(const LongSegment& segment, uint32_t chunk) {
  return 2 * (segment.begin / kChunk + chunk) + (chunk + 1 == segment.chunks() ? 1u : 0u);
}

/// Chunks of long segments: two rows for each window, for the segments of its first and its last position.
template <class T>
BW_DEVICE void index_add_chunks(const IndexSumArgs& args) {
  const SumPlace place(args);
  const uint32_t window = place.row / 2;
  if (window * kChunk >= args.count || place.column >= args.columns) return;
  const bool second = place.row % 2 != 0;
  const uint32_t first = window * kChunk, last = window_last(args, window);
  if (second && args.keys[first] == args.keys[last]) return;
  const LongSegment segment(args, second ? last : first);
  if (!segment.is_long()) return;
  const uint32_t chunk = segment.begin >= first ? 0 : (first - segment.begin + kChunk - 1) / kChunk;
  const uint32_t begin = segment.begin + chunk * kChunk;
  if (begin > last || begin >= segment.end) return;
  const IndexSum<T, 1> work(args, place.column);
  const uint32_t count = segment.end - begin < kChunk ? segment.end - begin : kChunk;
  using A = Compute<T>;
  static_cast<A*>(
      args.partials)[static_cast<int64_t>(slot_of(segment, chunk)) * args.columns + place.column] =
      work.sum(begin, count).v[0];
}

/// Joins the chunks of the long segment that begins in a window: a row for each window.
template <class T>
BW_DEVICE void index_add_join(const IndexSumArgs& args) {
  using A = Compute<T>;
  const SumPlace place(args);
  const uint32_t window = place.row;
  if (window * kChunk >= args.count || place.column >= args.columns) return;
  const uint32_t last = window_last(args, window);
  const LongSegment segment(args, last);
  if (!segment.is_long() || segment.begin < window * kChunk) return;
  A* partials = static_cast<A*>(args.partials) + place.column;
  // Element e of a level is where its first chunk's sum was.
  const auto at = [&](uint32_t e) __attribute__((always_inline)) -> A& {
    return partials[static_cast<int64_t>(slot_of(segment, e)) * args.columns];
  };
  uint32_t step = 1;
  uint32_t count = segment.chunks();
#pragma unroll 1
  while (count > 1) {
    const uint32_t next = (count + kChunk - 1) / kChunk;
    for (uint32_t chunk = 0; chunk < next; ++chunk) {
      const uint32_t first = chunk * kChunk;
      const uint32_t left = count - first < kChunk ? count - first : kChunk;
      const auto sum = sum_chunk<A, 1>(left, [&](uint32_t k) __attribute__((always_inline)) {
        return Sums<A, 1>{{at((first + k) * step)}};
      });
      at(first * step) = sum.v[0];
    }
    step *= kChunk;
    count = next;
  }
  const IndexSum<T, 1> work(args, place.column);
  work.add(args.keys[segment.begin], Sums<A, 1>{{at(0)}});
}

}  // namespace beeswax::gpu

#define BW_INDEX_ADD(T, name, packed)                                                               \
  BW_KERNEL(beeswax::gpu::kMapThreads) index_add_##name(beeswax::gpu::IndexSumArgs args) {          \
    beeswax::gpu::index_add<T, 1>(args);                                                            \
  }                                                                                                 \
  BW_KERNEL(beeswax::gpu::kMapThreads) index_add_##name##_packed(beeswax::gpu::IndexSumArgs args) { \
    beeswax::gpu::index_add<T, packed>(args);                                                       \
  }                                                                                                 \
  BW_KERNEL(beeswax::gpu::kMapThreads) index_add_chunks_##name(beeswax::gpu::IndexSumArgs args) {   \
    beeswax::gpu::index_add_chunks<T>(args);                                                        \
  }                                                                                                 \
  BW_KERNEL(beeswax::gpu::kMapThreads) index_add_join_##name(beeswax::gpu::IndexSumArgs args) {     \
    beeswax::gpu::index_add_join<T>(args);                                                          \
  }
