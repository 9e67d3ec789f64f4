// SPDX-License-Identifier: Apache-2.0
// Rows in registers: 16 threads have a chunk of 512 elements, each of them 4 neighbouring lanes, or 8 threads
// 8 lanes of narrow elements, so that sums come in the documented order; a row's chunks are side by side in a
// block, and short rows share it.
//   floors: bytes of x and y over the memory's bandwidth
#pragma once

#include "kernels/order.h"

namespace beeswax::gpu {

/// `stripes` of kLanes elements are enough for a row, or a chunk of one. A thread has kOwn of each stripe, or
/// of each of two halves of it.
template <class S, int threads, uint32_t stripes = kChunk / kLanes, uint32_t halves = 1>
struct RegisterRow {
  using Element = S;
  using A = Compute<S>;
  static constexpr int kBlock = threads;
  static constexpr uint32_t kStripes = stripes;
  static constexpr bool kOneChunk = stripes * kLanes < kChunk;
  static constexpr uint32_t kOwn = row_lanes(sizeof(S));
  static constexpr uint32_t kPackedStripes = stripes * halves;
  static constexpr uint32_t kThreads = kLanes / halves / kOwn;
  static constexpr uint32_t kGroups = static_cast<uint32_t>(threads) / kThreads;
  static constexpr bool kWide = threads > kRowThreads;
  static constexpr bool kPacksOnly = rows_in_packs_only(sizeof(S), threads);
  /// Where registers are scarce, stripes take turns: compilers would start them all at once.
  static constexpr bool kTakesTurns = kWide || sizeof(A) == 8;
  using Own = Packed<S, static_cast<int>(kOwn)>;
  Own v[kPackedStripes];  // as they came: narrow elements are widened where they are used
  const RowsArgs& args;
  uint32_t width, slot, member, chunks, row, t;
  uint32_t begin, count;  // the elements of this group's chunk; none where there is no such chunk or row
  uint32_t most;          // of all groups

  BW_DEVICE_MEMBER explicit RegisterRow(const RowsArgs& a) : args(a) {
    width = 1u << args.width_log2;
    t = thread() & (width - 1);
    const uint32_t group = thread() >> args.width_log2;
    slot = kOneChunk ? group : group >> args.groups_log2;
    member = kOneChunk ? 0 : group & ((1u << args.groups_log2) - 1);
    row = (block() << args.block_rows_log2) + slot;
    chunks = kOneChunk ? 1 : (args.n + kChunk - 1) / kChunk;
    begin = member * kChunk;
    count = row >= args.rows || begin >= args.n ? 0 : args.n - begin < kChunk ? args.n - begin : kChunk;
    most = args.n < kChunk ? args.n : kChunk;
    // Groups past the end of a row read its beginning, so that loads need no branches: y may be x, but the
    // row's groups wait for each other before they write. Those without a row have nobody to wait for.
    const S* x = static_cast<const S*>(args.x) + static_cast<int64_t>(row) * args.x_row;
    if (count > 0) x += begin;
    if (row < args.rows) {
      each([&](uint32_t s, uint32_t i) __attribute__((always_inline)) { load(x, i, v[s]); });
    } else {
      each([&](uint32_t s, uint32_t) __attribute__((always_inline)) { v[s] = Own{}; });
    }
  }
  BW_DEVICE_MEMBER bool packs() const { return kPacksOnly || (args.flags & kRowsPacks) != 0; }

  /// Where this group's chunk begins.
  BW_DEVICE_MEMBER const S* elements() const {
    return static_cast<const S*>(args.x) + (static_cast<int64_t>(row) * args.x_row + begin);
  }
  /// f(stripe or half of one, its first element of this thread) for each that rows have.
  template <class F>
  BW_DEVICE_MEMBER void each(F f) const {
#pragma unroll
    for (uint32_t s = 0; s < kPackedStripes; ++s)
      if (s * (kLanes / halves) < most) f(s, s * (kLanes / halves) + t * kOwn);
  }
  /// The kOwn elements from i on of a chunk at x; those beyond its end are any others.
  BW_DEVICE_MEMBER void load(const S* x, uint32_t i, Own& to) const {
    if (packs()) {
      to = *reinterpret_cast<const Own*>(x + (i < count ? i : 0));
    } else {
      Pack<S, static_cast<int>(kOwn)> some;
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) some.v[j] = x[i + j < count ? i + j : 0];
      __builtin_memcpy(&to, &some, sizeof(to));
      to.hide();
    }
  }
  /// x, but not before `earlier` is known: `zero` is one, which compilers do not know.
  BW_DEVICE_MEMBER A after(A x, A earlier) const {
    if constexpr (!kTakesTurns) {
      return x;
    } else {
      return m::from_bits<A>(m::bits(x) ^ (m::bits(earlier) & static_cast<m::Bits<A>>(args.zero)));
    }
  }
  /// The row's largest element, NaN aside; all threads of the row get it. `partials` as for join.
  BW_DEVICE_MEMBER A largest(A* partials) const {
    // Elements that stand in for missing ones are others of the row, and count twice without harm.
    A lanes[kOwn];
    if constexpr (kPairsCompare<S>) {
      Own top = v[0];
      each([&](uint32_t s, uint32_t) __attribute__((always_inline)) {
        if (s == 0) return;
#pragma unroll
        for (uint32_t w = 0; w < kOwn / 2; ++w) top.words[w] = larger_pairs<S>(top.words[w], v[s].words[w]);
      });
      const auto elements = top.elements();
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) lanes[j] = widen(elements.v[j]);
    } else {
      each([&](uint32_t s, uint32_t) __attribute__((always_inline)) {
        const auto in = v[s].renewed();
#pragma unroll
        for (uint32_t j = 0; j < kOwn; ++j)
          lanes[j] = s == 0 ? widen(in.v[j]) : Largest::combine(lanes[j], after(widen(in.v[j]), lanes[j]));
      });
    }
    return join_lanes<Largest>(lanes, partials);
  }
  /// The row's f(element) joined; all threads of the row get it, and keep(element, f of it, number among this
  /// thread's) sees each. `partials` is of kGroups elements and of no other join.
  template <class Joint, class F, class Keep>
  BW_DEVICE_MEMBER A join(A* partials, F f, Keep keep) const {
    A found[halves][kOwn];
#pragma unroll
    for (uint32_t h = 0; h < halves; ++h)
      for (A& lane : found[h]) lane = Joint::template none<A>();
    each([&](uint32_t s, uint32_t i) __attribute__((always_inline)) {
      A(&lanes)[kOwn] = found[s % halves];
      const auto in = v[s].renewed();
      A values[kOwn];
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) {
        const A x = after(widen(in.v[j]), lanes[j]);
        values[j] = f(x);
        keep(x, values[j], s * kOwn + j);
      }
      if (i + kOwn > count) return;
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) lanes[j] = Joint::combine(lanes[j], values[j]);
    });
    if (!packs()) join_rest<Joint>(found, f);
#pragma unroll
    for (uint32_t h = 1; h < halves; ++h)
      for (uint32_t j = 0; j < kOwn; ++j) found[0][j] = Joint::combine(found[0][j], found[h][j]);
    return join_lanes<Joint>(found[0], partials);
  }
  template <class Joint, class F>
  BW_DEVICE_MEMBER A join(A* partials, F f) const {
    return join<Joint>(partials, f, [](A, A, uint32_t) __attribute__((always_inline)) {});
  }
  /// Where the elements end within a pack, its thread joins those, which it reads again, before any of the
  /// row is written: asking for each element of each pack whether it is there takes longer.
  template <class Joint, class F>
  BW_DEVICE_MEMBER void join_rest(A (&found)[halves][kOwn], F f) const {
    constexpr uint32_t kStep = kLanes / halves;
    const uint32_t i = count / kOwn * kOwn;
    if (i == count || i % kStep != t * kOwn) return;
    const S* x = elements();
#pragma unroll 1
    for (uint32_t j = 0; i + j < count; ++j) {
      const A value = f(widen(x[i + j]));
#pragma unroll
      for (uint32_t h = 0; h < halves; ++h)
#pragma unroll
        for (uint32_t q = 0; q < kOwn; ++q)
          if (q == j && i / kStep % halves == h) found[h][q] = Joint::combine(found[h][q], value);
    }
  }
  /// What threads have found, joined.
  template <class Joint>
  BW_DEVICE_MEMBER A join_lanes(A (&lanes)[kOwn], A* partials) const {
    const A all =
        join_packed<Joint, kLanes / halves>(lanes, kWide ? kThreads : width);  // long rows have whole chunks
    if (chunks == 1) return all;
    if (t == 0) partials[(slot << args.groups_log2) + member] = all;
    barrier();
    return join_partials<Joint, kOwn>(partials + (slot << args.groups_log2), chunks, t);
  }
  /// y = f(element, its number among this thread's) of each; begin_stripe(i) comes before the kOwn elements
  /// from i on.
  template <class Begin, class F>
  BW_DEVICE_MEMBER void store(Begin begin_stripe, F f) const {
    S* y = static_cast<S*>(args.y) + (static_cast<int64_t>(row) * args.n + begin);
    A last[kOwn] = {};
    each([&](uint32_t s, uint32_t i) __attribute__((always_inline)) {
      begin_stripe(i);
      const auto in = v[s].renewed();
      Pack<S, static_cast<int>(kOwn)> out;
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) {
        last[j] = f(after(widen(in.v[j]), last[j]), s * kOwn + j);
        out.v[j] = narrow<S>(last[j]);
      }
      if (packs()) {
        if (i < count) store_whole(y + i, out);
      } else {
#pragma unroll
        for (uint32_t j = 0; j < kOwn; ++j)
          if (i + j < count) y[i + j] = out.v[j];
      }
    });
  }
};

/// One element of each row of RowsApplyArgs at a time: f(element, row, place in the row).
template <class S, class F>
BW_DEVICE void apply_rows(const RowsApplyArgs& args, F f) {
  const uint32_t row = block() / args.tiles;
  const uint32_t tile = block() - row * args.tiles;
  const S* x = static_cast<const S*>(args.x) + static_cast<int64_t>(row) * args.x_row;
  S* y = static_cast<S*>(args.y) + static_cast<int64_t>(row) * args.n;
  int64_t i = static_cast<int64_t>(tile) * (kMapThreads * kStridedElements) + thread();
#pragma unroll
  for (int j = 0; j < kStridedElements; ++j, i += kMapThreads)
    if (i < args.n) y[i] = narrow<S>(f(widen(x[i]), row, i));
}

template <class S>
using UsualRow = RegisterRow<S, kRowThreads>;
template <class S>
using ShortRow = RegisterRow<S, kShortRowThreads, kShortStripes, short_row_halves(sizeof(S))>;
template <class S>
using WideRow = RegisterRow<S, wide_row_threads(sizeof(S))>;

}  // namespace beeswax::gpu
