// SPDX-License-Identifier: Apache-2.0
// Sorting rows, stably: short rows in one launch, long ones as keys, passes (radix.cc) and a last step.
//   floors: elements read, ids and values written over the bandwidth of memory; a row in one block: about 12
//   instructions of a wave for each digit of kWave elements, and a counter for each digit and wave
#include "kernels/elements.h"
#include "kernels/radix.h"
#include "kernels/sort_args.h"

namespace beeswax::gpu {

template <class Key>
BW_DEVICE Key load_bits(const void* x, int64_t at, uint32_t bytes) {
  if constexpr (sizeof(Key) == 8) return static_cast<const uint64_t*>(x)[at];
  if (bytes == 4) return static_cast<const uint32_t*>(x)[at];
  if (bytes == 2) return static_cast<const uint16_t*>(x)[at];
  return static_cast<const uint8_t*>(x)[at];
}
template <class Key>
BW_DEVICE void store_bits(void* y, int64_t at, Key bits, uint32_t bytes) {
  if constexpr (sizeof(Key) == 8) {
    static_cast<uint64_t*>(y)[at] = bits;
  } else if (bytes == 4) {
    static_cast<uint32_t*>(y)[at] = bits;
  } else if (bytes == 2) {
    static_cast<uint16_t*>(y)[at] = static_cast<uint16_t>(bits);
  } else {
    static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(bits);
  }
}

/// Equal keys: equal elements, both zeros, and all NaNs, which have the greatest key in both directions.
template <class Key>
BW_DEVICE Key key_of(Key bits, const SortOrder& order) {
  const Key all = static_cast<Key>(~Key{0}) >> (8 * (sizeof(Key) - order.bytes));
  const Key sign = all ^ (all >> 1);
  const Key flip = static_cast<Key>(order.flip);
  if (order.kind == 0) return bits ^ flip;
  if (order.kind == 1) return bits ^ sign ^ flip;
  const Key magnitude = bits & ~sign;
  const Key value = magnitude == 0 ? Key{0} : bits;
  const Key ordered = (value & sign) != 0 ? ~value & all : value | sign;
  return magnitude > static_cast<Key>(order.largest) ? all : ordered ^ flip;
}

BW_DEVICE int64_t row_offset(const SortArgs& args, uint32_t row) {
  int64_t offset[1];
  offsets_at(args.walk, row, offset);
  return offset[0];
}

// Rows of at most kSmallRow elements: a thread counts the elements that come before its own.
template <class Key>
BW_DEVICE void sort_small(const SortArgs& args, Key (&keys)[kSortThreads]) {
  const uint32_t first = thread() / args.width * args.width;
  const uint32_t row = block() * (kSortThreads / args.width) + thread() / args.width;
  const uint32_t i = thread() - first;
  const bool mine = row < args.rows && i < args.length;
  Key bits = 0;
  if (mine) bits = load_bits<Key>(args.x, row_offset(args, row) + i * args.stride, args.order.bytes);
  const Key key = key_of(bits, args.order);
  keys[thread()] = key;
  barrier();
  if (!mine) return;
  uint32_t before = 0;
  for (uint32_t j = 0; j < args.length; ++j) {
    const Key other = keys[first + j];
    before += other < key || (other == key && j < i) ? 1u : 0u;
  }
  if (before >= args.keep) return;
  const int64_t to = static_cast<int64_t>(row) * args.keep + before;
  args.ids[to] = i;
  if (args.values != nullptr) store_bits(args.values, to, bits, args.order.bytes);
}

template <class Key, int n>
struct RowShared {
  TileCounts counts;
  union {
    Key keys[n * kSortThreads];
    uint32_t ids[n * kSortThreads];
  };
};

// A row in one block: passes over the digits, keys and ids in registers between them.
template <class Key, int n>
BW_DEVICE void sort_row(const SortArgs& args, RowShared<Key, n>& shared) {
  const uint32_t row = block();
  const int64_t from = row_offset(args, row);
  Key key[n];
  uint32_t id[n], place[n];
#pragma unroll
  for (int k = 0; k < n; ++k) {
    id[k] = tile_index<n>(k);
    key[k] = static_cast<Key>(~Key{0});  // past the end: after all others
    if (id[k] < args.length)
      key[k] = key_of(load_bits<Key>(args.x, from + id[k] * args.stride, args.order.bytes), args.order);
  }
#pragma unroll 1
  for (uint32_t shift = 0; shift < args.bits; shift += 8) {
    const auto digit = [&](int k) __attribute__((always_inline)) {
      return static_cast<uint32_t>(key[k] >> shift) & (kDigits - 1);
    };
    tile_places(digit, place, shared.counts);
#pragma unroll
    for (int k = 0; k < n; ++k) shared.keys[place[k]] = key[k];
    barrier();
#pragma unroll
    for (int k = 0; k < n; ++k) key[k] = shared.keys[tile_index<n>(k)];
    barrier();
#pragma unroll
    for (int k = 0; k < n; ++k) shared.ids[place[k]] = id[k];
    barrier();
#pragma unroll
    for (int k = 0; k < n; ++k) id[k] = shared.ids[tile_index<n>(k)];
  }
  const int64_t to = static_cast<int64_t>(row) * args.keep;
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const uint32_t i = tile_index<n>(k);
    if (i >= args.keep) continue;
    args.ids[to + i] = id[k];
    if (args.values != nullptr)
      store_bits(args.values, to + i, load_bits<Key>(args.x, from + id[k] * args.stride, args.order.bytes),
                 args.order.bytes);
  }
}

template <class Key>
BW_DEVICE void make_keys(const SortArgs& args) {
  const uint32_t row = block_y();
  const int64_t from = row_offset(args, row);
  Key* keys = static_cast<Key*>(args.keys) + static_cast<int64_t>(row) * args.length;
  uint32_t i = block() * (kMapThreads * kStridedElements) + thread();
#pragma unroll
  for (int k = 0; k < kStridedElements; ++k, i += kMapThreads)
    if (i < args.length)
      keys[i] = key_of(load_bits<Key>(args.x, from + i * args.stride, args.order.bytes), args.order);
}

template <class Key>
BW_DEVICE void take(const SortArgs& args) {
  const uint32_t row = block_y();
  const int64_t from = row_offset(args, row);
  const int64_t to = static_cast<int64_t>(row) * args.keep;
  const uint32_t* ids = args.from + static_cast<int64_t>(row) * args.length;
  uint32_t i = block() * (kMapThreads * kStridedElements) + thread();
#pragma unroll
  for (int k = 0; k < kStridedElements; ++k, i += kMapThreads) {
    if (i >= args.keep) return;
    const uint32_t id = ids[i];
    args.ids[to + i] = id;
    if (args.values != nullptr)
      store_bits(args.values, to + i, load_bits<Key>(args.x, from + id * args.stride, args.order.bytes),
                 args.order.bytes);
  }
}

#define BW_SORT_ROW(Key, bytes, items, name)                      \
  BW_KERNEL(kSortThreads) sort_row_##bytes##name(SortArgs args) { \
    BW_SHARED static RowShared<Key, items(bytes)> shared;         \
    sort_row<Key, items(bytes)>(args, shared);                    \
  }
#define BW_SORT(Key, bytes)                                                         \
  BW_KERNEL(kSortThreads) sort_small_##bytes(SortArgs args) {                       \
    BW_SHARED static Key keys[kSortThreads];                                        \
    sort_small<Key>(args, keys);                                                    \
  }                                                                                 \
  BW_SORT_ROW(Key, bytes, few_sort_items, _few)                                     \
  BW_SORT_ROW(Key, bytes, sort_items, )                                             \
  BW_KERNEL(kMapThreads) sort_keys_##bytes(SortArgs args) { make_keys<Key>(args); } \
  BW_KERNEL(kMapThreads) sort_take_##bytes(SortArgs args) { take<Key>(args); }
BW_SORT(uint32_t, 4)
BW_SORT(uint64_t, 8)

}  // namespace beeswax::gpu
