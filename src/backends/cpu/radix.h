// SPDX-License-Identifier: Apache-2.0
// Sorting items (kernels/sort.h) by key: radix sort from the lowest byte up, and selection of the first few.
// All orders here are stable, so the result does not depend on how the work is split over threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/kernels/sort.h"
#include "backends/cpu/scratch.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {

inline constexpr size_t kDigits = 256;  // values of one key byte
using DigitCounts = uint32_t[kDigits];

inline uint64_t item_key(NarrowItem item) { return item >> 32; }
inline uint64_t item_key(const WideItem& item) { return item.key; }
inline uint32_t item_id(NarrowItem item) { return static_cast<uint32_t>(item); }
inline uint32_t item_id(const WideItem& item) { return static_cast<uint32_t>(item.id); }
template <class Item>
size_t digit(const Item& item, int byte) {
  return (item_key(item) >> (8 * byte)) & (kDigits - 1);
}

template <class Item>
bool item_less(const Item& a, const Item& b) {
  return item_key(a) != item_key(b) ? item_key(a) < item_key(b) : item_id(a) < item_id(b);
}

template <class Item>
void insertion_sort(Item* items, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const Item item = items[i];
    int64_t at = i;
    for (; at > 0 && item_key(items[at - 1]) > item_key(item); --at) items[at] = items[at - 1];
    items[at] = item;
  }
}

template <class Item>
bool is_sorted(const Item* items, int64_t count) {
  for (int64_t i = 1; i < count; ++i)
    if (item_key(items[i]) < item_key(items[i - 1])) return false;
  return true;
}

/// Whether all items have one value of this byte, so that sorting by it changes nothing.
inline bool constant_digit(const DigitCounts& counts, size_t digit_of_one, int64_t count) {
  return counts[digit_of_one] == static_cast<uint64_t>(count);
}

/// Sorts `count` < 2^32 items by the lowest `bytes` bytes of their keys. Either array may hold the result,
/// which is returned.
template <class Item>
Item* radix_sort(Item* items, Item* spare, int64_t count, int bytes) {
  constexpr int64_t kInsertion = 40;
  if (count <= kInsertion) {
    insertion_sort(items, count);
    return items;
  }
  if (is_sorted(items, count)) return items;
  DigitCounts counts[8] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int byte = 0; byte < bytes; ++byte) ++counts[byte][digit(items[i], byte)];
  for (int byte = 0; byte < bytes; ++byte) {
    DigitCounts& at = counts[byte];
    if (constant_digit(at, digit(items[0], byte), count)) continue;
    uint32_t sum = 0;
    for (uint32_t& place : at) sum += std::exchange(place, sum);
    for (int64_t i = 0; i < count; ++i) spare[at[digit(items[i], byte)]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

/// The same over all threads: every block of items counts its digits, and then moves its items to places that
/// follow those of the blocks before it.
template <class Item>
Item* parallel_radix_sort(Item* items, Item* spare, int64_t count, int bytes) {
  const int64_t blocks = ThreadPool::global().threads();
  const int64_t grain = (count + blocks - 1) / blocks;
  const Scratch<DigitCounts> places(blocks);
  for (int byte = 0; byte < bytes; ++byte) {
    ThreadPool::global().parallel_for(blocks, [&](int64_t block) {
      DigitCounts counts = {};
      const int64_t end = std::min(count, (block + 1) * grain);
      for (int64_t i = block * grain; i < end; ++i) ++counts[digit(items[i], byte)];
      std::copy(counts, counts + kDigits, places[block]);
    });
    uint32_t sum = 0;
    bool constant = false;
    for (size_t value = 0; value < kDigits; ++value) {
      const uint32_t before = sum;
      for (int64_t block = 0; block < blocks; ++block) sum += std::exchange(places[block][value], sum);
      constant = constant || sum - before == static_cast<uint64_t>(count);
    }
    if (constant) continue;
    ThreadPool::global().parallel_for(blocks, [&](int64_t block) {
      DigitCounts at;
      std::copy(places[block], places[block] + kDigits, at);
      const int64_t end = std::min(count, (block + 1) * grain);
      for (int64_t i = block * grain; i < end; ++i) spare[at[digit(items[i], byte)]++] = items[i];
    });
    std::swap(items, spare);
  }
  return items;
}

/// Keeps the `keep` first items of a row that comes in pieces, in time linear in the row: candidates gather
/// in a buffer, and whenever it is full the worse ones go and the bar for new ones rises.
template <class Item>
class FirstItems {
 public:
  static int64_t buffer_size(int64_t keep) { return 2 * keep + 256; }
  /// `buffer` has buffer_size(keep) places; keep > 0.
  FirstItems(Item* buffer, int64_t keep) : buffer_(buffer), keep_(keep), size_(buffer_size(keep)) {}

  void add(const Item* items, int64_t count) {
    constexpr int64_t kStep = 64;
    for (int64_t begin = 0; begin < count; begin += kStep) {
      const int64_t end = std::min(begin + kStep, count);
      uint64_t least = ~uint64_t{0};
      for (int64_t i = begin; i < end; ++i) least = std::min(least, item_key(items[i]));
      if (full_ && least >= bar_) continue;
      for (int64_t i = begin; i < end; ++i)
        if (!full_ || item_key(items[i]) < bar_) push(items[i]);
    }
  }
  /// The `keep` first items in no order, at the start of the buffer. At least that many were added.
  void finish() {
    if (used_ > keep_) cut();
  }

 private:
  void push(const Item& item) {
    buffer_[used_++] = item;
    if (used_ == size_) cut();
  }
  void cut() {
    std::nth_element(buffer_, buffer_ + keep_ - 1, buffer_ + used_, item_less<Item>);
    used_ = keep_;
    bar_ = item_key(buffer_[keep_ - 1]);  // a later item of the same key comes after it
    full_ = true;
  }
  Item* buffer_;
  int64_t keep_;
  int64_t size_;
  int64_t used_ = 0;
  uint64_t bar_ = 0;
  bool full_ = false;
};

}  // namespace beeswax::cpu
