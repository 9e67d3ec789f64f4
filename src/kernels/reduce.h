// SPDX-License-Identifier: Apache-2.0
// Kernels of reduce.def: reduce_<method>_<dtype> over rows, reduce_<method>_<dtype>_short over many short
// ones and reduce_<method>_<dtype>_columns over neighbouring columns, in the documented order of sums. A file
// that includes this names its dtypes by BW_REDUCE_KERNELS.
//   floors: bytes of x over the memory's bandwidth; log_sum_exp: 18 operations an element over the ALU rate
#pragma once

#include "core/math/log_sum_exp.h"
#include "kernels/order.h"
#include "tables/reduce_kernels.h"

namespace beeswax::gpu {

enum class ReduceDTypes { Number, Float };
enum ReduceRow : int {
#define BW_REDUCE(Name, ...) k##Name##Row,
#include "tables/reduce.def"
};
#define BW_REDUCE(Name, method, dtypes, center, map_, combine_, final_, ...)    \
  struct Name##Reduce {                                                         \
    static constexpr int kKernel = k##Name##Row;                                \
    static constexpr bool kMaps = !same_text(#map_, "x");                       \
    static constexpr bool kHasCenter = !same_text(#center, "NONE");             \
    static constexpr bool kAdds = same_text(#combine_, "a + b");                \
    static constexpr bool kLargest = same_text(#combine_, kMaximumText);        \
    static constexpr bool kHeavy = kMaps && kHasCenter;                         \
    template <class A>                                                          \
    BW_DEVICE_MEMBER static A map([[maybe_unused]] A x, [[maybe_unused]] A c) { \
      return static_cast<A>(map_);                                              \
    }                                                                           \
    template <class A>                                                          \
    BW_DEVICE_MEMBER static A combine(A a, A b) {                               \
      if constexpr (kMaximumInOne && kLargest && __is_same(A, float)) {         \
        return larger_or_nan(a, b);                                             \
      } else {                                                                  \
        return static_cast<A>(combine_);                                        \
      }                                                                         \
    }                                                                           \
    template <class A>                                                          \
    BW_DEVICE_MEMBER static A none() {                                          \
      static_assert(kAdds || kLargest);                                         \
      if constexpr (kAdds) {                                                    \
        return Add::none<A>();                                                  \
      } else if constexpr (m::Floating<A>) {                                    \
        return -m::infinity<A>();                                               \
      } else {                                                                  \
        return m::Int<A>::kMin;                                                 \
      }                                                                         \
    }                                                                           \
  };
#include "tables/reduce.def"

#define BW_REDUCE(Name, method, dtypes, center, map, combine, final_, ...)            \
  template <int kernel, class A>                                                      \
  BW_DEVICE A finish_##method(A a, [[maybe_unused]] A n, [[maybe_unused]] A c) {      \
    if constexpr (reduce_kernel(k##Name##Row) == kernel &&                            \
                  (m::Floating<A> || ReduceDTypes::dtypes == ReduceDTypes::Number)) { \
      return static_cast<A>(final_);                                                  \
    } else {                                                                          \
      return a;                                                                       \
    }                                                                                 \
  }
#include "tables/reduce.def"
/// The last step of `row`, one of those that `kernel` serves.
template <int kernel, class A>
BW_DEVICE A reduce_finish(uint32_t row, A a, A n, A c) {
#define BW_REDUCE(Name, method, ...) \
  if (row == k##Name##Row) return finish_##method<kernel, A>(a, n, c);
#include "tables/reduce.def"
  return a;
}

/// -x or ~x where a maximum is to be a minimum.
template <class A>
BW_DEVICE A reversed(A x, uint32_t flags) {
  if ((flags & kReduceReverses) == 0) return x;
  if constexpr (m::Floating<A>) {
    return -x;
  } else {
    return static_cast<A>(~x);
  }
}

/// An element as it is combined.
template <class Row, class S, class A = Compute<S>>
BW_DEVICE A reduce_value(S element, A center, uint32_t flags) {
  const A x = widen(element);
  if constexpr (Row::kLargest && !Row::kMaps) {
    return reversed(x, flags);
  } else if constexpr (!Row::kMaps) {
    return x;
  } else if constexpr (__is_same(A, S)) {
    return (flags & kReduceMaps) != 0 ? Row::map(x, center) : x;
  } else {
    return Row::map(x, center);
  }
}

/// Whether a row's elements are compared two at a time, as they are.
template <class Row, class S>
inline constexpr bool kPairsOrderIn = Row::kLargest && !Row::kMaps && kMaximumInOne && kPairsOrder<S>;
/// The largest of what is taken, for n lanes.
template <class Row, class S, uint32_t n>
struct PairTops {
  using In = Packed<S, static_cast<int>(n)>;
  In tops = repeated<static_cast<int>(n)>(narrow<S>(Row::template none<Compute<S>>()));

  /// Those from `begin` on, before `end`.
  BW_DEVICE_MEMBER void take(const In& in, uint32_t begin, uint32_t end, uint32_t flags) {
    const uint32_t flip = (flags & kReduceReverses) != 0 ? 0x80008000u : 0;
#pragma unroll
    for (uint32_t w = 0; w < n / 2; ++w) {
      const auto has = [&](uint32_t j) __attribute__((always_inline)) { return begin <= j && j < end; };
      const uint32_t some = (has(2 * w) ? 0xffffu : 0) | (has(2 * w + 1) ? 0xffff0000u : 0);
      const uint32_t larger = larger_pairs_or_nan<S>(tops.words[w], in.words[w] ^ flip);
      tops.words[w] = (larger & some) | (tops.words[w] & ~some);
    }
  }
  BW_DEVICE_MEMBER void widen_to(Compute<S> (&lanes)[n]) const {
    const auto elements = tops.elements();
#pragma unroll
    for (uint32_t j = 0; j < n; ++j) lanes[j] = widen(elements.v[j]);
  }
};
template <class Row, class S, uint32_t n>
  requires(!kPairsOrderIn<Row, S>)
struct PairTops<Row, S, n> {};

BW_DEVICE uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/// The result of one chunk of `count` elements; thread t of `width`. `first` is the chunk's first element.
///
/// Dense rows come in packs as memory has them, from the one that the chunk begins in, or from its line,
/// `ahead` elements before it (rows.h): lanes that would lie there are those at the end of each stripe.
template <class Row, class S, class A = Compute<S>>
BW_DEVICE A reduce_chunk(const S* row, const ReduceRowsArgs& args, uint32_t first, uint32_t count, uint32_t t,
                         uint32_t width, A center) {
  A v[kOwnLanes];
#pragma unroll
  for (A& lane : v) lane = Row::template none<A>();
  const uint32_t flags = args.flags;
  if ((flags & kReduceDense) != 0) {
    using Own = Packed<S, static_cast<int>(kOwnLanes)>;
    [[maybe_unused]] PairTops<Row, S, kOwnLanes> tops;
    constexpr uint32_t kStripes = kChunk / kLanes;
    // Small packs that lie across lines of memory wait for more of them: lines then.
    constexpr bool kLines = sizeof(S) == 2 && !Row::kHeavy;
    constexpr uint32_t kPack = alignof(Own) / sizeof(S);
    const auto place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(row + first) / sizeof(S));
    const bool lines = kLines && count > 2 * kLanes && place % kPack != 0;
    const uint32_t ahead = place % (lines ? kLanes : kPack);
    const S* const packs = row + first - ahead;
    const uint32_t begin = t * kOwnLanes;
    // Elements of this thread's first pack that come before the chunk, and those from there on: whole packs,
    // as many as of a chunk that begins where they do, then one more as far as the chunk goes.
    const uint32_t before = kLines   ? (ahead > begin ? smaller(ahead - begin, kOwnLanes) : 0)
                            : t == 0 ? ahead
                                     : 0;
    const int32_t left = count > 0 ? static_cast<int32_t>(count + ahead) - static_cast<int32_t>(begin) : 0;
    const uint32_t whole =
        left > 0 ? smaller((static_cast<uint32_t>(left) + (kLanes - kOwnLanes)) / kLanes, kStripes) : 0;
    const auto take = [&](const Own& in, uint32_t from, uint32_t to) __attribute__((always_inline)) {
      if constexpr (kPairsOrderIn<Row, S>) return tops.take(in, from, to, flags);
      const auto elements = in.elements();
#pragma unroll
      for (uint32_t j = 0; j < kOwnLanes; ++j) {
        const A next = Row::combine(v[j], reduce_value<Row, S>(elements.v[j], center, flags));
        v[j] = from <= j && j < to ? next : v[j];
      }
    };
    const S* const own = packs + begin;
    const S* const some = packs + ahead / kOwnLanes * kOwnLanes;  // stands in for packs that are not there
    const auto load = [](const S* from)
                          __attribute__((always_inline)) { return *reinterpret_cast<const Own*>(from); };
    const auto ends = [&]() __attribute__((always_inline)) {
      const int32_t rest = left - static_cast<int32_t>(whole * kLanes);
      return rest > 0 ? smaller(static_cast<uint32_t>(rest), kOwnLanes) : 0;
    };
    // The last pack, as far as the chunk goes: nobody may have written what lies behind a row.
    const auto load_last = [&](uint32_t end) __attribute__((always_inline)) {
      const S* const from = own + whole * kLanes;
      Own pack{};
      if constexpr (sizeof(S) == 2) {
        // By words: no value is asked for before the pack is used.
#pragma unroll
        for (uint32_t j = 0; j < kOwnLanes; j += 2) {
          if (j + 1 < end) {
            pack.words[j / 2] = *reinterpret_cast<const uint32_t*>(from + j);
          } else if (j < end) {
            pack.words[j / 2] = *reinterpret_cast<const uint16_t*>(from + j);
          }
        }
      } else {
        Pack<S, static_cast<int>(kOwnLanes)> elements{};
#pragma unroll
        for (uint32_t j = 0; j < kOwnLanes; ++j)
          if (j < end) elements.v[j] = from[j];
        __builtin_memcpy(&pack, &elements, sizeof(pack));
      }
      return pack;
    };
    Own last{};
    if (kLines && ends() > 0) last = load_last(ends());
    // As many loads as there are, before what is made of them; `all` where the thread has every pack.
    uint32_t s = 0;
    const auto take_packs = [&](auto several, auto all) __attribute__((always_inline)) {
      constexpr uint32_t kSeveral = decltype(several)::kCount;
      const S* const from = own + s * kLanes;
      Own in[kSeveral];
#pragma unroll
      for (uint32_t i = 0; i < kSeveral; ++i) {
        const bool has = decltype(all)::kCount != 0 || s + i < whole;
        const bool begins = !kLines || i > 0 || s > 0 || before < kOwnLanes;
        in[i] = load(has && begins ? from + i * kLanes : some);
      }
#pragma unroll
      for (uint32_t i = 0; i < kSeveral; ++i) {
        const bool has = decltype(all)::kCount != 0 || s + i < whole;
        take(in[i], i == 0 && s == 0 ? before : 0, has ? kOwnLanes : 0);
      }
      s += kSeveral;
    };
    if constexpr (Row::kHeavy) {
      // Long functions leave registers for some of them; those of comparisons are few where waves have 64
      // threads.
      constexpr bool kCompares = kWave == 64 && Row::kKernel == kLogSumExpRow;
      constexpr bool kMany = sizeof(S) == 4 || (sizeof(S) == 2 && !kCompares);
      constexpr uint32_t kSome = kMany ? 4 : kWave == 64 ? 1 : 2;
#pragma unroll 1
      while (kSome > 1 && s + kSome <= whole) take_packs(Count<kSome>(), Count<1>());
#pragma unroll 1
      while (s < whole) take_packs(Count<1>(), Count<1>());
    } else if (count + ahead >= kChunk) {  // the same for all threads, and all of their packs are there
      take_packs(Count<kStripes>(), Count<1>());
    } else {
      constexpr bool kScarce = sizeof(S) == 1 || kWave == 64;  // registers for what threads have or not
      constexpr uint32_t kSome = kScarce ? 1 : kStripes / 2;
      if (kLines && !kScarce && whole > kSome) {
        take_packs(Count<kStripes>(), Count<0>());
      } else if (kSome > 1 && s + kSome <= whole) {
        take_packs(Count<kSome>(), Count<1>());
      }
#pragma unroll 1
      while (s < whole) take_packs(Count<kSome>(), Count<kSome == 1 ? 1 : 0>());
    }
    if (kLines) last.hide();
    if (const uint32_t end = ends(); end > 0)
      take(kLines ? last : load_last(end), whole == 0 ? before : 0, end);
    if constexpr (kPairsOrderIn<Row, S>) tops.widen_to(v);
    return join_packed<Row>(v, width);
  }
  // Neighbouring threads take neighbouring lanes.
#pragma unroll 1
  for (uint32_t i = t; i < count; i += kLanes) {
#pragma unroll
    for (uint32_t j = 0; j < kOwnLanes; ++j)
      if (i + j * width < count)
        v[j] = Row::combine(v[j], reduce_value<Row, S>(row[offset_in_row(args.reduced, first, i + j * width)],
                                                       center, flags));
  }
  return join_spread<Row>(v, width);
}

template <int kernel, class S, class A = Compute<S>>
BW_DEVICE void write_result(void* y, int64_t at, A value, A center, int64_t n, uint32_t finish,
                            uint32_t flags) {
  if (same_text(kReduceTexts[kernel].combine, kMaximumText)) value = reversed(value, flags);
  if ((flags & kReduceFinishes) != 0)
    value = reduce_finish<kernel, A>(finish, value, static_cast<A>(n), center);
  if constexpr (__is_same(S, float)) {
    if ((flags & kReduceRounds) != 0) {
      if ((flags & kReduceToF16) != 0) {
        static_cast<f16*>(y)[at] = narrow<f16>(value);
      } else if ((flags & kReduceToBf16) != 0) {
        static_cast<bf16*>(y)[at] = narrow<bf16>(value);
      } else {
        static_cast<f8e4m3*>(y)[at] = narrow<f8e4m3>(value);
      }
      return;
    }
  }
  if (__is_same(A, S) || (flags & kReduceWide) != 0) {
    static_cast<A*>(y)[at] = value;
  } else {
    static_cast<S*>(y)[at] = narrow<S>(value);
  }
}

/// Rows of `stripes` stripes at most, in packs: a group of threads has several of them, so that kShortPacks
/// loads of a thread are under way.
template <class Row, class S, uint32_t stripes, class A = Compute<S>>
BW_DEVICE void reduce_short_rows(const ReduceRowsArgs& args) {
  constexpr uint32_t kOwn = short_lanes(sizeof(S), m::Floating<A>);
  using Own = Packed<S, static_cast<int>(kOwn)>;
  constexpr uint32_t kRows = kShortPacks / stripes;
  const uint32_t width = 1u << args.width_log2;
  const uint32_t groups = static_cast<uint32_t>(kReduceThreads) >> args.width_log2;
  const uint32_t first = block() * groups * kRows + (thread() >> args.width_log2);
  const uint32_t t = thread() & (width - 1), begin = t * kOwn;
  const auto has = [&](uint32_t s) __attribute__((always_inline)) { return begin + s * kLanes < args.last; };
  const S* x = static_cast<const S*>(args.x);
  Own in[kRows][stripes];
  A centers[kRows];
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) {
    // What is not there is the beginning of some row: loads need no branches, and wait for none.
    const uint32_t row = first + r * groups < args.units ? first + r * groups : 0;
    const S* from = x + row_offset(args.outer, row);
#pragma unroll
    for (uint32_t s = 0; s < stripes; ++s)
      in[r][s] = *reinterpret_cast<const Own*>(from + (has(s) ? begin + s * kLanes : 0));
    centers[r] = Row::kHasCenter && args.centers != nullptr ? static_cast<const A*>(args.centers)[row] : A(0);
  }
  A values[kRows];
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) {
    A v[kOwn];
#pragma unroll
    for (A& lane : v) lane = Row::template none<A>();
#pragma unroll
    for (uint32_t s = 0; s < stripes; ++s) {
      const auto elements = in[r][s].elements();
#pragma unroll
      for (uint32_t j = 0; j < kOwn; ++j) {
        const A value = reduce_value<Row, S>(elements.v[j], centers[r], args.flags);
        v[j] = has(s) ? Row::combine(v[j], value) : v[j];
      }
    }
    values[r] = join_packed<Row>(v, width);
  }
  // Threads have a row each, as long as there are as many.
#pragma unroll 1
  for (uint32_t r = t; r < kRows; r += width) {
    A value = values[0], center = centers[0];
#pragma unroll
    for (uint32_t k = 1; k < kRows; ++k) {
      value = k == r ? values[k] : value;
      center = k == r ? centers[k] : center;
    }
    const uint32_t row = first + r * groups;
    if (row < args.units)
      write_result<Row::kKernel, S>(args.y, row, value, center, args.n, args.row, args.flags);
  }
}

template <class Row, class S>
BW_DEVICE void reduce_short_rows(const ReduceRowsArgs& args) {
  if (args.last > kLanes) {
    reduce_short_rows<Row, S, 2>(args);
  } else {
    reduce_short_rows<Row, S, 1>(args);
  }
}

template <class Row, class S, class A = Compute<S>>
BW_DEVICE void reduce_rows(const ReduceRowsArgs& args, A* partials) {
  const uint32_t width = 1u << args.width_log2;
  const uint32_t groups = args.groups.divisor;
  const uint32_t t = thread() & (width - 1);
  const uint32_t group = thread() >> args.width_log2;
  const uint32_t slot = divide(group, args.groups);
  const uint32_t member = group - slot * groups;
  const uint32_t unit = block() * args.block_units + slot;
  const bool exists = slot < args.block_units && unit < args.units;
  const uint32_t chunks = args.chunks.divisor;
  const bool split = (args.flags & kReduceSplit) != 0;
  const uint32_t row = split ? divide(unit, args.chunks) : unit;
  const S* x = static_cast<const S*>(args.x);
  A center = A(0);
  if (exists) {
    x += row_offset(args.outer, row);
    if (Row::kHasCenter && args.centers != nullptr) center = static_cast<const A*>(args.centers)[row];
  }
  const uint32_t start = split ? unit - row * chunks : 0;
  const uint32_t end = split ? start + 1 : chunks;
  const bool joins = !split && chunks > 1;
  A value = Row::template none<A>();
#pragma unroll 1
  for (uint32_t c = start; c < end; c += groups) {  // every thread of a block goes round as often
    const uint32_t chunk = c + member;
    const uint32_t count = !exists || chunk >= end ? 0 : chunk + 1 == chunks ? args.last : kChunk;
    value = reduce_chunk<Row, S>(x, args, chunk * kChunk, count, t, width, center);
    if (joins && t == 0 && count > 0) partials[slot * chunks + chunk] = value;
  }
  if (joins) {
    barrier();
    value = join_partials<Row>(partials + slot * chunks, member == 0 && exists ? chunks : 0, t);
  }
  if (exists && t == 0 && member == 0)
    write_result<Row::kKernel, S>(args.y, unit, value, center, args.n, args.row, args.flags);
}

/// Eight lanes b, b + 8, ... of columns that are `step` apart, of which there are `some`, joined.
template <class Row, class S, uint32_t own, class A = Compute<S>>
BW_DEVICE void reduce_leaf(const S* x, const ReduceColumnsArgs& args, uint32_t first, uint32_t count,
                           uint32_t b, uint32_t step, uint32_t some, const A (&centers)[own], A (&out)[own]) {
  constexpr uint32_t kParts = 8;
  A sums[kParts][own];
#pragma unroll
  for (uint32_t u = 0; u < kParts; ++u)
    for (uint32_t k = 0; k < own; ++k) sums[u][k] = Row::template none<A>();
  using Own = Packed<S, static_cast<int>(own)>;
  const bool packs = (args.flags & kReducePacks) != 0;
  [[maybe_unused]] PairTops<Row, S, own> tops[kParts];
  const auto take = [&](const Own& in, uint32_t u) __attribute__((always_inline)) {
    if constexpr (kPairsOrderIn<Row, S>) return tops[u].take(in, 0, own, args.flags);
    const auto elements = in.elements();
#pragma unroll
    for (uint32_t k = 0; k < own; ++k)
      sums[u][k] = Row::combine(sums[u][k], reduce_value<Row, S>(elements.v[k], centers[k], args.flags));
  };
  uint32_t i = b;
  // All loads before what is made of them; what f8e4m3 takes to be widened may leave no registers for it.
  constexpr bool kRushes = !Row::kHeavy && !kManyStepsToWiden<S>;
  // kLanes neighbours lie on one row of the innermost axis.
  const bool even = args.reduced.rank == 1 || args.reduced.dims[0].divisor % kLanes == 0;
  if (kRushes && packs && even) {
    const int64_t stride = args.reduced.strides[0];
    const auto rush = [&](auto several) __attribute__((always_inline)) {
      constexpr uint32_t kSeveral = decltype(several)::kCount;  // times kLanes elements
#pragma unroll 1
      for (; i + (kSeveral * kParts - 1) * kParts < count; i += kSeveral * kLanes) {
        Own in[kSeveral][kParts];
#pragma unroll
        for (uint32_t k = 0; k < kSeveral; ++k) {
          const S* from = x + offset_in_row(args.reduced, first, i + k * kLanes);
#pragma unroll
          for (uint32_t u = 0; u < kParts; ++u)
            in[k][u] = *reinterpret_cast<const Own*>(from + u * kParts * stride);
        }
#pragma unroll
        for (uint32_t k = 0; k < kSeveral; ++k)
#pragma unroll
          for (uint32_t u = 0; u < kParts; ++u) take(in[k][u], u);
      }
    };
    if constexpr (sizeof(S) == 2) rush(Count<2>());  // registers for as many bytes as of wider elements
    rush(Count<1>());
  }
  const auto load = [&](uint32_t at) __attribute__((always_inline)) {
    const S* from = x + offset_in_row(args.reduced, first, at);
    if (packs) return *reinterpret_cast<const Own*>(from);
    Pack<S, static_cast<int>(own)> in;
#pragma unroll
    for (uint32_t k = 0; k < own; ++k) in.v[k] = from[k < some ? k * step : 0];
    return bit_cast<Own>(in);
  };
  // Integers that are not in packs, or not even, are rare.
  if (kRushes && !m::Integer<S>) {
    constexpr uint32_t kAtOnce = kParts / 2;  // more would not fit the registers
#pragma unroll 1
    for (; i + (kParts - 1) * kParts < count; i += kLanes) {
#pragma unroll
      for (uint32_t begin = 0; begin < kParts; begin += kAtOnce) {
        Own in[kAtOnce];
#pragma unroll
        for (uint32_t u = 0; u < kAtOnce; ++u) in[u] = load(i + (begin + u) * kParts);
#pragma unroll
        for (uint32_t u = 0; u < kAtOnce; ++u) take(in[u], begin + u);
      }
    }
  }
#pragma unroll 1
  for (; i < count; i += kLanes) {
#pragma unroll
    for (uint32_t u = 0; u < kParts; ++u)
      if (i + u * kParts < count) take(load(i + u * kParts), u);
  }
  if constexpr (kPairsOrderIn<Row, S>) {
#pragma unroll
    for (uint32_t u = 0; u < kParts; ++u) tops[u].widen_to(sums[u]);
  }
#pragma unroll
  for (uint32_t half = kParts / 2; half > 0; half /= 2)
    for (uint32_t u = 0; u < half; ++u)
      for (uint32_t k = 0; k < own; ++k) sums[u][k] = Row::combine(sums[u][k], sums[u + half][k]);
#pragma unroll
  for (uint32_t k = 0; k < own; ++k) out[k] = sums[0][k];
}

/// Columns: either a thread has all lanes of its columns, or eight threads share them out, lanes of one
/// remainder by 8 each, and one of them joins what they got.
template <class Row, class S, uint32_t own = own_columns(sizeof(S)), class A = Compute<S>>
BW_DEVICE void reduce_columns(const ReduceColumnsArgs& args, A (&shared)[8][kColumnThreads * own]) {
  const bool split = (args.flags & kReduceSplit) != 0;
  const uint32_t across = split ? thread() % kColumnThreads : thread();
  const uint32_t part = thread() / kColumnThreads;
  uint32_t index = block();
  const uint32_t tile = index % args.tiles;
  index /= args.tiles;
  const uint32_t chunk = index % args.chunks;
  const uint32_t row = index / args.chunks;
  const uint32_t threads = split ? kColumnThreads : static_cast<uint32_t>(kReduceThreads);
  const bool packs = (args.flags & kReducePacks) != 0;
  const uint32_t step = packs ? 1 : threads;
  const uint32_t column = tile * threads * own + (packs ? across * own : across);
  const uint32_t some = column < args.columns ? (args.columns - column + step - 1) / step : 0;
  const uint32_t count = some == 0 ? 0 : chunk + 1 == args.chunks ? args.last : kChunk;
  const S* x = static_cast<const S*>(args.x);
  A centers[own];
#pragma unroll
  for (A& c : centers) c = A(0);
  if (some > 0) {
    x += row_offset(args.outer, row) + column;
    if (Row::kHasCenter && args.centers != nullptr) {
#pragma unroll
      for (uint32_t k = 0; k < own; ++k)
        if (k < some)
          centers[k] = static_cast<const A*>(
              args.centers)[static_cast<int64_t>(row) * args.columns + column + k * step];
    }
  }
  // Remainders in the order 0 4 2 6 1 5 3 7, so that two neighbours, then two pairs, then two fours are
  // joined.
  A one[own], two[own], four[own], sum[own];
#pragma unroll
  for (uint32_t k = 0; k < own; ++k) one[k] = two[k] = four[k] = Row::template none<A>();
  const uint32_t end = split ? part + 1 : 8;
#pragma unroll 1
  for (uint32_t place = split ? part : 0; place < end; ++place) {
    const uint32_t b = ((place & 1) << 2) | (place & 2) | (place >> 2);
    reduce_leaf<Row, S, own>(x, args, chunk * kChunk, count, b, step, some, centers, sum);
#pragma unroll
    for (uint32_t k = 0; k < own; ++k) {
      if (split) {
        shared[b][k * kColumnThreads + across] = sum[k];
        continue;
      }
      const A pair = Row::combine(one[k], sum[k]);
      const A fours = Row::combine(two[k], pair);
      if (place % 2 == 0) one[k] = sum[k];
      if (place % 4 == 1) two[k] = pair;
      sum[k] = Row::combine(four[k], fours);  // the whole, at last
      if (place == 3) four[k] = fours;
    }
  }
  if (split) {
    barrier();
    if (part != 0) return;
#pragma unroll
    for (uint32_t k = 0; k < own; ++k) {
      const auto at = [&](uint32_t b)
                          __attribute__((always_inline)) { return shared[b][k * kColumnThreads + across]; };
      const A even = Row::combine(Row::combine(at(0), at(4)), Row::combine(at(2), at(6)));
      sum[k] = Row::combine(even, Row::combine(Row::combine(at(1), at(5)), Row::combine(at(3), at(7))));
    }
  }
  const int64_t to = (static_cast<int64_t>(row) * args.chunks + chunk) * args.columns + column;
#pragma unroll
  for (uint32_t k = 0; k < own; ++k)
    if (k < some)
      write_result<Row::kKernel, S>(args.y, to + k * step, sum[k], centers[k], args.n, args.row, args.flags);
}

}  // namespace beeswax::gpu

#define BW_REDUCE_KERNEL(Name, method, S, name)                                                      \
  BW_KERNEL_SIDE_BY_SIDE(beeswax::gpu::kReduceThreads, beeswax::gpu::blocks_side_by_side(sizeof(S))) \
  reduce_##method##_##name(beeswax::gpu::ReduceRowsArgs args) {                                      \
    BW_SHARED static beeswax::gpu::Compute<S> partials[beeswax::gpu::kChunk];                        \
    beeswax::gpu::reduce_rows<beeswax::gpu::Name##Reduce, S>(args, partials);                        \
  }                                                                                                  \
  BW_KERNEL(beeswax::gpu::kReduceThreads)                                                            \
  reduce_##method##_##name##_short(beeswax::gpu::ReduceRowsArgs args) {                              \
    beeswax::gpu::reduce_short_rows<beeswax::gpu::Name##Reduce, S>(args);                            \
  }                                                                                                  \
  BW_KERNEL_SIDE_BY_SIDE(beeswax::gpu::kReduceThreads, 2)                                            \
  reduce_##method##_##name##_columns(beeswax::gpu::ReduceColumnsArgs args) {                         \
    constexpr uint32_t own = beeswax::gpu::own_columns(sizeof(S));                                   \
    BW_SHARED static beeswax::gpu::Compute<S> shared[8][beeswax::gpu::kColumnThreads * own];         \
    beeswax::gpu::reduce_columns<beeswax::gpu::Name##Reduce, S, own>(args, shared);                  \
  }
#define BW_REDUCE_KERNELS(S, name)    \
  BW_REDUCE_KERNEL(Sum, sum, S, name) \
  BW_REDUCE_KERNEL(Max, max, S, name)
#define BW_REDUCE_FLOAT_KERNELS(S, name) \
  BW_REDUCE_KERNELS(S, name)             \
  BW_REDUCE_KERNEL(Norm, norm, S, name)  \
  BW_REDUCE_KERNEL(Var, var, S, name)    \
  BW_REDUCE_KERNEL(LogSumExp, log_sum_exp, S, name)

namespace beeswax::gpu {
/// The kernels above serve every row.
constexpr bool has_kernel(int row) {
  const int kernel = reduce_kernel(row);
  return kernel == kSumRow || kernel == kMaxRow || kernel == kNormRow || kernel == kVarRow ||
         kernel == kLogSumExpRow;
}
#define BW_REDUCE(Name, ...) static_assert(has_kernel(k##Name##Row));
#include "tables/reduce.def"
}  // namespace beeswax::gpu
