// SPDX-License-Identifier: Apache-2.0
// A pass of a stable radix sort of long rows by one digit: count digits in each tile, sum the counts of each
// digit over the tiles before, and put each tile's elements, in their order, where these sums say.
//   floors of a pass: keys read twice and written once, ids read and written once, over the bandwidth of
//   memory
#include "kernels/radix.h"
#include "kernels/sort_args.h"

namespace beeswax::gpu {

template <class Key>
inline constexpr int kItems = sort_items(sizeof(Key));
template <class Key>
inline constexpr uint32_t kTileKeys = kItems<Key> * kSortThreads;

// A block's tile: the row it lies in, its number there, and how much of it there is.
template <class Key>
struct Tile {
  uint32_t row, number, first, count;
  int64_t base;  // of the tile's elements
  BW_DEVICE_MEMBER explicit Tile(const RadixArgs& args)
      : row(block() / args.tiles),
        number(block() - row * args.tiles),
        first(number * kTileKeys<Key>),
        count(args.length - first < kTileKeys<Key> ? args.length - first : kTileKeys<Key>),
        base(static_cast<int64_t>(row) * args.length + first) {}
};

template <class Key>
BW_DEVICE void radix_count(const RadixArgs& args, uint32_t (&counts)[kDigits]) {
  const Tile<Key> tile(args);
  const Key* keys = static_cast<const Key*>(args.keys) + tile.base;
  counts[thread()] = 0;
  barrier();
#pragma unroll 4
  for (uint32_t i = thread(); i < tile.count; i += kSortThreads)
    atomic_add(&counts[static_cast<uint32_t>(keys[i] >> args.shift) & (kDigits - 1)], 1u);
  barrier();
  args.counts[(static_cast<int64_t>(tile.row) * kDigits + thread()) * args.tiles + tile.number] =
      counts[thread()];
}

// A block for each digit of a row: its counts become the sums of those before.
BW_KERNEL(kSortThreads) radix_scan(RadixArgs args) {
  BW_SHARED static uint32_t sums[kSortWaves];
  BW_SHARED static uint32_t last;
  uint32_t* counts = args.counts + static_cast<int64_t>(block()) * args.tiles;
  uint32_t before = 0;
  for (uint32_t first = 0; first < args.tiles; first += kSortThreads) {
    const uint32_t i = first + thread();
    const uint32_t count = i < args.tiles ? counts[i] : 0u;
    const uint32_t sum = sum_before(count, sums);
    if (i < args.tiles) counts[i] = before + sum;
    if (thread() == kSortThreads - 1) last = sum + count;
    barrier();
    before += last;
    barrier();
  }
  if (thread() == 0) args.totals[block()] = before;
}

template <class Key>
struct PlaceShared {
  TileCounts counts;
  uint32_t base[kDigits];  // where elements of a digit go, less where they begin in the tile
  union {
    Key keys[kTileKeys<Key>];
    uint32_t ids[kTileKeys<Key>];
  };
};

template <class Key>
BW_DEVICE void radix_place(const RadixArgs& args, PlaceShared<Key>& shared) {
  constexpr int n = kItems<Key>;
  const Tile<Key> tile(args);
  const Key* keys = static_cast<const Key*>(args.keys) + tile.base;
  Key key[n];
  uint32_t place[n], to[n];
#pragma unroll
  for (int k = 0; k < n; ++k) {
    key[k] = static_cast<Key>(~Key{0});  // past the end: after all others
    if (tile_index<n>(k) < tile.count) key[k] = keys[tile_index<n>(k)];
  }
  const auto digit = [&](int k) __attribute__((always_inline)) {
    return static_cast<uint32_t>(key[k] >> args.shift) & (kDigits - 1);
  };
  const uint32_t begin = tile_places(digit, place, shared.counts);
  const int64_t of_digit = static_cast<int64_t>(tile.row) * kDigits + thread();
  shared.base[thread()] = sum_before(args.totals[of_digit], shared.counts.sums) +
                          args.counts[of_digit * args.tiles + tile.number] - begin;
#pragma unroll
  for (int k = 0; k < n; ++k) shared.keys[place[k]] = key[k];
  uint32_t id[n];  // under way while keys leave
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const uint32_t i = tile_index<n>(k);
    id[k] = args.ids != nullptr && i < tile.count ? args.ids[tile.base + i] : tile.first + i;
  }
  barrier();
  // Out in the order of the tile, so that neighbours go to neighbours.
  const int64_t row = static_cast<int64_t>(tile.row) * args.length;
  Key* keys_out = static_cast<Key*>(args.keys_out);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const uint32_t i = static_cast<uint32_t>(k) * kSortThreads + thread();
    const Key moved = shared.keys[i];
    to[k] = shared.base[static_cast<uint32_t>(moved >> args.shift) & (kDigits - 1)] + i;
    if (i < tile.count && keys_out != nullptr) keys_out[row + to[k]] = moved;
  }
  barrier();
#pragma unroll
  for (int k = 0; k < n; ++k) shared.ids[place[k]] = id[k];
  barrier();
#pragma unroll
  for (int k = 0; k < n; ++k) {
    const uint32_t i = static_cast<uint32_t>(k) * kSortThreads + thread();
    if (i < tile.count) args.ids_out[row + to[k]] = shared.ids[i];
  }
}

#define BW_RADIX(Key, bytes)                                    \
  BW_KERNEL(kSortThreads) radix_count_##bytes(RadixArgs args) { \
    BW_SHARED static uint32_t counts[kDigits];                  \
    radix_count<Key>(args, counts);                             \
  }                                                             \
  BW_KERNEL(kSortThreads) radix_place_##bytes(RadixArgs args) { \
    BW_SHARED static PlaceShared<Key> shared;                   \
    radix_place<Key>(args, shared);                             \
  }
BW_RADIX(uint32_t, 4)
BW_RADIX(uint64_t, 8)

}  // namespace beeswax::gpu
