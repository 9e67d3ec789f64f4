// SPDX-License-Identifier: Apache-2.0
// Numbers that GPU kernels for indexing and sorting and the host code that launches them must agree on.
#pragma once

namespace beeswax::gpu {

/// Elements that a thread of an indexing kernel moves, a block's width apart.
inline constexpr int kIndexUnroll = 4;
/// Bytes of a row that a block of gather_rows keeps in shared memory.
inline constexpr int kGatherRowBytes = 32768;
/// Columns that a thread of index_add sums at once, where rows are dense; half for 8-byte elements.
inline constexpr int kAddPack = 4;

// Sorting. Rows up to kSmallRow: a block takes kSortThreads elements, of several rows. Rows up to
// kSortThreads * sort_items: a block takes one. Longer ones: blocks take tiles of that size.
inline constexpr int kSortThreads = 256;
inline constexpr int kSmallRow = 128;
inline constexpr int kDigits = 256;  // of a radix sort: a byte
/// Elements that a thread sorts, by the bytes of keys; and where rows are at most a quarter as long.
constexpr int sort_items(int key_bytes) { return 64 / key_bytes; }
constexpr int few_sort_items(int key_bytes) { return sort_items(key_bytes) / 4; }

}  // namespace beeswax::gpu
