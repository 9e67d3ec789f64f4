// SPDX-License-Identifier: Apache-2.0
// Pooling: a thread makes one output from its window, or several from windows of two by two in packs.
// Averages are summed in the order of reductions: element i of a window of at most 64 is lane i of the tree
// that joins lanes l and l + h for h = 32, 16, ..., 1.
//   floors: the bytes of x and y over the bandwidth
#include "kernels/planes.h"

namespace beeswax::gpu {

/// What averages are summed in: integers wrap in 64 bits.
template <class S>
struct PoolSumOf {
  using Type = Compute<S>;
};
template <m::Integer S>
struct PoolSumOf<S> {
  using Type = int64_t;
};
template <class S>
using PoolSum = typename PoolSumOf<S>::Type;

template <class T>
BW_DEVICE T add(T a, T b) {
  if constexpr (m::Integer<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

/// The larger of two: NaN where one of them is.
template <class C>
BW_DEVICE C larger(C a, C b) {
  if constexpr (kMaximumInOne && __is_same(C, float)) {
    return larger_or_nan(a, b);
  } else {
    return m::maximum(a, b);
  }
}
/// A sum's share.
template <class S, class T>
BW_DEVICE Compute<S> mean(T sum, uint64_t count) {
  return static_cast<Compute<S>>(sum / static_cast<T>(count));
}

/// The tree over `count` lanes, at(i) being lane i: it takes its leaves in bit-reversed order, so that a sum
/// of 2^b leaves stays in one register until its other half is there.
template <class T, class At>
BW_DEVICE T tree_sum(uint32_t count, At at) {
  uint32_t bits = 0;
  while ((1u << bits) < count) ++bits;
  T left[6] = {};
  T value = T(0);
#pragma unroll 1
  for (uint32_t leaf = 0; leaf < (1u << bits); ++leaf) {
    const uint32_t lane = bits == 0 ? 0 : __builtin_bitreverse32(leaf) >> (32 - bits);
    bool exists = lane < count;
    value = exists ? at(lane) : T(0);
    // A right half joins its left one, which exists wherever it does; else the sum waits as a left half.
    bool waits = false;
#pragma unroll
    for (uint32_t b = 0; b < 6; ++b) {
      const bool right = (leaf >> b & 1) != 0;
      value = !waits && right ? (exists ? add(left[b], value) : left[b]) : value;
      exists = exists || (!waits && right);
      left[b] = !waits && !right ? value : left[b];
      waits = waits || !right;
    }
  }
  return value;
}

/// The same for a window whose size the compiler knows.
template <int count, class T>
BW_DEVICE T tree_sum(T (&v)[count]) {
#pragma unroll
  for (int h = 32; h > 0; h /= 2)
#pragma unroll
    for (int l = 0; l < h; ++l)
      if (l + h < count) v[l] = add(v[l], v[l + h]);
  return v[0];
}

/// What a window of `count` elements becomes.
template <class S, int count>
BW_DEVICE Compute<S> pool_of(const PoolArgs& args, const S (&raw)[count]) {
  using T = PoolSum<S>;
  if (args.average != 0) {
    T v[count];
#pragma unroll
    for (int i = 0; i < count; ++i) v[i] = static_cast<T>(widen(raw[i]));
    return mean<S>(tree_sum(v), count);
  }
  Compute<S> most = widen(raw[0]);
#pragma unroll
  for (int i = 1; i < count; ++i) most = larger(most, widen(raw[i]));
  return most;
}

template <class S, int rows, int columns>
BW_DEVICE S pool_window(const PoolArgs& args, const S* x) {
  S raw[rows * columns];
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int c = 0; c < columns; ++c) raw[r * columns + c] = x[r * args.from.row + c * args.from.column];
  return narrow<S>(pool_of(args, raw));
}

/// Windows of two by two side by side: a thread makes as many as have a pack in each of two rows.
template <class S>
BW_DEVICE void pool_packs(const PoolArgs& args) {
  constexpr uint32_t kOut = packed_elements(sizeof(S)) / 2;
  using In = Packed<S, static_cast<int>(2 * kOut)>;
  const uint32_t i = (block() * kMapThreads + thread()) * kOut;
  if (i >= args.count) return;
  const PlanePlace at = plane_place(args.outputs, args.from, i);
  const S* x = static_cast<const S*>(args.x) + at.plane + at.row * 2 * args.from.row + at.column * 2;
  const auto upper = reinterpret_cast<const In*>(x)->elements();
  const auto lower = reinterpret_cast<const In*>(x + args.from.row)->elements();
  Compute<S> out[kOut];
#pragma unroll
  for (uint32_t j = 0; j < kOut; ++j) {
    const S raw[4] = {upper.v[2 * j], upper.v[2 * j + 1], lower.v[2 * j], lower.v[2 * j + 1]};
    out[j] = pool_of(args, raw);
  }
  *reinterpret_cast<Pack<S, static_cast<int>(kOut)>*>(static_cast<S*>(args.y) + i) = narrow_pack<S>(out);
}

template <class S>
BW_DEVICE void pool(const PoolArgs& args) {
  using T = PoolSum<S>;
  using C = Compute<S>;
  if (args.packed != 0) return pool_packs<S>(args);
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  const PlanePlace at = plane_place(args.outputs, args.from, i);
  const S* x =
      static_cast<const S*>(args.x) + at.plane + at.row * args.row_step + at.column * args.column_step;
  S* y = static_cast<S*>(args.y) + i;
  if (args.rows == 2 && args.columns == 2) {
    *y = pool_window<S, 2, 2>(args, x);
  } else if (args.rows == 3 && args.columns == 3) {
    *y = pool_window<S, 3, 3>(args, x);
  } else if (args.average != 0 && !m::Integer<T>) {
    const uint32_t count = args.rows * args.columns;
    const T sum = tree_sum<T>(count, [&](uint32_t lane) __attribute__((always_inline)) {
      const uint32_t row = divide(lane, args.window_columns);
      return static_cast<T>(widen(x[row * args.from.row + (lane - row * args.columns) * args.from.column]));
    });
    *y = narrow<S>(mean<S>(sum, count));
  } else {
    C most = widen(x[0]);
    T sum = T(0);
#pragma unroll 1
    for (uint32_t r = 0; r < args.rows; ++r) {
#pragma unroll 1
      for (uint32_t c = 0; c < args.columns; ++c) {
        const C value = widen(x[r * args.from.row + c * args.from.column]);
        most = larger(most, value);
        if constexpr (m::Integer<T>) sum = add(sum, static_cast<T>(value));
      }
    }
    *y = narrow<S>(args.average != 0 ? mean<S>(sum, uint64_t{args.rows} * args.columns) : most);
  }
}

#define BW_DTYPE(Name, name, ctype, ...) \
  BW_KERNEL(kMapThreads) pool_##name(PoolArgs args) { pool<ctype>(args); }
#include "tables/dtypes.def"

}  // namespace beeswax::gpu
