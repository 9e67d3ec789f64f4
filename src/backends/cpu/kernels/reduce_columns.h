// SPDX-License-Identifier: Apache-2.0
// ReduceLoops::columns: a chunk of neighbouring columns. The rows of a lane, or of lanes that the tree joins
// (docs/numerics.md), are eight streams through memory, combined in registers; the processor foresees streams
// that run on for long, so lanes whose rows follow each other are done in their order, sets of eight. The
// first half of the sets is kept in the second cache; each of the other half joins, as it is read, the sets
// that the tree joins it with. What is left is one set, whose eight lanes are joined at the end. Included by
// kernels/reduce.cc after its namespace is chosen.
//
// Kind describes what is reduced:
//   Element, Sum      what memory holds, and what lanes hold
//   Pack, kWidth      a register of sums, and how many that is
//   load(x)           elements x[0, kWidth), mapped
//   combine(a, b)     of packs
//   result(sum)       of one column
//   OfSums            the kind whose elements are these sums
//   kAnyOrder         whether the result does not depend on the order
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/extreme_keys.h"
#include "backends/cpu/kernels/reduce_loops.h"

namespace beeswax::cpu::BW_ISA {
namespace {

/// Sums of elements, or of their squares.
template <class A, class Src, bool kSquares>
struct SumsOf {
  using Element = Src;
  using Sum = A;
  using Pack = Register<A>;
  using OfSums = SumsOf<A, A, false>;
  static constexpr bool kAnyOrder = false;
  static constexpr int kWidth = kRegister / static_cast<int>(sizeof(A));
  BW_FN Pack load(const Src* x) {
    const Pack v = load_widened(x);
    if constexpr (kSquares) {
      return v * v;
    } else {
      return v;
    }
  }
  BW_FN Pack combine(Pack a, Pack b) { return a + b; }
  BW_FN A result(A sum) { return sum; }
};

template <class Key, bool kLargest>
struct KeysOf {
  using Element = Key;
  using Sum = Key;
  using Pack = Register<Key>;
  static constexpr int kWidth = kRegister / static_cast<int>(sizeof(Key));
  BW_FN Pack load(const Key* x) { return load_widened(x); }
  BW_FN Pack combine(Pack a, Pack b) { return better_keys<kLargest>(a, b); }
};

/// The largest or the least.
template <class A, class Src, bool kLargest>
struct ExtremesOf : KeysOf<typename ExtremeKeys<kLargest, Src>::Key, kLargest> {
  using Keys = ExtremeKeys<kLargest, Src>;
  using Element = Src;
  using Sum = typename Keys::Key;
  using OfSums = KeysOf<Sum, kLargest>;
  static constexpr bool kAnyOrder = true;
  BW_FN Register<Sum> load(const Src* x) { return Keys::keys(x); }
  BW_FN A result(Sum sum) { return static_cast<A>(Keys::number(sum)); }
};

/// Any other row of the table.
template <class Op, class A>
struct AnyOf {
  using Element = A;
  using Sum = A;
  using Pack = A;
  using OfSums = AnyOf;
  static constexpr bool kAnyOrder = false;
  static constexpr int kWidth = 1;
  BW_FN A load(const A* x) { return *x; }
  BW_FN A combine(A a, A b) { return Op::combine(a, b); }
  BW_FN A result(A sum) { return sum; }
};

/// Sums that a lane's are joined with, one after the other: the next levels of the tree.
template <class Sum>
struct Joins {
  static constexpr int kMost = 3;
  const Sum* with[kMost] = {};
  int count = 0;

  /// For sums i and on.
  Joins from(int64_t i) const {
    Joins rest = *this;
    for (int j = 0; j < count; ++j) rest.with[j] += i;
    return rest;
  }
};

/// What is requested while element i of each stream is read: element i + near, or from element `turn` on, in
/// order, i + far; into the first cache or the second. Or, where streams are neighbours, as many lines in
/// their order as are read: those `block` elements behind the first stream, which are read when the block is
/// done. Loops of four streams may have to idle beside the requests (request.h).
struct Requests {
  int64_t near = 0, turn = 0, far = 0, block = 0;
  bool first_cache = false, idles = false;
};

template <class Pack, class Sum>
BW_FN Pack pack_at(const Sum* sums) {
  Pack pack;
  __builtin_memcpy(&pack, sums, sizeof(pack));
  return pack;
}

// take_streams below, with joins or without.
template <class Kind, int kLanes_, int kRows, bool kMore, bool kJoins>
void take_joining(const typename Kind::Element* const* streams, int64_t count, typename Kind::Sum* into,
                  const Joins<typename Kind::Sum>& joins, const Requests& requests,
                  const typename Kind::Sum* more) {
  using Element = typename Kind::Element;
  using Sum = typename Kind::Sum;
  using Pack = typename Kind::Pack;
  constexpr int kStreams = kLanes_ * kRows;
  const auto step = [](const Element* const* x, const Sum* before, const Joins<Sum>& with, int64_t i, Sum* to)
                        __attribute__((always_inline)) {
                          Pack lane[kLanes_];
#pragma GCC unroll 8
                          for (int l = 0; l < kLanes_; ++l) {
                            lane[l] = Kind::load(x[l * kRows] + i);
                            if constexpr (kMore) lane[l] = Kind::combine(pack_at<Pack>(before + i), lane[l]);
#pragma GCC unroll 8
                            for (int r = 1; r < kRows; ++r)
                              lane[l] = Kind::combine(lane[l], Kind::load(x[l * kRows + r] + i));
                          }
#pragma GCC unroll 8
                          for (int half = kLanes_ / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
                            for (int l = 0; l < half; ++l) lane[l] = Kind::combine(lane[l], lane[l + half]);
                          }
                          if constexpr (kJoins)
                            for (int j = 0; j < with.count; ++j)
                              lane[0] = Kind::combine(pack_at<Pack>(with.with[j] + i), lane[0]);
                          __builtin_memcpy(to + i, &lane[0], sizeof(Pack));
                        };
  const Element* x[kStreams];
#pragma GCC unroll 8
  for (int s = 0; s < kStreams; ++s) x[s] = streams[s];
  // Whole lines at a time.
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(Element));
  int64_t i = 0;
  if constexpr (Kind::kWidth > 1) {
    for (; i + kLine <= count; i += kLine) {
      if constexpr (Kind::kAnyOrder) {
        if (requests.block != 0) {
#pragma GCC unroll 8
          for (int s = 0; s < kStreams; ++s)
            __builtin_prefetch(x[0] + requests.block + i * kStreams + s * kLine, 0, 2);
        } else if (requests.near != 0) {
#pragma GCC unroll 8
          for (int s = 0; s < kStreams; ++s) __builtin_prefetch(x[s] + i + requests.near, 0, 3);
        }
      } else if (const int64_t ahead = i + (i < requests.turn ? requests.near : requests.far); ahead != i) {
        if (requests.first_cache) {
#pragma GCC unroll 8
          for (int s = 0; s < kStreams; ++s) __builtin_prefetch(x[s] + ahead, 0, 3);
          if constexpr (kStreams == 4) {
            if (requests.idles) idle<40>();
          }
        } else {
#pragma GCC unroll 8
          for (int s = 0; s < kStreams; ++s) __builtin_prefetch(x[s] + ahead, 0, 2);
        }
      }
#pragma GCC unroll 4
      for (int64_t p = 0; p < kLine; p += Kind::kWidth) step(x, more, joins, i + p, into);
    }
  }
  for (; i + Kind::kWidth <= count; i += Kind::kWidth) step(x, more, joins, i, into);
  if constexpr (Kind::kWidth > 1) {
    if (i == count) return;
    const auto left = static_cast<size_t>(count - i);
    Element padded[kStreams][Kind::kWidth] = {};
    const Element* from[kStreams];
    for (int s = 0; s < kStreams; ++s) {
      __builtin_memcpy(padded[s], x[s] + i, left * sizeof(Element));
      from[s] = padded[s];
    }
    Sum sums[1 + Joins<Sum>::kMost][Kind::kWidth] = {};
    if constexpr (kMore) __builtin_memcpy(sums[0], more + i, left * sizeof(Sum));
    Joins<Sum> rest = joins;
    for (int j = 0; j < joins.count; ++j) {
      __builtin_memcpy(sums[1 + j], joins.with[j] + i, left * sizeof(Sum));
      rest.with[j] = sums[1 + j];
    }
    step(from, sums[0], rest, 0, sums[0]);
    __builtin_memcpy(into + i, sums[0], left * sizeof(Sum));
  }
}

/// into[i] from the elements i of kLanes_ * kRows streams, the rows of a lane after each other: rows in
/// order, then lanes by the tree, then `joins`. With kMore the rows follow, in order, what more[i] holds.
template <class Kind, int kLanes_, int kRows, bool kMore = false>
void take_streams(const typename Kind::Element* const* streams, int64_t count, typename Kind::Sum* into,
                  const Joins<typename Kind::Sum>& joins = {}, const Requests& requests = {},
                  const typename Kind::Sum* more = nullptr) {
  // Half of the lanes have none and are faster without that loop.
  if (joins.count == 0)
    return take_joining<Kind, kLanes_, kRows, kMore, false>(streams, count, into, joins, requests, more);
  take_joining<Kind, kLanes_, kRows, kMore, true>(streams, count, into, joins, requests, more);
}

/// into[i] from the elements i of `rows` rows that follow each other, in any order: rows of kPacks registers,
/// which hold the results until the end.
template <class Kind, int kPacks>
void take_short_rows(const typename Kind::Element* x, int64_t rows, typename Kind::Sum* into) {
  constexpr int64_t n = Kind::kWidth;
  typename Kind::Pack pack[kPacks];
#pragma GCC unroll 16
  for (int p = 0; p < kPacks; ++p) pack[p] = Kind::load(x + p * n);
  for (int64_t row = 1; row < rows; ++row) {
    x += kPacks * n;
#pragma GCC unroll 16
    for (int p = 0; p < kPacks; ++p) pack[p] = Kind::combine(pack[p], Kind::load(x + p * n));
  }
  __builtin_memcpy(into, pack, sizeof(pack));
}

/// Joins lanes of `count` sums each, of which there are a power of two, by the tree.
template <class Kind>
void join_lanes(const typename Kind::Sum* from, int64_t lanes, int64_t count, typename Kind::Sum* into) {
  using Sum = typename Kind::Sum;
  const auto join = [&](auto at_once) {
    constexpr int kOnce = decltype(at_once)::value;
    const Sum* x[kOnce];
    const int64_t left = lanes / kOnce;
    for (int t = 0; t < kOnce; ++t) x[t] = from + t * left * count;
    take_streams<typename Kind::OfSums, kOnce, 1>(x, left * count, into);
    from = into;
    return left;
  };
  while (lanes >= 8) lanes = join(std::integral_constant<int, 8>{});
  if (lanes == 4) lanes = join(std::integral_constant<int, 4>{});
  if (lanes == 2) join(std::integral_constant<int, 2>{});
  if (from != into) __builtin_memcpy(into, from, static_cast<size_t>(count) * sizeof(Sum));
}

template <class Kind, class A>
class ColumnChunk {
 public:
  using Element = typename Kind::Element;
  using Sum = typename Kind::Sum;

  explicit ColumnChunk(const ColumnsArgs& args)
      : args_(args),
        copies_(static_cast<A*>(args.scratch)),
        groups_(reinterpret_cast<Sum*>(copies_ + kStreams * kCopied)),
        sums_(groups_ + kGroups * args.columns) {}

  void run() const {
    if constexpr (Kind::kAnyOrder) {
      any_order();
    } else if (args_.rows < kLanes) {
      few_rows();
    } else {
      const int64_t each = args_.rows / kLanes;
      const bool even = args_.rows % kLanes == 0 && (each & (each - 1)) == 0;
      all_lanes(even ? kStreams / each : 1);
    }
    A* out = static_cast<A*>(args_.out);
    for (int64_t c = 0; c < args_.columns; ++c) out[c] = Kind::result(groups_[c]);
  }

 private:
  // `joined` lanes at a time are joined as they are read, which leaves kLanes / joined. Or, where they have
  // four rows and all lanes' sums stay near, nothing is joined before: those are four streams, and long ones.
  // Two cores of a Zen 5 add up the middle axis of [n, 256, 256] of f16 at 0.85 of the speed of reading so at
  // 50 GB/s, joining at 0.77; requesting nothing, f32 at 0.94 and 0.87, and at 80 GB/s at 0.80 and 0.70.
  void all_lanes(int64_t joined) const {
    if (joined == 2 && reads_further() && lanes_kept(args_.columns, sizeof(Sum)) == kLanes) {
      take_lanes(0, kLanes, 1, sums_, {});
      return join_lanes<Kind>(sums_, kLanes, args_.columns, groups_);
    }
    const int64_t sets = kLanes / joined / kGroups;
    const int64_t range = column_range(sets_kept(sets), args_.columns, sizeof(Sum));
    const int64_t length = range * args_.columns;
    Sum* kept = sums_ + length;
    // Sets follow each other if they are whole.
    const int64_t run = range == kGroups ? sets_kept(sets) : 1;
    for (int64_t group = 0; group < kGroups; group += range) {
      for (int64_t set = 0; set < sets; set += set < sets_kept(sets) ? run : 1) {
        Joins<Sum> joins;
        int64_t at = set;
        for (int64_t half = sets / 2; half > 0 && at >= half; half /= 2) {
          at -= half;
          joins.with[joins.count++] = kept + at * length;
        }
        take_lanes(group + set * kGroups, joins.count == 0 ? run * range : range, joined, kept + at * length,
                   joins);
      }
      __builtin_memcpy(groups_ + group * args_.columns, kept, static_cast<size_t>(length) * sizeof(Sum));
    }
    join_lanes<Kind>(groups_, kGroups, args_.columns, groups_);
  }

  // One row of results. A short one stays in registers, where one stream is as fast as memory. Where it stays
  // in the first cache beside what is read, two streams, which run on over all rows, as the processor
  // foresees them. A longer one comes from the second cache for every step, so that eight rows are taken in
  // one: neighbours, requested as they lie in memory.
  void any_order() const {
    constexpr int kMost = kRegister == 64 ? 16 : 8;  // half of the registers
    if (foresees_streams() && args_.dense && args_.widen == nullptr && args_.map == nullptr &&
        with_registers<kMost, Kind::kWidth>(args_.columns, [&](auto packs) {
          const auto* x = reinterpret_cast<const Element*>(row_at(0));
          take_short_rows<Kind, decltype(packs)::value>(x, args_.rows, groups_);
        }))
      return;
    const bool few = args_.columns * static_cast<int64_t>(sizeof(Sum)) <= kResultsKept || !args_.dense;
    const int64_t streams = few ? 2 : kStreams, steps = args_.rows / streams;
    Requests requests;
    if (!few) {
      requests.block = kStreams * args_.columns;
    } else if (args_.dense) {
      const int64_t bytes = reads_further() ? busy_read_ahead() / streams : busy_ahead();
      requests.near = bytes / static_cast<int64_t>(sizeof(Element));
    }
    for (int64_t step = 0; step < steps; ++step) {
      const char* x[kStreams] = {};
      for (int64_t s = 0; s < streams; ++s) x[s] = row_at(few ? step + s * steps : step * streams + s);
      take_rows(x, 1, streams, args_.columns, groups_, {}, requests, step > 0);
    }
    for (int64_t row = steps * streams; row < args_.rows; ++row) {
      const char* const x[1] = {row_at(row)};
      take_rows(x, 1, 1, args_.columns, groups_, {}, {}, row > 0);
    }
  }

  // Fewer rows than lanes: the tree's first level as they are read, which leaves a power of two.
  void few_rows() const {
    int64_t half = 1;
    while (2 * half < args_.rows) half *= 2;
    const int64_t pairs = args_.rows - half;
    for (int64_t row = 0; row < (pairs == 0 ? 1 : half); ++row) {
      const char* x[2] = {row_at(row), row_at(row < pairs ? row + half : row)};
      take_rows(x, row < pairs ? 2 : 1, 1, args_.columns, sums_ + row * args_.columns);
    }
    join_lanes<Kind>(sums_, half, args_.columns, groups_);
  }

  const char* row_at(int64_t row) const {
    return static_cast<const char*>(args_.x) + args_.offsets[row] * args_.bytes;
  }

  // Lanes [lane, lane + count), each of them `joined` lanes. The first ones have one row more where the rows
  // end within the lanes.
  void take_lanes(int64_t lane, int64_t count, int64_t joined, Sum* into, const Joins<Sum>& joins) const {
    const int64_t each = args_.rows / kLanes, longer = args_.rows % kLanes - lane;
    const int64_t more = longer < 0 ? 0 : longer < count ? longer : count;
    take_alike(lane, more, joined, each + 1, into, joins);
    const int64_t begin = more * args_.columns;
    take_alike(lane + more, count - more, joined, each, into + begin, joins.from(begin));
  }

  void take_alike(int64_t lane, int64_t count, int64_t joined, int64_t rows, Sum* into,
                  const Joins<Sum>& joins) const {
    const int64_t step = args_.dense && args_.centers == nullptr ? count : 1;
    for (int64_t l = 0; l < count; l += step) {
      const char* x[kStreams] = {};
      for (int64_t t = 0; t < joined; ++t)
        for (int64_t j = 0; j < rows; ++j)
          x[t * rows + j] = row_at(lane + l + t * (kLanes / joined) + j * kLanes);
      const int64_t begin = l * args_.columns;
      take_rows(x, joined, rows, step * args_.columns, into + begin, joins.from(begin),
                requests(lane + l, kLanes / joined));
    }
  }

  // Of streams of `rows` rows, at this one: what they have a little later, and near their end what they begin
  // with in the next call. Not where sums are wider than elements and many: they fill the second cache. Zen 5
  // has such long streams requested into the first, and those of other elements where they come from memory:
  // it foresees them in caches, and reads from memory, four at a time and idling beside the requests, more of
  // the speed of reading than without requests. Of two cores, before (16-bit elements: requested, but not
  // idling) and so:
  //                         at 80 GB/s                    at 50 GB/s
  //   f32 [n, 4096]         0.70 to 0.75, 0.85 to 0.90    0.82 to 0.94, 0.92 to 0.97
  //   f32 [n, 256, 256]     0.67 to 0.75, 0.81 to 0.85    0.87 to 0.89, 0.88 to 0.91
  //   f16 [n, 4096]         0.77 to 0.83, 0.81 to 0.86    0.88 to 0.89, 0.88 to 0.92
  // Short streams of f16, [n, 256, 256], are read at 0.83 to 0.89 at 50 GB/s, half as far ahead and without
  // idling, at 0.81 to 0.84 idling (at 80 GB/s 0.64 to 0.67 and 0.69 to 0.74).
  // Eight streams gain up to a tenth, axes of 100 to 448 a tenth to a third (f32 and f64).
  Requests requests(int64_t row, int64_t rows) const {
    constexpr int64_t kSize = sizeof(Element), kMostBytes = 1 << 16;
    constexpr bool kWider = kSize < static_cast<int64_t>(sizeof(Sum));
    const bool further = reads_further(), full = kWider && rows * args_.columns * kSize > kMostBytes;
    if (!args_.dense || (further ? !kWider && !args_.from_memory : full)) return {};
    const bool narrow = kWider && !full;  // whose short streams run half as far and do not idle
    const int64_t near = (!further ? 2048 : kReadAhead / (narrow ? 8 : 4)) / kSize;
    return {near,    (rows - row) * args_.columns - near,    near + args_.next - rows * args_.columns, 0,
            further, further && args_.from_memory && !narrow};
  }

  // into[i] = the elements i of the rows, or of their copies in the compute type, then `joins`; with `more`,
  // after what it holds.
  void take_rows(const char* const* x, int64_t lanes, int64_t rows, int64_t count, Sum* into,
                 const Joins<Sum>& joins = {}, const Requests& requests = {}, bool more = false) const {
    const Element* from[kStreams] = {};
    if (args_.widen == nullptr && args_.map == nullptr) {
      for (int64_t s = 0; s < lanes * rows; ++s) from[s] = reinterpret_cast<const Element*>(x[s]);
      combine_rows(from, lanes, rows, count, into, joins, requests, more);
      return;
    }
    if constexpr (__is_same(Element, A)) {
      for (int64_t begin = 0; begin < count; begin += kCopied) {
        const int64_t length = count - begin < kCopied ? count - begin : kCopied;
        for (int64_t s = 0; s < lanes * rows; ++s) from[s] = copy(x[s], begin, length, copies_ + s * kCopied);
        combine_rows(from, lanes, rows, length, into + begin, joins.from(begin), {}, more);
      }
    }
  }

  const A* copy(const char* x, int64_t begin, int64_t count, A* to) const {
    const void* from = x + begin * args_.bytes;
    if (args_.widen != nullptr) {
      args_.widen(from, to, count);
      from = to;
    }
    if (args_.map != nullptr) {
      const A* center = static_cast<const A*>(args_.centers);
      args_.map(from, count, center == nullptr ? nullptr : center + begin, center == nullptr ? 0 : 1, to);
    }
    return to;
  }

  void combine_rows(const Element* const* x, int64_t lanes, int64_t rows, int64_t count, Sum* into,
                    const Joins<Sum>& joins, const Requests& requests, bool more) const {
    if constexpr (Kind::kAnyOrder) {
      if (rows == kStreams) {
        more ? take_streams<Kind, 1, kStreams, true>(x, count, into, joins, requests, into)
             : take_streams<Kind, 1, kStreams>(x, count, into, joins, requests);
      } else if (rows == 2) {
        more ? take_streams<Kind, 1, 2, true>(x, count, into, joins, requests, into)
             : take_streams<Kind, 1, 2>(x, count, into, joins, requests);
      } else {
        more ? take_streams<Kind, 1, 1, true>(x, count, into, joins, requests, into)
             : take_streams<Kind, 1, 1>(x, count, into, joins, requests);
      }
    } else {
      if (lanes == 8) return take_streams<Kind, 8, 1>(x, count, into, joins, requests);
      if (lanes == 4) return take_streams<Kind, 4, 2>(x, count, into, joins, requests);
      if (lanes == 2 && rows == 4) return take_streams<Kind, 2, 4>(x, count, into, joins, requests);
      if (lanes == 2) return take_streams<Kind, 2, 1>(x, count, into, joins, requests);
      if (rows == 8 && requests.first_cache) {
        Sum* sums = joins.count > 0 ? sums_ : into;
        take_streams<Kind, 1, 4>(x, count, sums, {}, requests);
        return take_streams<Kind, 1, 4, true>(x + 4, count, into, joins, requests, sums);
      }
      if (rows == 8) return take_streams<Kind, 1, 8>(x, count, into, joins, requests);
      // What `into` holds is needed until the last row.
      Sum* sums = joins.count > 0 ? sums_ : into;
      int64_t j = rows < 4 ? 1 : 4;
      const auto last = [&] { return j == rows; };
      if (j == 4) {
        take_streams<Kind, 1, 4>(x, count, last() ? into : sums, last() ? joins : Joins<Sum>(), requests);
      } else {
        take_streams<Kind, 1, 1>(x, count, last() ? into : sums, last() ? joins : Joins<Sum>(), requests);
      }
      while (j < rows) {
        ++j;
        take_streams<Kind, 1, 1, true>(x + j - 1, count, last() ? into : sums, last() ? joins : Joins<Sum>(),
                                       requests, sums);
      }
    }
  }

  const ColumnsArgs& args_;
  A* copies_;
  Sum* groups_;  // of a lane in each group of eight
  Sum* sums_;    // what is kept of other sets, behind room for one that is not complete
};

template <class Kind, class A>
void columns(const ColumnsArgs& args) {
  ColumnChunk<Kind, A>(args).run();
}

}  // namespace
}  // namespace beeswax::cpu::BW_ISA
