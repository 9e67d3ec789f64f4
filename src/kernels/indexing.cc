// SPDX-License-Identifier: Apache-2.0
// Moves by ids; elements move as bits, whole rows in units of up to 16 bytes.
//   floors: bytes of ids, elements read and elements written over the bandwidth of memory; elements that lie
//   alone cost a sector of 32 bytes each
#include "kernels/gpu_words.h"
#include "kernels/ids.h"
#include "kernels/wave.h"

namespace beeswax::gpu {

using Unit16 = uint32_t __attribute__((vector_size(16)));

BW_KERNEL(kMapThreads) check_ids(CheckIdsArgs args) {
  const uint32_t i = block() * kMapThreads + thread();
  if (i >= args.count) return;
  int64_t offset[1], id[1];
  offsets_at(args.walk, i, offset);
  read_ids(args.ids, offset, id);
  legal_id(args.ids, id[0], offset[0], i);
}

// index_select and gather: ids, then elements, are loaded together for several results, and then stored.
template <class S>
BW_DEVICE void gather(const GatherArgs& args) {
  constexpr int n = kIndexUnroll;
  const S* x = static_cast<const S*>(args.x);
  S* y = static_cast<S*>(args.y);
  const auto place = [&](int k) __attribute__((always_inline)) {
    const uint32_t part = block() * n + static_cast<uint32_t>(k);
    if (args.columns == 0) return part * kMapThreads + thread();
    const uint32_t panel = divide(part, args.rows), row = part - panel * args.rows.divisor;
    const uint32_t column = panel * kMapThreads + thread();
    return column < args.columns ? row * args.columns + column : args.count;
  };
  const auto index = [&](int k) __attribute__((always_inline)) {  // past the end, the last one
    return place(k) < args.count ? place(k) : args.count - 1;
  };
  int64_t from[n], at[n], id[n];
  S value[n];
#pragma unroll
  for (int k = 0; k < n; ++k) {
    int64_t offset[2];
    offsets_at(args.walk, index(k), offset);
    from[k] = offset[0];
    at[k] = offset[1];
  }
  read_ids(args.ids, at, id);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    id[k] = legal_id(args.ids, id[k], at[k], index(k));
    value[k] = S();
    if (id[k] != kSkip) value[k] = x[from[k] + id[k] * args.axis_stride];
  }
#pragma unroll
  for (int k = 0; k < n; ++k) {
    if (place(k) < args.count) store_once(y + place(k), value[k]);
  }
}

// The same of whole rows, each in the shared memory of a block: reads at random of the device's memory would
// be a line for each thread. Loads of the next ids are under way while elements move by the ones before.
template <class S>
BW_DEVICE void gather_rows(const GatherRowsArgs& args, Unit16* shared) {
  constexpr int n = kIndexUnroll;
  constexpr uint32_t kPack = sizeof(Unit16) / sizeof(S), kStep = kMapThreads * n;
  int64_t offset[2];
  offsets_at(args.walk, block(), offset);
  const auto column_of = [&](uint32_t i, int k) __attribute__((always_inline)) {
    return i + static_cast<uint32_t>(k) * kMapThreads;
  };
  int64_t ids[n];
  const auto load_ids = [&](uint32_t i) __attribute__((always_inline)) {
    with_ids(args.ids, [&](const auto* all) __attribute__((always_inline)) {
#pragma unroll
      for (int k = 0; k < n; ++k) {  // past the end, the last one
        const uint32_t column = column_of(i, k) < args.columns ? column_of(i, k) : args.columns - 1;
        ids[k] = static_cast<int64_t>(all[offset[1] + column * args.ids_stride]);
      }
    });
  };
  load_ids(thread());
  const S* x = static_cast<const S*>(args.x) + offset[0];
  S* row = reinterpret_cast<S*>(shared);
  uint32_t dense = 0;
  if (aligned16(x)) {
    dense = args.length / kPack;
#pragma unroll 1
    for (uint32_t i = thread(); i < dense; i += kStep) {
      Unit16 units[n];
#pragma unroll
      for (int k = 0; k < n; ++k)
        units[k] = reinterpret_cast<const Unit16*>(x)[column_of(i, k) < dense ? column_of(i, k) : i];
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (column_of(i, k) < dense) shared[column_of(i, k)] = units[k];
    }
    dense *= kPack;
  }
#pragma unroll 1
  for (uint32_t i = dense + thread(); i < args.length; i += kMapThreads) row[i] = x[i];
  barrier();
  const uint32_t first = block() * args.columns;
  S* y = static_cast<S*>(args.y) + first;
#pragma unroll 1
  for (uint32_t i = thread(); i < args.columns; i += kStep) {
    int64_t now[n];
#pragma unroll
    for (int k = 0; k < n; ++k) now[k] = ids[k];
    load_ids(i + kStep);
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const uint32_t column = column_of(i, k);
      if (column >= args.columns) break;
      const int64_t id = legal_id(args.ids, now[k], offset[1] + column * args.ids_stride, first + column);
      store_once(y + column, id != kSkip ? row[id] : S());
    }
  }
}

template <class S>
BW_DEVICE void scatter(const ScatterArgs& args) {
  const S* x = static_cast<const S*>(args.x);
  S* y = static_cast<S*>(args.y);
  uint32_t i = block() * (kMapThreads * kIndexUnroll) + thread();
#pragma unroll
  for (int k = 0; k < kIndexUnroll; ++k, i += kMapThreads) {
    if (i >= args.count) return;
    int64_t offset[4], id[1];
    offsets_at(args.walk, i, offset);
    const int64_t at[1] = {offset[1]};
    read_ids(args.ids, at, id);
    id[0] = legal_id(args.ids, id[0], at[0], i);
    if (id[0] == kSkip) continue;
    if (args.winner != nullptr && args.winner[offset[3] + id[0] * args.winner_stride] != i + 1) continue;
    y[offset[2] + id[0] * args.axis_stride] = x[offset[0]];
  }
}

// The last id that names an element wins.
BW_KERNEL(kMapThreads) scatter_claim(ScatterArgs args) {
  uint32_t i = block() * (kMapThreads * kIndexUnroll) + thread();
#pragma unroll
  for (int k = 0; k < kIndexUnroll; ++k, i += kMapThreads) {
    if (i >= args.count) return;
    int64_t offset[4], id[1];
    offsets_at(args.walk, i, offset);
    const int64_t at[1] = {offset[1]};
    read_ids(args.ids, at, id);
    id[0] = legal_id(args.ids, id[0], at[0], i);
    if (id[0] != kSkip) atomic_max(args.winner + offset[3] + id[0] * args.winner_stride, i + 1);
  }
}

#define BW_INDEXING(S, bytes)                                                    \
  BW_KERNEL(kMapThreads) gather_##bytes(GatherArgs args) { gather<S>(args); }    \
  BW_KERNEL(kMapThreads) scatter_##bytes(ScatterArgs args) { scatter<S>(args); } \
  BW_KERNEL_OF(kMapThreads, 6) gather_rows_##bytes(GatherRowsArgs args) {        \
    BW_SHARED static Unit16 row[kGatherRowBytes / sizeof(Unit16)];               \
    gather_rows<S>(args, row);                                                   \
  }
BW_INDEXING(uint8_t, 1)
BW_INDEXING(uint16_t, 2)
BW_INDEXING(uint32_t, 4)
BW_INDEXING(uint64_t, 8)
BW_KERNEL(kMapThreads) gather_16(GatherArgs args) { gather<Unit16>(args); }

}  // namespace beeswax::gpu
