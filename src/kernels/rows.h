// SPDX-License-Identifier: Apache-2.0
// Rows in registers: a group of threads has a chunk of 512 elements, each of them neighbouring lanes, so that
// sums come in the documented order; a row's chunks are side by side in a block, and short rows share it. How
// many threads and lanes, row_shape says.
//   floors: bytes of x and y over the memory's bandwidth
//
// Rows that packs do not fit come in packs nevertheless, as memory has them, from the pack that the row
// begins in, `ahead` elements before the row. So a thread's lanes are others, by as many, which the tree of
// exchanges does not see: it joins each lane with the one half of them away. What lies before the chunk gives
// way to as many elements at its end, that the last packs do not reach (left over), which are added last, as
// the order asks.
#pragma once

#include "kernels/gpu_words.h"
#include "kernels/order.h"

namespace beeswax::gpu {

/// How a row lies over blocks: in one, whose rows are side by side.
struct OneBlock {
  static constexpr uint32_t kMostBlocks = 1, kPhase = 0;
};

template <class S, RowKind kind, class Spread = OneBlock>
struct RegisterRow {
  using Element = S;
  using A = Compute<S>;
  static constexpr RowShape kShape = row_shape(kind, sizeof(S));
  static constexpr uint32_t kBlock = kShape.threads;
  static constexpr bool kLoose = is_loose(kind);
  static constexpr bool kWide = kBlock > kRowThreads;
  static constexpr bool kOneChunk = kShape.one_chunk();
  static constexpr bool kTurned = kLoose && !kOneChunk;
  static constexpr uint32_t kOwn = kShape.lanes;
  static constexpr uint32_t kParts = kShape.parts;
  static constexpr uint32_t kPacks = kShape.stripes * kParts;  // of a thread
  static constexpr uint32_t kStep = kLanes / kParts;           // elements from one of them to the next
  static constexpr uint32_t kThreads = kShape.chunk_threads();
  static constexpr uint32_t kGroups = kBlock / kThreads;
  static constexpr bool kSpread = Spread::kMostBlocks > 1;
  static constexpr uint32_t kPhase = kGroups * Spread::kMostBlocks;
  static constexpr uint32_t kPartials = kPhase + Spread::kPhase;
  /// Where registers are scarce, packs take turns: compilers would start them all at once.
  static constexpr bool kTakesTurns = (kWide && !kLoose) || sizeof(A) == 8;
  using Own = Packed<S, static_cast<int>(kOwn)>;
  Own v[kPacks];  // as they came: narrow elements are widened where they are used
  const RowsArgs& args;
  uint32_t width, chunks, row, t;
  uint32_t left;   // elements of this group's chunk from `first` on; none without a row
  uint32_t first;  // this thread's first one in the row (kTurned: the chunk's); 0 where it has none
  uint32_t ahead;  // kTurned: elements of the row's first pack that come before it
  int32_t turn;    // kTurned: where this thread's first lane is, from `first` on
  int32_t rest;    // kTurned: elements from there on
  int32_t last;    // kTurned: where the last pack begins that has all elements, from `first` on

  BW_DEVICE_MEMBER explicit RegisterRow(const RowsArgs& a) : args(a) {
    width = 1u << args.width_log2;
    t = thread() & (width - 1);
    chunks = kOneChunk ? 1 : args.chunks.divisor;
    const uint32_t member = place_group(thread() >> args.width_log2);
    const uint32_t begin = member * kChunk + (kTurned ? 0 : t * kOwn), end = (member + 1) * kChunk;
    const uint32_t stop = end < args.n ? end : args.n;
    left = row < args.rows && begin < stop ? stop - begin : 0;
    first = left > 0 ? begin : 0;
    const S* x = static_cast<const S*>(args.x) + static_cast<int64_t>(row) * args.x_row;
    ahead = kTurned ? past_pack(x) : 0;
    turn = kTurned ? static_cast<int32_t>(t * kOwn) - static_cast<int32_t>(ahead) : 0;
    rest = static_cast<int32_t>(left) - turn;
    // In a later chunk of few elements that is a pack of the chunk before it; without any, the row's first
    // one.
    const uint32_t packs_end = left > 0 ? (left + ahead) / kOwn * kOwn : 2 * kOwn;
    last = static_cast<int32_t>(packs_end - kOwn) - static_cast<int32_t>(ahead);
    // Threads past the end of a row read its beginning, so that loads need no branches: y may be x, but the
    // row's groups wait for each other before they write. Those without a row have nobody to wait for.
    if (row >= args.rows) {
      each([&](uint32_t p) __attribute__((always_inline)) { v[p] = Own{}; });
      return;
    }
    each([&](uint32_t p) __attribute__((always_inline)) { load(x, p, v[p]); });
    if constexpr (kTurned) {
      if (left < kChunk) {
        each([&](uint32_t p) __attribute__((always_inline)) {
          if (p == 0 || left < (p + 1) * kStep) mend(x, p, v[p]);
        });
      } else if (t == 0) {
        mend(x, 0, v[0]);
      }
    }
  }

  /// Finds the row of a group of threads, if it has one, and tells the group's place in it. The last wave of
  /// a block may have more groups than its rows.
  BW_DEVICE_MEMBER uint32_t place_group(uint32_t group) {
    if constexpr (kSpread) {
      row = group < args.block_chunks ? Spread::row() : args.rows;
      return Spread::rank() * args.block_chunks + group;
    }
    const uint32_t slot = kOneChunk ? group : divide(group, args.chunks);
    row = slot < args.block_rows ? block() * args.block_rows + slot : args.rows;
    return kOneChunk ? 0 : group - slot * chunks;
  }
  /// How many elements after the beginning of a pack x is.
  BW_DEVICE_MEMBER static uint32_t past_pack(const S* x) { return elements_past(x, sizeof(Own)); }
  /// f(number of a pack) for each that rows may have. The same for all threads: no branch asks each of them.
  template <class F>
  BW_DEVICE_MEMBER void each(F f) const {
    const uint32_t most = args.n + (kTurned ? kOwn - 1 : 0);
#pragma unroll
    for (uint32_t p = 0; p < kPacks; ++p)
      if (p * kStep < most) f(p);
  }
  /// Whether element j of pack p is one that the last packs do not reach.
  BW_DEVICE_MEMBER bool left_over(uint32_t p, uint32_t j) const {
    return kTurned && p == 0 && t == 0 && j < ahead;
  }
  /// Where element j of pack p is, from `first` on.
  BW_DEVICE_MEMBER uint32_t place(uint32_t p, uint32_t j) const {
    return p * kStep + j + static_cast<uint32_t>(turn) + (left_over(p, j) ? kChunk : 0);
  }
  /// Whether pack p has an element j.
  BW_DEVICE_MEMBER bool has(uint32_t p, uint32_t j) const {
    if (kTurned && p > 0) return rest > static_cast<int32_t>(p * kStep + j);
    return place(p, j) < left;
  }
  /// kTurned: whether pack p has every element, and they are neighbours.
  BW_DEVICE_MEMBER bool complete(uint32_t p) const {
    return has(p, kOwn - 1) && (p > 0 || t > 0 || ahead == 0);
  }
  /// Pack p of this thread in a row at x. What is not there is any other element of the row. kTurned: where
  /// it is not complete, any pack of the row.
  BW_DEVICE_MEMBER void load(const S* x, uint32_t p, Own& to) const {
    if constexpr (kTurned) {
      int32_t at = static_cast<int32_t>(p * kStep) + turn;
      if (p == 0 && at < 0 && first == 0) at += kOwn;  // another row ends there, and may be written
      to = *reinterpret_cast<const Own*>(x + first + (at < last ? at : last));
    } else if constexpr (kLoose) {
      load_each(x, p, to);
    } else {
      to = *reinterpret_cast<const Own*>(x + first + (has(p, 0) ? p * kStep : 0));
    }
  }
  /// The same, one element at a time.
  BW_DEVICE_MEMBER void load_each(const S* x, uint32_t p, Own& to) const {
    Pack<S, static_cast<int>(kOwn)> some;
#pragma unroll
    for (uint32_t j = 0; j < kOwn; ++j) some.v[j] = x[first + (has(p, j) ? place(p, j) : 0)];
    __builtin_memcpy(&to, &some, sizeof(to));
    to.hide();
  }
  /// Gives pack p the elements that load() does not: of one that is not complete, all.
  BW_DEVICE_MEMBER void mend(const S* x, uint32_t p, Own& to) const {
    if (!complete(p)) load_each(x, p, to);
  }
  /// Pack p of what all rows share at x, wherever that begins. What is not there is any number.
  BW_DEVICE_MEMBER void load_shared(const S* x, uint32_t p, Own& to) const {
    if constexpr (!kTurned) {
      load(x, p, to);
    } else {
      const S* from = x + static_cast<int32_t>(first + p * kStep) + turn;
      const uint32_t at = first + p * kStep + static_cast<uint32_t>(turn);
      // Words that overlap halves from within one hold an element more on either side.
      const bool around = sizeof(S) == 2 && reinterpret_cast<uintptr_t>(from) % 4 != 0;
      if (!complete(p) || (around && (at == 0 || at + kOwn >= args.n))) {
        load_each(x, p, to);
      } else if constexpr (sizeof(S) == 2) {
        load_words_at_even(from, to.words);
      } else {
        __builtin_memcpy(to.words, from, sizeof(to));
      }
    }
  }
  /// Pack p, but not before `earlier` is known, a number for each of its elements: `zero` is one, which
  /// compilers do not know.
  BW_DEVICE_MEMBER auto after(const A (&earlier)[kOwn], uint32_t p) const {
    Own in = v[p];
    if constexpr (kTakesTurns) {
      constexpr uint32_t kWords = sizeof(in.words) / 4;
#pragma unroll
      for (uint32_t w = 0; w < kWords; ++w)
        in.words[w] ^= static_cast<uint32_t>(m::bits(earlier[w * kOwn / kWords])) & args.zero;
    }
    return in.renewed();
  }
  /// The row's largest element, NaN aside; all threads of the row get it. `partials` as for join.
  BW_DEVICE_MEMBER A largest(A* partials) const {
    // Elements that stand in for missing ones count without harm.
    A lanes[kOwn];
    if constexpr (kPairsCompare<S>) {
      Own top = v[0];
      const auto meet = [&](uint32_t p) __attribute__((always_inline)) {
        if (p == 0) return;
#pragma unroll
        for (uint32_t w = 0; w < kOwn / 2; ++w) top.words[w] = larger_pairs<S>(top.words[w], v[p].words[w]);
      };
      if constexpr (kWide) {  // long rows have all packs
#pragma unroll
        for (uint32_t p = 0; p < kPacks; ++p) meet(p);
      } else {
        each(meet);
      }
      const auto elements = top.elements();
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) lanes[j] = widen(elements.v[j]);
#if BW_CONVERTS_F8
    } else if constexpr (kPairsWiden<S>) {
      Packed<f16, static_cast<int>(kOwn)> top;
      each([&](uint32_t p) __attribute__((always_inline)) {
#pragma unroll
        for (uint32_t w = 0; w < kOwn / 2; ++w) {
          const uint32_t pair = halves_of(static_cast<uint16_t>(v[p].words[w / 2] >> (w % 2 * 16)));
          top.words[w] = p == 0 ? pair : larger_pairs<f16>(top.words[w], pair);
        }
      });
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) lanes[j] = widen_at(top, j);
#endif
    } else {
#pragma unroll
      for (A& lane : lanes) lane = Largest::template none<A>();
      each([&](uint32_t p) __attribute__((always_inline)) {
        const auto in = after(lanes, p);
#pragma unroll
        for (uint32_t j = 0; j < kOwn; ++j)
          lanes[j] = p == 0 ? widen_at(in, j) : Largest::combine(lanes[j], widen_at(in, j));
      });
    }
    return join_lanes<Largest>(lanes, partials);
  }
  /// The row's f(element) joined; all threads of the row get it, and keep(element, f of it, number among this
  /// thread's) sees each. `partials` is of kGroups elements and of no other join.
  template <class Joint, class F, class Keep>
  BW_DEVICE_MEMBER A join(A* partials, F f, Keep keep) const {
    A found[kParts][kOwn], last[kOwn];
#pragma unroll
    for (uint32_t h = 0; h < kParts; ++h)
      for (A& lane : found[h]) lane = Joint::template none<A>();
    each([&](uint32_t p) __attribute__((always_inline)) {
      A(&lanes)[kOwn] = found[p % kParts];
      const auto in = after(lanes, p);
      A values[kOwn];
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) {
        const A x = widen_at(in, j);
        values[j] = f(x);
        keep(x, values[j], p * kOwn + j);
      }
      if (!kTurned && !has(p, 0)) return;
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) {
        if (kTurned && p == 0) last[j] = left_over(p, j) && has(p, j) ? values[j] : Joint::template none<A>();
        if (!kLoose || (has(p, j) && !left_over(p, j))) lanes[j] = Joint::combine(lanes[j], values[j]);
      }
    });
#pragma unroll
    for (uint32_t j = 0; j < kOwn; ++j)
      if (kTurned) found[0][j] = Joint::combine(found[0][j], last[j]);
#pragma unroll
    for (uint32_t half = kParts / 2; half > 0; half /= 2)
      for (uint32_t h = 0; h < half; ++h)
        for (uint32_t j = 0; j < kOwn; ++j) found[h][j] = Joint::combine(found[h][j], found[h + half][j]);
    return join_lanes<Joint>(found[0], partials);
  }
  template <class Joint, class F>
  BW_DEVICE_MEMBER A join(A* partials, F f) const {
    return join<Joint>(partials, f, [](A, A, uint32_t) __attribute__((always_inline)) {});
  }
  /// What threads have found, joined.
  template <class Joint>
  BW_DEVICE_MEMBER A join_lanes(A (&lanes)[kOwn], A* partials) const {
    const A all = join_packed<Joint, kStep>(lanes, kWide ? kThreads : width);  // long rows have whole chunks
    if (chunks == 1) return all;
    const uint32_t group = hidden(thread()) >> args.width_log2;  // made again rather than kept
    if constexpr (kSpread) {
      if (row < args.rows)
        Spread::share(partials, Spread::rank() * args.block_chunks + group, all, t, kPhase);
      Spread::meet(partials, kPhase);
      return join_partials<Joint, kLanes / kThreads>(partials, chunks, t);
    }
    if (t == 0) partials[group] = all;
    barrier();
    const uint32_t slot = divide(group, args.chunks);
    const uint32_t first = slot < args.block_rows ? slot * chunks : 0;  // groups without a row read any
    return join_partials<Joint, kLanes / kThreads>(partials + first, chunks, t);
  }
  /// y = f(element, its number among this thread's) of each; begin_pack(p) comes before those of pack p.
  template <class Begin, class F>
  BW_DEVICE_MEMBER void store(Begin begin_pack, F f) const {
    S* y = static_cast<S*>(args.y) + (static_cast<int64_t>(row) * args.n + first);
    A last[kOwn] = {};
    const bool packs = kTurned && past_pack(y + (kOwn - ahead)) == 0;
    each([&](uint32_t p) __attribute__((always_inline)) {
      begin_pack(p);
      const auto in = after(last, p);
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) last[j] = f(widen_at(in, j), p * kOwn + j);
      Own out = narrowed<S>(last);
      if constexpr (!kLoose) {
        if (has(p, 0)) store_whole(y + p * kStep, out.elements());
        return;
      }
      if constexpr (kTurned) out.hide();  // made whole, not once for each way to store it
      if (packs && complete(p)) {
        store_whole(y + (static_cast<int32_t>(p * kStep) + turn), out.elements());
      } else {
        store_each(y, p, out.elements());
      }
    });
  }
  BW_DEVICE_MEMBER void store_each(S* y, uint32_t p, const Pack<S, static_cast<int>(kOwn)>& from) const {
#pragma unroll
    for (uint32_t j = 0; j < kOwn; ++j)
      if (has(p, j)) y[place(p, j)] = from.v[j];
  }
};

/// The elements of rows of RowsApplyArgs, in packs where they fit: of_row(row) gives a function of an element
/// and its place in the row.
template <class S, class OfRow>
BW_DEVICE void apply_rows(const RowsApplyArgs& args, OfRow of_row) {
  const uint32_t row = block() / args.tiles;
  const uint32_t tile = block() - row * args.tiles;
  const S* x = static_cast<const S*>(args.x) + static_cast<int64_t>(row) * args.x_row;
  S* y = static_cast<S*>(args.y) + static_cast<int64_t>(row) * args.n;
  const int64_t first = static_cast<int64_t>(tile) * kApplyTile;
  const auto f = of_row(row);
  constexpr int kOwn = apply_pack(sizeof(S));
  if (args.packs != 0) {
    constexpr int kPacks = kApplyTile / kMapThreads / kOwn;
    const int64_t begin = first + static_cast<int64_t>(thread()) * kOwn;
    using Own = Packed<S, kOwn>;
    Own packs[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int64_t i = begin + p * (kMapThreads * kOwn);
      packs[p] = *reinterpret_cast<const Own*>(x + (i < args.n ? i : 0));
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int64_t i = begin + p * (kMapThreads * kOwn);
      if (i >= args.n) return;
      const auto in = packs[p].renewed();
      Compute<S> out[kOwn];
#pragma unroll
      for (int j = 0; j < kOwn; ++j) out[j] = f(widen_at(in, static_cast<uint32_t>(j)), i + j);
      store_whole(y + i, narrowed<S>(out).elements());
    }
    return;
  }
#pragma unroll 1
  for (int64_t i = first + thread(); i < first + kApplyTile; i += kMapThreads)
    if (i < args.n) y[i] = narrow<S>(f(widen(x[i]), i));
}

}  // namespace beeswax::gpu
