// SPDX-License-Identifier: Apache-2.0
// Rows in registers: 16 threads have a chunk of 512 elements, each of them 4 neighbouring lanes, so that sums
// come in the documented order; a row's chunks are side by side in a block, and short rows share it.
//   floors: bytes of x and y over the memory's bandwidth
#pragma once

#include "kernels/order.h"

namespace beeswax::gpu {

/// The same bits as a value that compilers know nothing of: what was made of it before is made again rather
/// than kept in registers. For types of whole words.
template <class T>
BW_DEVICE T renewed(const T& value) {
  static_assert(sizeof(T) % 4 == 0);
  uint32_t words[sizeof(T) / 4];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (uint32_t& word : words) BW_HIDE_WORD(word);
  T out;
  __builtin_memcpy(&out, words, sizeof(T));
  return out;
}

template <class S, int threads>
struct RegisterRow {
  using A = Compute<S>;
  static constexpr uint32_t kStripes = kChunk / kLanes;
  static constexpr uint32_t kGroups = static_cast<uint32_t>(threads) / kChunkThreads;
  static constexpr bool kPacksOnly = threads > kRowThreads;
  /// Where registers are scarce, stripes take turns: compilers would start them all at once.
  static constexpr bool kTakesTurns = kPacksOnly || sizeof(A) == 8;
  using Own = Pack<S, kOwnLanes>;
  Own v[kStripes];  // as they came: narrow elements are widened where they are used
  const RowsArgs& args;
  uint32_t width, slot, member, chunks, row, t;
  uint32_t begin, count;  // the elements of this group's chunk; none where there is no such chunk or row
  uint32_t most;          // of all groups

  BW_DEVICE_MEMBER explicit RegisterRow(const RowsArgs& a) : args(a) {
    width = 1u << args.width_log2;
    t = thread() & (width - 1);
    const uint32_t group = thread() >> args.width_log2;
    slot = group >> args.groups_log2;
    member = group & ((1u << args.groups_log2) - 1);
    row = block() * (static_cast<uint32_t>(threads) >> (args.width_log2 + args.groups_log2)) + slot;
    chunks = (args.n + kChunk - 1) / kChunk;
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

  /// f(stripe, its first element of this thread) for each stripe that rows have.
  template <class F>
  BW_DEVICE_MEMBER void each(F f) const {
#pragma unroll
    for (uint32_t s = 0; s < kStripes; ++s)
      if (s * kLanes < most) f(s, s * kLanes + t * kOwnLanes);
  }
  /// Elements i to i + 3 of a chunk at x; those beyond its end are any others.
  BW_DEVICE_MEMBER void load(const S* x, uint32_t i, Own& to) const {
    if (packs()) {
      to = *reinterpret_cast<const Own*>(x + (i < count ? i : 0));
    } else {
#pragma unroll
      for (uint32_t j = 0; j < kOwnLanes; ++j) to.v[j] = x[i + j < count ? i + j : 0];
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
  /// The row's f(element) joined; all threads of the row get it.
  /// `partials` is of kGroups elements and of no other join. Where f is light, whole stripes are worth a loop
  /// of their own.
  template <class Joint, bool light, class F>
  BW_DEVICE_MEMBER A join(A* partials, F f) const {
    A lanes[kOwnLanes];
#pragma unroll
    for (A& lane : lanes) lane = Joint::template none<A>();
    each([&](uint32_t s, uint32_t i) __attribute__((always_inline)) {
      const Own in = renewed(v[s]);
      if (light && i + kOwnLanes <= count) {
#pragma unroll
        for (uint32_t j = 0; j < kOwnLanes; ++j)
          lanes[j] = Joint::combine(lanes[j], f(after(widen(in.v[j]), lanes[j])));
        return;
      }
#pragma unroll
      for (uint32_t j = 0; j < kOwnLanes; ++j) {
        const A value = f(after(widen(in.v[j]), lanes[j]));
        const bool exists = kPacksOnly ? i < count : i + j < count;
        lanes[j] = Joint::combine(lanes[j], exists ? value : Joint::template none<A>());
      }
    });
    const A all =
        join_packed<Joint>(lanes, kPacksOnly ? kChunkThreads : width);  // long rows have whole chunks
    if (chunks == 1) return all;
    if (t == 0) partials[(slot << args.groups_log2) + member] = all;
    barrier();
    return join_partials<Joint>(partials + (slot << args.groups_log2), chunks, t);
  }
  /// y = f(element, j) of each; begin_stripe(i) comes before elements i to i + 3.
  template <class Begin, class F>
  BW_DEVICE_MEMBER void store(Begin begin_stripe, F f) const {
    S* y = static_cast<S*>(args.y) + (static_cast<int64_t>(row) * args.n + begin);
    A last[kOwnLanes] = {};
    each([&](uint32_t s, uint32_t i) __attribute__((always_inline)) {
      begin_stripe(i);
      const Own in = renewed(v[s]);
      Own out;
#pragma unroll
      for (uint32_t j = 0; j < kOwnLanes; ++j) {
        last[j] = f(after(widen(in.v[j]), last[j]), j);
        out.v[j] = narrow<S>(last[j]);
      }
      if (packs()) {
        if (i < count) *reinterpret_cast<Own*>(y + i) = out;
      } else {
#pragma unroll
        for (uint32_t j = 0; j < kOwnLanes; ++j)
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

}  // namespace beeswax::gpu
