// SPDX-License-Identifier: Apache-2.0
// arg_reduce_<bytes> over rows, arg_reduce_<bytes>_columns, arg_reduce_join_<bytes> of keys. Elements become
// unsigned keys in the order searched, NaN largest; the largest key at the lowest place wins, in whatever
// order threads meet.
//   floors: bytes of x over the memory's bandwidth; for each element seven integer operations over the ALU
//   rate, or two where dense rows hold floats of 4 bytes, and on NVIDIA's one for those of 2, of columns too
//   H100, shares of copying: rows of f32 0.97, of f16 0.91; columns of f32 0.96, of f16 0.76
#include "kernels/order.h"
#include "tables/same_text.h"

namespace beeswax::gpu {

#define BW_ARG_REDUCE(Name, method, better, ...) \
  static_assert(same_text(#better, "a > b") || same_text(#better, "a < b"), "kernels order by keys");
#include "tables/reduce.def"

/// What the bits of an element are as a number, and the integers that keys are made in.
template <class U>
struct KeyOf;
#define BW_KEY_OF(U, bits, Wide, key) \
  template <>                         \
  struct KeyOf<U> {                   \
    using Bits = bits;                \
    using Number = Wide;              \
    using Type = key;                 \
  };
BW_KEY_OF(uint8_t, int8_t, int32_t, uint32_t)
BW_KEY_OF(uint16_t, int16_t, int32_t, uint32_t)
BW_KEY_OF(uint32_t, int32_t, int32_t, uint32_t)
BW_KEY_OF(uint64_t, int64_t, int64_t, uint64_t)

template <class Key>
struct Best {
  Key key;
  uint32_t place;
  BW_DEVICE_MEMBER void meet(Key other, uint32_t at) {
    const bool better = other > key || (other == key && at < place);
    key = better ? other : key;
    place = better ? at : place;
  }
  /// The same for a place behind all that were met.
  BW_DEVICE_MEMBER void meet_next(Key other, uint32_t at) {
    const bool better = other > key;
    key = better ? other : key;
    place = better ? at : place;
  }
};

/// Floats go round the circle of integers, from -infinity up, so that every NaN lies beyond the end; both
/// zeros are at one place.
template <class U, class Key = typename KeyOf<U>::Type>
BW_DEVICE Key key_of(U bits, const ArgReduceArgs& args) {
  bits = static_cast<U>(bits ^ static_cast<U>(args.flip));
  if (args.is_float == 0) return static_cast<Key>(bits);
  constexpr U kMost = static_cast<U>(~U(0)) >> 1;
  const typename KeyOf<U>::Number number = static_cast<typename KeyOf<U>::Bits>(bits);
  const Key sign = static_cast<Key>(number >> (8 * sizeof(Key) - 1));
  const Key infinity = static_cast<Key>(args.infinity);
  const Key place = (static_cast<Key>(number) ^ (sign & kMost)) - sign + infinity;
  const Key nan = 2 * infinity + 1;
  return place < nan ? place : nan;
}

/// The best of `width` threads, a power of two; thread 0 of them has it. All threads of the block take part.
template <class Key>
BW_DEVICE void join_threads(Best<Key>& best, uint32_t width, Best<Key>* shared) {
#pragma unroll
  for (uint32_t half = kWave / 2; half > 0; half /= 2) {
    if (half >= width) continue;
    const Key key = shuffle_xor(best.key, half);
    best.meet(key, shuffle_xor(best.place, half));
  }
  if (width <= kWave) return;
  const uint32_t wave = thread() / kWave;
  if (lane() == 0) shared[wave] = best;
  barrier();
  if ((thread() & (width - 1)) != 0) return;
#pragma unroll 1
  for (uint32_t w = 1; w < width / kWave; ++w) best.meet(shared[wave + w].key, shared[wave + w].place);
}

constexpr uint32_t kArgWaves = kArgThreads / kWave;

/// The largest key of `width` threads, a power of two; all of them get it. All threads of the block take
/// part.
template <class Key>
BW_DEVICE Key largest_of_threads(Key key, uint32_t width, Key* shared) {
#pragma unroll
  for (uint32_t half = kWave / 2; half > 0; half /= 2) {
    if (half >= width) continue;
    const Key other = shuffle_xor(key, half);
    key = other > key ? other : key;
  }
  if (width <= kWave) return key;
  const uint32_t wave = thread() / kWave, first = wave & ~(width / kWave - 1);
  if (lane() == 0) shared[wave] = key;
  barrier();
#pragma unroll 1
  for (uint32_t w = 0; w < width / kWave; ++w) key = shared[first + w] > key ? shared[first + w] : key;
  return key;
}

/// f(an f16) or f(a bf16), whichever of the floats of two bytes elements are, as args.infinity tells.
template <class F>
BW_DEVICE auto with_halves(const ArgReduceArgs& args, F f) {
  constexpr uint64_t kInfinityF16 = 0x7c00;
  return args.infinity == kInfinityF16 ? f(f16()) : f(bf16());
}
template <class S, uint32_t words>
BW_DEVICE uint32_t largest_pair(const uint32_t (&in)[words], uint32_t flip) {
  uint32_t top = in[0] ^ flip;
#pragma unroll
  for (uint32_t i = 1; i < words; ++i) top = larger_pairs_or_nan<S>(top, in[i] ^ flip);
  return top;
}
/// The same numbers, but +0 where one is -0.
template <class S>
BW_DEVICE uint32_t plus_zero(uint32_t pair) {
#if BW_NVIDIA
  uint32_t out;
  if constexpr (__is_same(S, bf16)) {
    __asm__("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(pair), "r"(0x3f803f80u), "r"(0u));
  } else {
    __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(pair), "r"(0x3c003c00u), "r"(0u));
  }
  return out;
#else
  return pair;
#endif
}
inline constexpr bool kComparesHalves = kPairsOrder<f16> && kPairsOrder<bf16>;

/// The largest key of some packs.
template <class Key, class U, int n, uint32_t packs>
BW_DEVICE Key largest_key(const Pack<U, n> (&in)[packs], const ArgReduceArgs& args) {
  if constexpr (sizeof(U) == 4) {
    // A number is a comparison away from its rank among floats, its key six operations.
    if (args.is_float != 0) {
      float top = __builtin_bit_cast(float, static_cast<U>(in[0].v[0] ^ args.flip));
#pragma unroll
      for (uint32_t i = 1; i < packs * n; ++i)
        top = larger_or_nan(top, __builtin_bit_cast(float, static_cast<U>(in[i / n].v[i % n] ^ args.flip)));
      return key_of(static_cast<U>(__builtin_bit_cast(U, top) ^ args.flip), args);
    }
  }
  if constexpr (sizeof(U) == 2 && kComparesHalves) {
    if (args.is_float != 0) {
      uint32_t words[packs * n / 2];
      __builtin_memcpy(words, in, sizeof(words));
      const uint32_t flip = static_cast<uint32_t>(args.flip) * 0x10001u;
      const uint32_t top = with_halves(args,
                                       [&](auto s) __attribute__((always_inline)) {
                                         return largest_pair<decltype(s)>(words, flip);
                                       }) ^
                           flip;
      const Key low = key_of(static_cast<U>(top), args), high = key_of(static_cast<U>(top >> 16), args);
      return high > low ? high : low;
    }
  }
  Key top = key_of(in[0].v[0], args);
#pragma unroll
  for (uint32_t i = 1; i < packs * n; ++i) {
    const Key key = key_of(in[i / n].v[i % n], args);
    top = key > top ? key : top;
  }
  return top;
}

/// The best of `count` dense elements at x, the first of which is at place `begin`, for thread t of `width`:
/// its place where this thread's element is the best of all, else none. All threads of the block take part.
/// Elements before the first whole pack come first, and one by one, as those behind the last do.
template <class U, class Key>
BW_DEVICE Best<Key> search_packs(const U* x, uint32_t begin, uint32_t count, uint32_t t, uint32_t width,
                                 const ArgReduceArgs& args, Key* shared) {
  constexpr uint32_t n = 16 / sizeof(U), kAtOnce = sizeof(U) < (kComparesHalves ? 2 : 4) ? 1 : kArgPacks;
  constexpr uint32_t kNone = 0xffffffffu;
  using In = Pack<U, n>;
  const auto to_pack = (0u - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(x) / sizeof(U))) % n;
  const uint32_t head = to_pack < count ? to_pack : count;
  Best<Key> ahead = {0, kNone}, best = {0, kNone};
#pragma unroll 1
  for (uint32_t j = t; j < head; j += width) {
    const Key key = key_of(x[j], args);
    if (key > ahead.key || ahead.place == kNone) ahead = {key, begin + j};
  }
  x += head;
  begin += head;
  count -= head;
  const auto load = [&](uint32_t pack)
                        __attribute__((always_inline)) { return *reinterpret_cast<const In*>(x + pack * n); };
  const uint32_t packs = count / n;
  // Which packs hold the largest key is known at once, where it is among them is sought at the end.
  uint32_t i = t, from = t;
#pragma unroll 1
  for (; i < packs; i += kAtOnce * width) {
    In in[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) {
      const uint32_t pack = i + k * width;
      in[k] = load(pack < packs ? pack : i);  // one that is there once more changes nothing
    }
    const Key top = largest_key<Key>(in, args);
    from = top > best.key ? i : from;
    best.key = top > best.key ? top : best.key;
  }
#pragma unroll 1
  for (uint32_t j = packs * n + t; j < count; j += width) {
    const Key key = key_of(x[j], args);
    if (key > best.key || (best.place == kNone && t >= packs)) best = {key, begin + j};
  }
  if (ahead.place != kNone && ahead.key >= best.key) best = ahead;
  if (largest_of_threads(best.key, width, shared) != best.key) return {0, kNone};
  if (best.place != kNone) return best;
#pragma unroll 1
  for (; from < packs; from += width) {
    const In in = load(from);
    uint32_t first = n;
#pragma unroll
    for (uint32_t j = n; j-- > 0;) first = key_of(in.v[j], args) == best.key ? j : first;
    if (first < n) return {best.key, begin + from * n + first};
  }
  return {0, kNone};  // it has no elements
}

template <class U, class Key = typename KeyOf<U>::Type>
BW_DEVICE void search_rows(const ArgReduceArgs& args, Best<Key>* shared, Key* shared_keys) {
  const uint32_t width = 1u << args.width_log2;
  const uint32_t unit =
      block() * (static_cast<uint32_t>(kArgThreads) >> args.width_log2) + (thread() >> args.width_log2);
  const uint32_t t = thread() & (width - 1), row = divide(unit, args.pieces);
  const uint32_t begin = (unit - row * args.pieces.divisor) * args.piece, left = args.n - begin;
  const uint32_t count = unit >= args.units ? 0 : left < args.piece ? left : args.piece;
  const U* x = static_cast<const U*>(args.x) + (count == 0 ? 0 : row_offset(args.outer, row));
  Best<Key> best = {0, 0xffffffffu};  // no key is less than 0, so the first place counts from the start
  if (args.packs != 0) {
    best = search_packs(x + begin, begin, count, t, width, args, shared_keys);
  } else if (count != 0) {
    constexpr uint32_t kAtOnce = 8;
    uint32_t i = t;
    best.place = begin + i;
#pragma unroll 1
    for (; i + (kAtOnce - 1) * width < count; i += kAtOnce * width) {
      U in[kAtOnce];
#pragma unroll
      for (uint32_t k = 0; k < kAtOnce; ++k) in[k] = x[offset_in_row(args.reduced, begin, i + k * width)];
#pragma unroll
      for (uint32_t k = 0; k < kAtOnce; ++k) best.meet_next(key_of(in[k], args), begin + i + k * width);
    }
#pragma unroll 1
    for (; i < count; i += width)
      best.meet_next(key_of(x[offset_in_row(args.reduced, begin, i)], args), begin + i);
  }
  join_threads(best, width, shared);
  if (unit >= args.units || (thread() & (width - 1)) != 0) return;
  args.places[unit] = best.place;
  if (args.keys != nullptr) static_cast<Key*>(args.keys)[unit] = best.key;
}

/// Two neighbouring columns of floats of two bytes: the best of their elements at i and those kArgParts apart
/// from there, in whole groups of kAtOnce, the first of which is at x. i becomes where the groups end.
template <uint32_t kAtOnce, class Key>
BW_DEVICE void search_pairs(const uint16_t* x, int64_t step, uint32_t begin, uint32_t& i, uint32_t count,
                            const ArgReduceArgs& args, Best<Key> (&best)[2]) {
  constexpr uint32_t kGroup = kAtOnce * kArgParts;
  if (i + (kGroup - kArgParts) >= count) return;
  const uint16_t* const start = x;
  const uint32_t flip = static_cast<uint32_t>(args.flip) * 0x10001u, first = i;
  // Which groups hold the largest ones is known at once, where they are in there is sought at the end.
  uint32_t from[2] = {i, i};
  const uint32_t top =
      with_halves(args,
                  [&](auto s) __attribute__((always_inline)) {
                    using S = decltype(s);
                    uint32_t largest = 0;
#pragma unroll 1
                    for (; i + (kGroup - kArgParts) < count; i += kGroup, x += kAtOnce * step) {
                      uint32_t in[kAtOnce];
#pragma unroll
                      for (uint32_t k = 0; k < kAtOnce; ++k)
                        in[k] = *reinterpret_cast<const uint32_t*>(x + k * step);
                      uint32_t next = plus_zero<S>(largest_pair<S>(in, flip));
                      next = i == first ? next : larger_pairs_or_nan<S>(largest, next);
                      const uint32_t changed = next ^ largest;
                      from[0] = (changed & 0xffffu) != 0 ? i : from[0];
                      from[1] = (changed >> 16) != 0 ? i : from[1];
                      largest = next;
                    }
                    return largest;
                  }) ^
      flip;
#pragma unroll
  for (uint32_t c = 0; c < 2; ++c) {
    const Key key = key_of(static_cast<uint16_t>(top >> (16 * c)), args);
    const uint16_t* at = start + static_cast<int64_t>((from[c] - first) / kArgParts) * step + c;
    uint16_t in[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) in[k] = at[k * step];
    uint32_t place = 0;
#pragma unroll
    for (uint32_t k = kAtOnce; k-- > 0;) place = key_of(in[k], args) == key ? k : place;
    best[c] = {key, begin + from[c] + place * kArgParts};
  }
}

/// A thread has `own` neighbouring columns.
template <class U, uint32_t own, class Key = typename KeyOf<U>::Type>
BW_DEVICE void search_columns(const ArgReduceArgs& args, Best<Key> (*shared)[kColumnThreads]) {
  uint32_t unit = block();
  const uint32_t tile = unit % args.tiles;
  unit /= args.tiles;
  const uint32_t across = thread() % kColumnThreads;
  const uint32_t part = thread() / kColumnThreads;
  const uint32_t column = (tile * kColumnThreads + across) * own;
  const uint32_t row = divide(unit, args.pieces);
  const uint32_t piece = unit - row * args.pieces.divisor;
  const uint32_t begin = piece * args.piece;
  const uint32_t count = args.n - begin < args.piece ? args.n - begin : args.piece;
  using In = Pack<U, static_cast<int>(own)>;
  Best<Key> best[own];
#pragma unroll
  for (Best<Key>& b : best) b = {0, begin + part};
  const auto meet = [&](const In& in, uint32_t place) __attribute__((always_inline)) {
#pragma unroll
    for (uint32_t c = 0; c < own; ++c) best[c].meet_next(key_of(in.v[c], args), place);
  };
  if (column < args.columns) {
    const U* x = static_cast<const U*>(args.x) + row_offset(args.outer, row) + column;
    uint32_t i = part;
    if (args.reduced.rank == 1) {
      // Many loads under way: compilers would have one at a time.
      constexpr uint32_t kAtOnce = sizeof(U) < 4 ? 16 : 4;
      const int64_t step = args.reduced.strides[0] * kArgParts;
      const U* at = x + offset_in_row(args.reduced, begin, i);
      if constexpr (own == 2 && sizeof(U) == 2 && kComparesHalves)
        if (args.is_float != 0) search_pairs<kAtOnce>(at, step, begin, i, count, args, best);
#pragma unroll 1
      for (; i + (kAtOnce - 1) * kArgParts < count; i += kAtOnce * kArgParts, at += kAtOnce * step) {
        In in[kAtOnce];
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; ++k) in[k] = *reinterpret_cast<const In*>(at + k * step);
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; ++k) meet(in[k], begin + i + k * kArgParts);
      }
    }
#pragma unroll 1
    for (; i < count; i += kArgParts)
      meet(*reinterpret_cast<const In*>(x + offset_in_row(args.reduced, begin, i)), begin + i);
  }
#pragma unroll
  for (uint32_t c = 0; c < own; ++c) shared[part * own + c][across] = best[c];
  barrier();
  if (part >= own || column >= args.columns) return;
  // As many parts as there are columns have one of them each.
  Best<Key> all = shared[part][across];
#pragma unroll 1
  for (uint32_t p = 1; p < kArgParts; ++p) {
    const Best<Key> other = shared[p * own + part][across];
    all.meet(other.key, other.place);
  }
  const int64_t to = (static_cast<int64_t>(row) * args.columns + column + part) * args.pieces.divisor + piece;
  args.places[to] = all.place;
  if (args.keys != nullptr) static_cast<Key*>(args.keys)[to] = all.key;
}

template <class Key>
BW_DEVICE void join_pieces(const ArgJoinArgs& args, Best<Key>* shared) {
  const uint32_t width = 1u << args.width_log2;
  const uint32_t row =
      block() * (static_cast<uint32_t>(kArgThreads) >> args.width_log2) + (thread() >> args.width_log2);
  Best<Key> best = {0, 0xffffffffu};
  if (row < args.rows) {
    const int64_t first = static_cast<int64_t>(row) * args.pieces;
    const Key* keys = static_cast<const Key*>(args.keys) + first;
    const uint32_t* places = args.places + first;
#pragma unroll 1
    for (uint32_t i = thread() & (width - 1); i < args.pieces; i += width) best.meet(keys[i], places[i]);
  }
  join_threads(best, width, shared);
  if (row < args.rows && (thread() & (width - 1)) == 0) args.y[row] = best.place;
}

#define BW_ARG_REDUCE_KERNEL(U, bytes)                                             \
  BW_KERNEL_SIDE_BY_SIDE(kArgThreads, blocks_side_by_side(bytes))                  \
  arg_reduce_##bytes(ArgReduceArgs args) {                                         \
    BW_SHARED static Best<KeyOf<U>::Type> shared[kArgWaves];                       \
    BW_SHARED static KeyOf<U>::Type keys[kArgWaves];                               \
    search_rows<U>(args, shared, keys);                                            \
  }                                                                                \
  BW_KERNEL(kArgThreads) arg_reduce_##bytes##_columns(ArgReduceArgs args) {        \
    constexpr uint32_t own = own_arg_columns(bytes);                               \
    BW_SHARED static Best<KeyOf<U>::Type> shared[kArgParts * own][kColumnThreads]; \
    if (own > 1 && args.packs != 0) {                                              \
      search_columns<U, own>(args, shared);                                        \
    } else {                                                                       \
      search_columns<U, 1>(args, shared);                                          \
    }                                                                              \
  }
BW_ARG_REDUCE_KERNEL(uint8_t, 1)
BW_ARG_REDUCE_KERNEL(uint16_t, 2)
BW_ARG_REDUCE_KERNEL(uint32_t, 4)
BW_ARG_REDUCE_KERNEL(uint64_t, 8)

#define BW_ARG_JOIN_KERNEL(Key, bytes)                               \
  BW_KERNEL(kArgThreads) arg_reduce_join_##bytes(ArgJoinArgs args) { \
    BW_SHARED static Best<Key> shared[kArgWaves];                    \
    join_pieces<Key>(args, shared);                                  \
  }
BW_ARG_JOIN_KERNEL(uint32_t, 4)
BW_ARG_JOIN_KERNEL(uint64_t, 8)

}  // namespace beeswax::gpu
