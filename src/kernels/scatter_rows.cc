// SPDX-License-Identifier: Apache-2.0
// scatter_add where rows are short: a block has whole rows in shared memory, so nothing is sorted in device
// memory. Contributions of floats are listed by destination, in any order; then each list is put into order
// and summed as documented (docs/numerics.md). Integers wrap, so their sums are atomic.
//   floors: bytes of ids and x once, of y twice, over the bandwidth of memory; of instructions of a wave, for
//   each kWave contributions about 45, for each kWave destinations about 80; two atomics, 8 accesses of
//   shared memory for a contribution alone, of which the atomic, two writes and the read of its value fall
//   on banks at random
#include "kernels/elements.h"
#include "kernels/ids.h"
#include "kernels/scatter_rows_args.h"
#include "kernels/wave.h"

namespace beeswax::gpu {

extern BW_SHARED __attribute__((aligned(16))) uint32_t rows_shared[];

constexpr uint32_t kNone = ~uint32_t{0};
constexpr uint32_t kGroup = 16;  // threads that sum a list of as many contributions
constexpr uint32_t kFew = 4;     // contributions that one thread sums
constexpr uint32_t kLanes = 64;  // of the documented order
constexpr uint32_t kChunk = 512;

using FourWords = uint32_t __attribute__((vector_size(16)));

/// The kinds of elements that are computed in A; fn is called with an element of the kind.
template <class A, class Fn>
BW_DEVICE void with_element(uint32_t kind, Fn fn) {
  if constexpr (__is_same(A, float)) {
    if (kind == kRowsBF16) return fn(bf16());
    if (kind == kRowsF16) return fn(f16());
    if (kind == kRowsF8) return fn(f8e4m3());
    fn(float());
  } else if constexpr (__is_same(A, uint32_t)) {
    if (kind == 1) return fn(uint8_t());
    if (kind == 2) return fn(uint16_t());
    fn(uint32_t());
  } else {
    fn(A());
  }
}

/// What can be added to any number of A and leaves it as it is.
template <class A>
BW_DEVICE A nothing() {
  if constexpr (__is_integral(A))
    return 0;
  else
    return -A(0);
}

template <class A, uint32_t threads>
struct RowsBlock {
  static constexpr uint32_t kWaves = threads / kWave;
  static constexpr uint32_t kSorters = kWaves < kRowsSorters ? kWaves : kRowsSorters;
  const ScatterRowsArgs& args;
  uint32_t rows;           // of this block
  uint32_t count, places;  // contributions and destinations of in_block rows

  BW_DEVICE_MEMBER explicit RowsBlock(const ScatterRowsArgs& arguments) : args(arguments) {
    const uint32_t first = block() * args.in_block;
    rows = args.rows - first < args.in_block ? args.rows - first : args.in_block;
    count = args.in_block * args.length;
    places = args.in_block * args.size;
    if (thread() < rows) {
      int64_t offset[4];
      offsets_at(args.walk, first + thread(), offset);
#pragma unroll
      for (int k = 0; k < 4; ++k) begins()[thread() * 4 + static_cast<uint32_t>(k)] = offset[k];
    }
  }

  template <class T>
  BW_DEVICE_MEMBER T* shared(uint32_t byte) const {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(rows_shared) + byte);
  }
  BW_DEVICE_MEMBER uint32_t* sums() const { return rows_shared; }         // [2][16]
  BW_DEVICE_MEMBER uint32_t* queued() const { return rows_shared + 32; }  // lists for groups, for waves
  BW_DEVICE_MEMBER int64_t* begins() const { return shared<int64_t>(160); }
  BW_DEVICE_MEMBER A* values() const { return shared<A>(args.memory.values); }
  /// By destination: how many contributions; later where its list begins, with their number in the high half.
  BW_DEVICE_MEMBER uint32_t* at() const { return shared<uint32_t>(args.memory.at); }
  BW_DEVICE_MEMBER uint16_t* lists() const { return shared<uint16_t>(args.memory.lists); }
  BW_DEVICE_MEMBER uint16_t* queue() const { return shared<uint16_t>(args.memory.queue); }

  /// The row and the position along the axis of a number.
  BW_DEVICE_MEMBER void find(uint32_t number, const Divisor& by, uint32_t* row, uint32_t* position) const {
    const uint32_t quotient = divide(number, by), rest = number - quotient * by.divisor;
    *row = args.across != 0 ? rest : quotient;
    *position = args.across != 0 ? quotient : rest;
  }
  BW_DEVICE_MEMBER int64_t offset(int operand, uint32_t row, uint32_t position) const {
    return begins()[row * 4 + static_cast<uint32_t>(operand)] + position * args.strides[operand];
  }

  /// take(k, number, destination or kNone, value) for each contribution of this thread; reports bad ids.
  template <class Take>
  BW_DEVICE_MEMBER void each_contribution(Take take) const {
    constexpr int n = 4;
    int64_t bad = 0, bad_place = -1;
#pragma unroll
    for (int part = 0; part < kRowsItems; part += n) {
      if (static_cast<uint32_t>(part) * threads >= count) break;
      int64_t id_at[n], from[n], id[n];
      uint32_t row[n], position[n];
      A value[n];
      const auto number = [&](int k) __attribute__((always_inline)) {
        return static_cast<uint32_t>(part + k) * threads + thread();
      };
#pragma unroll
      for (int k = 0; k < n; ++k) {
        find(number(k), args.by_length, &row[k], &position[k]);
        const bool there = number(k) < count && row[k] < rows;  // else the first, which is not taken
        if (!there) position[k] = kNone;
        id_at[k] = offset(0, there ? row[k] : 0, there ? position[k] : 0);
        from[k] = offset(1, there ? row[k] : 0, there ? position[k] : 0);
      }
      read_ids(args.ids, id_at, id);
      with_element<A>(args.kind, [&](auto element) __attribute__((always_inline)) {
        const auto* x = static_cast<const decltype(element)*>(args.x);
#pragma unroll
        for (int k = 0; k < n; ++k) value[k] = static_cast<A>(widen(x[from[k]]));
      });
#pragma unroll
      for (int k = 0; k < n; ++k) {
        if (position[k] == kNone) continue;
        const bool legal = static_cast<uint64_t>(id[k]) < static_cast<uint64_t>(args.ids.size);
        if (!legal && id[k] != args.ids.skip) {
          bad = id[k];
          bad_place = args.ids.first + offset(3, row[k], position[k]);
        }
        const uint32_t place = static_cast<uint32_t>(id[k]) * args.place_step + row[k] * args.row_step;
        take(part + k, number(k), legal ? place : kNone, value[k]);
      }
    }
    if (bad_place >= 0) report(args.ids.report, kErrorIndexOutOfRange, bad, bad_place, args.ids.size);
  }

  BW_DEVICE_MEMBER int64_t destination(uint32_t place) const {
    uint32_t row, position;
    find(place, args.by_size, &row, &position);
    return offset(2, row, position);
  }
  BW_DEVICE_MEMBER A load(int64_t to) const {
    A value;
    with_element<A>(args.kind, [&](auto element) __attribute__((always_inline)) {
      value = static_cast<A>(widen(static_cast<decltype(element)*>(args.y)[to]));
    });
    return value;
  }
  BW_DEVICE_MEMBER void store(int64_t to, A value) const {
    with_element<A>(args.kind, [&](auto element) __attribute__((always_inline)) {
      using T = decltype(element);
      if constexpr (__is_integral(T))
        static_cast<T*>(args.y)[to] = static_cast<T>(value);
      else
        static_cast<T*>(args.y)[to] = narrow<T>(value);
    });
  }

  // Counts become beginnings of lists.
  BW_DEVICE_MEMBER void scan() const {
    const uint32_t wave = thread() / kWave;
    uint32_t total = 0, half = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < places; first += 4 * threads, half ^= 16) {
      auto* four = reinterpret_cast<FourWords*>(at() + first) + thread();
      const bool mine = first + 4 * thread() < places;
      FourWords counts{};
      if (mine) counts = *four;
      const uint32_t own = counts[0] + counts[1] + counts[2] + counts[3];
      uint32_t sum = own;
#pragma unroll
      for (uint32_t d = 1; d < kWave; d *= 2) {
        const uint32_t other = shuffle(sum, lane() >= d ? lane() - d : lane());
        if (lane() >= d) sum += other;
      }
      if (lane() == kWave - 1) sums()[half + wave] = sum;
      barrier();
      uint32_t begin = total + sum - own;
#pragma unroll
      for (uint32_t w = 0; w < kWaves; ++w) {
        const uint32_t of_wave = sums()[half + w];
        if (w < wave) begin += of_wave;
        total += of_wave;
      }
      if (!mine) continue;
      FourWords out;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        out[k] = begin | counts[k] << 16;
        begin += counts[k];
      }
      *four = out;
    }
    barrier();
  }

  // Lists of one thread; longer ones are queued.
  BW_DEVICE_MEMBER void add_few(uint32_t place) const {
    const uint32_t word = at()[place], length = word >> 16;
    if (length == 0) return;
    if (length > kFew) {  // for groups from the front, for waves from the back
      const bool wide = length > kGroup;
      const uint32_t n = atomic_add(queued() + (wide ? 1 : 0), 1u);
      queue()[wide ? count / 5 - n : n] = static_cast<uint16_t>(place);
      return;
    }
    const int64_t to = destination(place);
    const A old = load(to);
    const uint16_t* list = lists() + (word & 0xffffu);
    uint32_t p[kFew];
#pragma unroll
    for (uint32_t k = 0; k < kFew; ++k) {
      const uint32_t found = list[k < length ? k : 0];
      p[k] = k < length ? found : count;
    }
    const auto order = [&](int a, int b) __attribute__((always_inline)) {
      const uint32_t low = p[a] < p[b] ? p[a] : p[b];
      p[b] = p[a] < p[b] ? p[b] : p[a];
      p[a] = low;
    };
    order(0, 2);
    order(1, 3);
    order(0, 1);
    order(2, 3);
    order(1, 2);
    const A* value = values();
    const A even = value[p[0]] + value[p[2]], odd = value[p[1]] + value[p[3]];
    const A sum = even + odd;
    store(to, old + sum);
  }

  // Lane l gets lane l + h for h = width / 2, ..., 1.
  template <uint32_t width>
  BW_DEVICE_MEMBER static A tree(A value) {
#pragma unroll
    for (uint32_t h = width / 2; h > 0; h /= 2) value = value + shuffle_xor(value, h);
    return value;
  }

  // Lists of up to kGroup: a thread for each contribution counts those before it.
  BW_DEVICE_MEMBER void sum_groups() const {
    const uint32_t queued_lists = queued()[0], l = lane() % kGroup;
#pragma unroll 1
    for (uint32_t first = thread() / kWave * (kWave / kGroup); first < queued_lists;
         first += threads / kGroup) {
      const uint32_t q = first + lane() / kGroup;
      const uint32_t place = queue()[q < queued_lists ? q : first];
      const uint32_t word = at()[place], length = q < queued_lists ? word >> 16 : 0;
      uint16_t* list = lists() + (word & 0xffffu);
      uint32_t before = 0, own = count;
      if (l < length) {
        own = list[l];
#pragma unroll 1
        for (uint32_t k = 0; k < length; ++k) before += list[k] < own ? 1u : 0u;
      }
      wave_barrier();
      if (l < length) list[before] = static_cast<uint16_t>(own);
      wave_barrier();
      const uint32_t p = l < length ? list[l] : count;
      const A sum = tree<kGroup>(values()[p]);
      wave_barrier();
      if (l == 0 && length != 0) keep(place, p, sum);
    }
  }
  // A sum takes the place of its first contribution, and that of the list.
  BW_DEVICE_MEMBER void keep(uint32_t place, uint32_t p, A sum) const {
    values()[p] = sum;
    at()[place] = (at()[place] & 0xffffu) | 1u << 16;
  }

  // Longer ones: a wave marks the places of contributions and reads the marks in order.
  BW_DEVICE_MEMBER void sum_long() const {
    const uint32_t queued_lists = queued()[1], wave = thread() / kWave;
    if (wave >= kSorters) return;
    const uint32_t words = (count + 31) / 32, of_lane = (words + kWave - 1) / kWave;
    uint32_t* bits = shared<uint32_t>(args.memory.bits) + wave * words;
#pragma unroll 1
    for (uint32_t q = wave; q < queued_lists; q += kSorters) {
      const uint32_t place = queue()[count / 5 - q];
      const uint32_t word = at()[place], length = word >> 16;
      uint16_t* list = lists() + (word & 0xffffu);
      for (uint32_t w = lane(); w < words; w += kWave) bits[w] = 0;
      wave_barrier();
      for (uint32_t k = lane(); k < length; k += kWave) atomic_add(bits + list[k] / 32, 1u << list[k] % 32);
      wave_barrier();
      const uint32_t first = lane() * of_lane < words ? lane() * of_lane : words;
      const uint32_t last = first + of_lane < words ? first + of_lane : words;
      uint32_t own = 0;
      for (uint32_t w = first; w < last; ++w) own += bits_in(bits[w]);
      uint32_t to = own;
#pragma unroll
      for (uint32_t d = 1; d < kWave; d *= 2) {
        const uint32_t other = shuffle(to, lane() >= d ? lane() - d : lane());
        if (lane() >= d) to += other;
      }
      to -= own;
#pragma unroll 1
      for (uint32_t w = first; w < last; ++w) {
#pragma unroll 1
        for (uint32_t left = bits[w]; left != 0; left &= left - 1)
          list[to++] = static_cast<uint16_t>(w * 32 + static_cast<uint32_t>(__builtin_ctz(left)));
      }
      wave_barrier();
      // Chunks, and their sums by the same rule; there are at most 8.
      A chunks = nothing<A>();
#pragma unroll 1
      for (uint32_t begin = 0; begin < length; begin += kChunk) {
        const uint32_t end = begin + kChunk < length ? begin + kChunk : length;
        A sum = nothing<A>();
        for (uint32_t k = begin + lane(); k < end; k += kLanes) sum = sum + values()[list[k]];
        if constexpr (kWave < kLanes) {
          A other = nothing<A>();
          for (uint32_t k = begin + lane() + kWave; k < end; k += kLanes) other = other + values()[list[k]];
          sum = sum + other;
        }
        sum = tree<kWave>(sum);
        if (lane() == begin / kChunk) chunks = sum;
      }
      const A sum = tree<most_in_rows(true) / kChunk>(chunks);
      wave_barrier();
      if (lane() == 0) keep(place, list[0], sum);
    }
  }
};

template <class A, uint32_t threads>
BW_DEVICE void scatter_rows(const ScatterRowsArgs& args) {
  const RowsBlock<A, threads> rows(args);
  for (uint32_t i = 4 * thread(); i < rows.places; i += 4 * threads)
    *reinterpret_cast<FourWords*>(rows.at() + i) = FourWords{};
  if (thread() < 2) rows.queued()[thread()] = 0;
  if (thread() == 0) rows.values()[rows.count] = nothing<A>();
  barrier();
  uint32_t own[kRowsItems];  // destinations, with the number in its list in the high half
#pragma unroll
  for (uint32_t& word : own) word = kNone;
  rows.each_contribution([&](int k, uint32_t number, uint32_t place, A value) __attribute__((always_inline)) {
    if (place == kNone) return;
    own[k] = place | atomic_add(rows.at() + place, 1u) << 16;
    rows.values()[number] = value;
  });
  barrier();
  rows.scan();
#pragma unroll
  for (uint32_t k = 0; k < kRowsItems; ++k) {
    if (own[k] == kNone) continue;
    rows.lists()[(rows.at()[own[k] & 0xffffu] & 0xffffu) + (own[k] >> 16)] =
        static_cast<uint16_t>(k * threads + thread());
  }
  barrier();
  // Destinations of few contributions; then the others, when their sums are made.
  uint32_t groups = 0, waves = 0;
#pragma unroll 1
  for (bool again = false;; again = true) {
    const uint32_t last = again ? groups + waves : rows.places;
#pragma unroll 1
    for (uint32_t i = thread(); i < last; i += threads)
      rows.add_few(!again ? i : rows.queue()[i < groups ? i : rows.count / 5 - (i - groups)]);
    if (again) return;
    barrier();
    groups = rows.queued()[0];
    waves = rows.queued()[1];
    if (groups + waves == 0) return;
    rows.sum_groups();
    rows.sum_long();
    barrier();
  }
}

/// Integers.
template <class A, uint32_t threads>
BW_DEVICE void add_rows(const ScatterRowsArgs& args) {
  const RowsBlock<A, threads> rows(args);
  A* sums = rows.template shared<A>(args.memory.at);
  for (uint32_t i = thread(); i < rows.places; i += threads) sums[i] = 0;
  barrier();
  rows.each_contribution([&](int, uint32_t, uint32_t place, A value) __attribute__((always_inline)) {
    if (place != kNone) atomic_add(sums + place, value);
  });
  barrier();
#pragma unroll 1
  for (uint32_t i = thread(); i < rows.places; i += threads) {
    const A sum = sums[i];
    if (sum == 0) continue;
    const int64_t to = rows.destination(i);
    rows.store(to, rows.load(to) + sum);
  }
}

#define BW_SCATTER_ROWS(add, A, name)                                                               \
  BW_KERNEL(kRowsThreads) scatter_rows_##name(ScatterRowsArgs args) { add<A, kRowsThreads>(args); } \
  BW_KERNEL(kLongRowsThreads) scatter_long_rows_##name(ScatterRowsArgs args) {                      \
    add<A, kLongRowsThreads>(args);                                                                 \
  }
BW_SCATTER_ROWS(scatter_rows, float, f32)
BW_SCATTER_ROWS(scatter_rows, double, f64)
BW_SCATTER_ROWS(add_rows, uint32_t, 4)
BW_SCATTER_ROWS(add_rows, uint64_t, 8)

}  // namespace beeswax::gpu
