// SPDX-License-Identifier: Apache-2.0
// Elements become integer keys in their own width, and a register of places, as wide, goes along with the
// register of the best keys: no element is widened, and nothing is looked for again.
#include "backends/cpu/kernels/arg_reduce.h"

#include <type_traits>

#include "backends/cpu/kernels/extreme_keys.h"
#include "core/math/math.h"

namespace beeswax::cpu::BW_ISA {
namespace {

#define BW_ARG_REDUCE(Name, method, better_, ...)                               \
  struct Name##Op {                                                             \
    static constexpr Extreme kExtreme = extreme_of(#better_, "a > b", "a < b"); \
    template <class T>                                                          \
    BW_FN bool better(T a, T b) {                                               \
      return (better_) || (m::is_nan(a) && !m::is_nan(b));                      \
    }                                                                           \
  };
#include "tables/reduce.def"

// What a loop works on: registers of keys and of places; better() says where a comes before b, and best() is
// the one of them that does: a maximum rather than a choice, so that nothing waits for the comparison.
template <class T, bool kLargest>
struct KeyPlaces {
  using Element = T;
  using Key = typename ExtremeKeys<kLargest, T>::Key;
  using Pack = Register<Key>;
  using Place = std::make_unsigned_t<Key>;
  using Places = Register<Place>;
  static constexpr int kWidth = kRegister / static_cast<int>(sizeof(Key));
  BW_FN Pack load(const T* x) { return ExtremeKeys<kLargest, T>::place_keys(x); }
  /// What no element comes after: the first ones are not loaded twice, for the reason that extreme() gives.
  BW_FN Pack start(const T*) { return Pack{} + kWorstKey<kLargest, Key>; }
  template <class V>
  BW_FN auto better(V a, V b) {
    if constexpr (kLargest) {
      return a > b;
    } else {
      return a < b;
    }
  }
  BW_FN Pack best(Pack a, Pack b) { return better_keys<kLargest>(a, b); }
};

// Any other rule of the table: an element at a time.
template <class Op, class T, class A>
struct AnyPlaces {
  using Element = T;
  using Key = A;
  using Pack = A;
  using Place = uint32_t;
  using Places = uint32_t;
  static constexpr int kWidth = 1;
  BW_FN A load(const T* x) { return static_cast<A>(*x); }
  BW_FN A start(const T* x) { return load(x); }
  BW_FN bool better(A a, A b) { return Op::better(a, b); }
  BW_FN A best(A a, A b) { return Op::better(a, b) ? a : b; }
};

// Elements left of a row, and as many copies of the first as fill a register.
template <class Kind>
BW_FN typename Kind::Pack load_some(const typename Kind::Element* x, int64_t count) {
  typename Kind::Element padded[Kind::kWidth];
  for (int l = 0; l < Kind::kWidth; ++l) padded[l] = x[l < count ? l : 0];
  return Kind::load(padded);
}

// The best of the first `count` elements, a multiple of kWidth: in each lane the key and how many registers
// come before. A function of its own, so that its registers stay registers.
template <class Kind>
__attribute__((noinline)) void scan(const typename Kind::Element* x, int64_t count, typename Kind::Key* key,
                                    typename Kind::Place* place) {
  using Places = typename Kind::Places;
  const int64_t ahead = busy_read_ahead();
  constexpr int64_t n = Kind::kWidth;
  const int64_t registers = count / n;
  typename Kind::Pack keys = Kind::start(x);
  Places places{};
#pragma GCC unroll 1
  for (int64_t i = 0; i < registers; ++i) {
    if (n > 1) request_lines<n>(x + i * n, ahead);
    const typename Kind::Pack other = Kind::load(x + i * n);
    const auto better = Kind::better(other, keys);
    keys = Kind::best(other, keys);
    places = better ? Places{} + static_cast<typename Kind::Place>(i) : places;
  }
  __builtin_memcpy(key, &keys, sizeof(keys));
  __builtin_memcpy(place, &places, sizeof(places));
}

template <class Kind>
void row(const void* from, int64_t count, int64_t first, bool start, void* best, uint32_t* at) {
  using Key = typename Kind::Key;
  using Place = typename Kind::Place;
  constexpr int n = Kind::kWidth;
  constexpr int64_t kMost = int64_t{n} << (sizeof(Place) < 2 ? 8 : 16);  // registers that places can count
  const auto* x = static_cast<const typename Kind::Element*>(from);
  Key found = Key();
  if (!start) __builtin_memcpy(&found, best, sizeof(Key));
  Key key[n];
  Place place[n] = {};
  for (int64_t begin = 0; begin < count;) {
    int64_t length = (count - begin < kMost ? count - begin : kMost) / n * n;
    if (length > 0) {
      scan<Kind>(x + begin, length, key, place);
    } else {
      length = count - begin;
      const typename Kind::Pack keys = load_some<Kind>(x + begin, length);
      __builtin_memcpy(key, &keys, sizeof(keys));
      for (int l = 0; l < n; ++l) place[l] = 0;
    }
    Key top = key[0];
    for (int l = 0; l < n; ++l) top = Kind::better(key[l], top) ? key[l] : top;
    if (start || Kind::better(top, found)) {
      // Of the lanes that have it, the one where it comes first.
      uint32_t here[n], index = UINT32_MAX;
      for (int l = 0; l < n; ++l) {
        const uint32_t mask = Kind::better(top, key[l]) ? UINT32_MAX : 0;
        here[l] = (static_cast<uint32_t>(place[l]) * n + static_cast<uint32_t>(l)) | mask;
      }
      for (int l = 0; l < n; ++l) index = here[l] < index ? here[l] : index;
      found = top;
      *at = static_cast<uint32_t>(first + begin) + index;
      start = false;
    }
    begin += length;
  }
  __builtin_memcpy(best, &found, sizeof(Key));
}

// Where what comes later is requested: nowhere, kReadAhead bytes ahead into the first cache, or 2 KiB of each
// stream into the second.
enum class Into { None, First, Second };

// The best of kStreams rows for n columns from c on, `apart` rows from each other, against what was found.
template <class Kind, int kStreams, Into kInto>
class RowStreams {
 public:
  using Element = typename Kind::Element;
  using Key = typename Kind::Key;
  using Place = typename Kind::Place;
  using Pack = typename Kind::Pack;
  using Places = typename Kind::Places;

  BW_FN void take(const Element* const* streams, const Element* const* ahead, int64_t columns, int64_t row,
                  int64_t apart, Key* best, Place* at) {
    constexpr int64_t n = Kind::kWidth;
    const Element *x[kStreams], *later[kStreams];
    Places places[kStreams];
#pragma GCC unroll 8
    for (int s = 0; s < kStreams; ++s) {
      x[s] = streams[s];
      later[s] = ahead[s];
      places[s] = Places{} + static_cast<Place>(row + s * apart);
    }
    int64_t c = 0;
    for (; c + n <= columns; c += n) {
      if constexpr (kInto != Into::None) {
#pragma GCC unroll 8
        for (int s = 0; s < kStreams; ++s) __builtin_prefetch(later[s] + c, 0, kInto == Into::First ? 3 : 2);
      }
      step(x, places, c, best + c, at + c);
    }
    if (n == 1 || c == columns) return;
    if (columns >= n) {  // some columns once more, which changes nothing
      c = columns - n;
      step(x, places, c, best + c, at + c);
      return;
    }
    Element padded[kStreams][n] = {};
    const Element* from[kStreams];
    Key some_best[n] = {};
    Place some_at[n] = {};
    const auto count = static_cast<size_t>(columns);
    for (int s = 0; s < kStreams; ++s) {
      __builtin_memcpy(padded[s], x[s], count * sizeof(Element));
      from[s] = padded[s];
    }
    __builtin_memcpy(some_best, best, count * sizeof(Key));
    __builtin_memcpy(some_at, at, count * sizeof(Place));
    step(from, places, 0, some_best, some_at);
    __builtin_memcpy(best, some_best, count * sizeof(Key));
    __builtin_memcpy(at, some_at, count * sizeof(Place));
  }

 private:
  BW_FN void step(const Element* const* x, const Places* places, int64_t c, Key* best, Place* at) {
    Pack keys = Kind::load(x[0] + c);
    Places place = places[0];
#pragma GCC unroll 8
    for (int s = 1; s < kStreams; ++s) {
      const Pack other = Kind::load(x[s] + c);
      const auto better = Kind::better(other, keys);
      keys = Kind::best(other, keys);
      place = better ? places[s] : place;
    }
    Pack found;
    Places found_at;
    __builtin_memcpy(&found, best, sizeof(found));
    __builtin_memcpy(&found_at, at, sizeof(found_at));
    const auto worse = Kind::better(found, keys);
    const auto better = Kind::better(keys, found) | ((worse == 0) & (place < found_at));
    keys = Kind::best(keys, found);
    place = better ? place : found_at;
    __builtin_memcpy(best, &keys, sizeof(keys));
    __builtin_memcpy(at, &place, sizeof(place));
  }
};

// Requests what each stream has a little later, and near its end what it begins with in the next call.
template <class Kind, int kStreams, Into kInto = Into::Second>
void take_rows(const ArgColumnsArgs& args, int64_t begin, int64_t steps, typename Kind::Key* best,
               typename Kind::Place* at) {
  using Element = typename Kind::Element;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Element));
  const auto* x = static_cast<const Element*>(args.x);
  const int64_t near = (kInto == Into::First ? kReadAhead / kStreams : 2048) / kSize;
  // The first cache has no room for a row of each stream: there it is the next elements, whatever their row.
  const bool next_elements = kInto == Into::First && args.dense;
  const int64_t rows_ahead = 1 + (near - 1) / args.columns;
  for (int64_t r = 0; r < steps; ++r) {
    const Element *from[kStreams], *ahead[kStreams];
    const int64_t later = r + rows_ahead;
    const int64_t next = later < steps ? later : later % steps;
    for (int64_t s = 0; s < kStreams; ++s) {
      from[s] = x + args.offsets[begin + r + s * steps];
      ahead[s] = next_elements ? from[s] + near
                               : x + args.offsets[begin + next + s * steps] + (later < steps ? 0 : args.next);
    }
    RowStreams<Kind, kStreams, kInto>::take(from, ahead, args.columns, begin + r, steps, best, at);
  }
}

// The rows' indices from their places.
template <class Place>
void finish(const ArgColumnsArgs& args, const Place* at) {
  for (int64_t c = 0; c < args.columns; ++c)
    args.at[c] = static_cast<uint32_t>(args.first) + static_cast<uint32_t>(at[c]);
}

// Rows of kPacks registers that follow each other: what is found stays in registers until the end.
template <class Kind, int kPacks>
void take_short_rows(const typename Kind::Element* x, int64_t rows, typename Kind::Key* best,
                     typename Kind::Place* at) {
  constexpr int64_t n = Kind::kWidth;
  typename Kind::Pack keys[kPacks];
  typename Kind::Places places[kPacks] = {}, place = {};
#pragma GCC unroll 8
  for (int p = 0; p < kPacks; ++p) keys[p] = Kind::load(x + p * n);
  for (int64_t row = 1; row < rows; ++row) {
    x += kPacks * n;
    place += 1;
#pragma GCC unroll 8
    for (int p = 0; p < kPacks; ++p) {
      const typename Kind::Pack other = Kind::load(x + p * n);
      const auto better = Kind::better(other, keys[p]);
      keys[p] = Kind::best(other, keys[p]);
      places[p] = better ? place : places[p];
    }
  }
  __builtin_memcpy(best, keys, sizeof(keys));
  __builtin_memcpy(at, places, sizeof(places));
}

// Short rows, where one stream is as fast as memory; else streams of rows that follow each other, as the
// processor foresees them if they are long, and the rows left.
template <class Kind>
void columns(const ArgColumnsArgs& args) {
  using Key = typename Kind::Key;
  using Place = typename Kind::Place;
  const auto* x = static_cast<const typename Kind::Element*>(args.x);
  Key* best = static_cast<Key*>(args.best);
  Place* at = static_cast<Place*>(args.scratch);
  if constexpr (Kind::kWidth > 1) {
    // Two registers for each of a row's, and some for the work.
    constexpr int kMost = kRegister == 64 ? 8 : 4;
    if (foresees_streams() && args.dense &&
        with_registers<kMost, Kind::kWidth>(args.columns, [&](auto packs) {
          take_short_rows<Kind, decltype(packs)::value>(x + args.offsets[0], args.rows, best, at);
        }))
      return finish(args, at);
  }
  // The first row starts: it is not better than itself.
  for (int64_t c = 0; c < args.columns; c += Kind::kWidth) {
    const int64_t left = args.columns - c < Kind::kWidth ? args.columns - c : Kind::kWidth;
    const auto* from = x + args.offsets[0] + c;
    const auto keys = left < Kind::kWidth ? load_some<Kind>(from, left) : Kind::load(from);
    __builtin_memcpy(best + c, &keys, static_cast<size_t>(left) * sizeof(Key));
  }
  for (int64_t c = 0; c < args.columns; ++c) at[c] = 0;
  // Few streams, which many processors foresee by themselves, where what is found so far stays near enough
  // beside them: two, or four where requests run further ahead and comparing is not the most of the work.
  const int64_t found = args.columns * static_cast<int64_t>(2 * sizeof(Key));
  const bool foreseen = busy_ahead() == 0;
  const bool few = found <= (sizeof(Key) >= 4 ? kResultsKept : foreseen ? kShortPlacesKept : 0);
  int64_t done = 0;
  const auto take = [&](auto streams, auto into) {
    constexpr int kStreams = decltype(streams)::value;
    done = args.rows / kStreams * kStreams;
    take_rows<Kind, kStreams, decltype(into)::value>(args, 0, done / kStreams, best, at);
  };
  using std::integral_constant;
  if (few && foreseen && reads_further()) {
    take(integral_constant<int, sizeof(Key) >= 4 ? 4 : 2>(), integral_constant<Into, Into::First>());
  } else if (few) {
    foreseen ? take(integral_constant<int, 2>(), integral_constant<Into, Into::None>())
             : take(integral_constant<int, 2>(), integral_constant<Into, Into::Second>());
  } else {
    take(integral_constant<int, 8>(), integral_constant<Into, Into::Second>());
  }
  take_rows<Kind, 1>(args, done, args.rows - done, best, at);
  finish(args, at);
}

template <class Kind>
void join(const void* other, const uint32_t* other_at, int64_t count, void* best, uint32_t* at) {
  const auto* x = static_cast<const typename Kind::Key*>(other);
  auto* found = static_cast<typename Kind::Key*>(best);
  for (int64_t i = 0; i < count; ++i) {
    const bool better = Kind::better(x[i], found[i]);
    found[i] = better ? x[i] : found[i];
    at[i] = better ? other_at[i] : at[i];
  }
}

template <class Op, class A, class T>
constexpr ArgReduceLoops loops() {
  if constexpr (Op::kExtreme != Extreme::None) {
    using Kind = KeyPlaces<T, Op::kExtreme == Extreme::Largest>;
    return {row<Kind>, columns<Kind>, join<Kind>};
  } else {
    using Kind = AnyPlaces<Op, T, A>;
    return {row<Kind>, columns<Kind>, join<Kind>};
  }
}

template <class Op>
constexpr void fill(ArgReduceLoops* table) {
#define BW_DTYPE(Name, name, ctype, compute, ...) \
  table[static_cast<size_t>(DType::Name)] = loops<Op, compute, ctype>();
#include "tables/dtypes.def"
}

constexpr ArgReduceKernels make_table() {
  ArgReduceKernels table{};
#define BW_ARG_REDUCE(Name, ...) fill<Name##Op>(table.loops[static_cast<size_t>(ArgReduceOp::Name)]);
#include "tables/reduce.def"
  return table;
}

}  // namespace

const ArgReduceKernels& arg_reduce_kernels() {
  static constexpr ArgReduceKernels kTable = make_table();
  return kTable;
}

}  // namespace beeswax::cpu::BW_ISA
