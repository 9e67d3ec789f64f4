// SPDX-License-Identifier: Apache-2.0
// Counting sort of rows of 8-bit elements: how often each value occurs says where its elements go.
#pragma once

#include <algorithm>
#include <cstring>

#include "backends/cpu/radix.h"

namespace beeswax::cpu {

/// The order of the 256 values of a dtype.
class ByteOrder {
 public:
  ByteOrder(DType dtype, bool ascending) {
    uint8_t values[kDigits];
    for (size_t value = 0; value < kDigits; ++value) values[value] = static_cast<uint8_t>(value);
    NarrowItem items[kDigits];
    sort_kernels().pack[static_cast<size_t>(dtype)](values, kDigits, 0, ascending, items);
    bool taken[kDigits] = {};
    for (size_t value = 0; value < kDigits; ++value) {
      key_[value] = static_cast<uint8_t>(item_key(items[value]));
      distinct_ = distinct_ && !std::exchange(taken[key_[value]], true);
      value_[key_[value]] = static_cast<uint8_t>(value);
    }
  }
  /// Whether no two values are equal in the order (as zeros of both signs are), so that a key has a value.
  bool distinct() const { return distinct_; }
  uint8_t value(size_t key) const { return value_[key]; }
  /// Where counts and places of a key are kept: by its value where it has one, so that elements need not be
  /// looked up.
  size_t slot(size_t key) const { return distinct_ ? value_[key] : key; }

  /// How many of x[0, count) have each key, by slot. Four counters for each value, as increments of one wait
  /// for each other.
  void count(const uint8_t* x, int64_t count, DigitCounts& counts) const {
    DigitCounts of_value[4] = {};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
      for (int part = 0; part < 4; ++part) ++of_value[part][x[i + part]];
    for (; i < count; ++i) ++of_value[0][x[i]];
    for (size_t value = 0; value < kDigits; ++value)
      of_value[0][value] += of_value[1][value] + of_value[2][value] + of_value[3][value];
    if (distinct_) {
      std::copy(of_value[0], of_value[0] + kDigits, counts);
    } else {
      std::fill(counts, counts + kDigits, 0);
      for (size_t value = 0; value < kDigits; ++value) counts[key_[value]] += of_value[0][value];
    }
  }
  /// Puts the numbers of x[begin, end) to the places that `at` gives their keys, by slot.
  void place(const uint8_t* x, int64_t begin, int64_t end, DigitCounts& at, uint32_t* ids) const {
    if (distinct_) {
      for (int64_t i = begin; i < end; ++i) ids[at[x[i]]++] = static_cast<uint32_t>(i);
    } else {
      for (int64_t i = begin; i < end; ++i) ids[at[key_[x[i]]]++] = static_cast<uint32_t>(i);
    }
  }

 private:
  uint8_t key_[kDigits];
  uint8_t value_[kDigits] = {};
  bool distinct_ = true;
};

/// Puts `value` to to[begin, end), and where there is room up to `most`, to what follows, which later runs
/// overwrite: in short rows most runs are of a few elements, and a call for each takes longer than the rest.
inline void fill_run(uint8_t* to, int64_t begin, int64_t end, int64_t most, uint8_t value) {
  constexpr int64_t kAtOnce = 8;
  if (begin + kAtOnce <= most) {
    std::memset(to + begin, value, kAtOnce);
    begin += kAtOnce;
  }
  if (begin < end) std::memset(to + begin, value, static_cast<size_t>(end - begin));
}

/// Sorts the row x[0, count): the numbers of its elements to ids and, where `values` is not null, its
/// elements there. The first `keep` of the results are kept; `all_ids` has room for `count` where that is
/// more. With `blocks` > 1 all threads share the work.
inline void sort_bytes(const ByteOrder& order, const uint8_t* x, int64_t count, int64_t keep, int64_t blocks,
                       uint32_t* ids, uint8_t* values, uint32_t* all_ids) {
  const int64_t grain = (count + blocks - 1) / blocks;
  const Scratch<DigitCounts> places(blocks);
  const auto each_block = [&](auto&& work) {
    const auto block = [&](int64_t b) { work(b, b * grain, std::min(count, (b + 1) * grain)); };
    if (blocks == 1) {
      block(0);
    } else {
      ThreadPool::global().parallel_for(blocks, block);
    }
  };
  each_block([&](int64_t b, int64_t begin, int64_t end) { order.count(x + begin, end - begin, places[b]); });
  uint32_t sum = 0;
  for (size_t key = 0; key < kDigits; ++key) {
    const uint32_t begin = sum;
    for (int64_t b = 0; b < blocks; ++b) sum += std::exchange(places[b][order.slot(key)], sum);
    if (values != nullptr && order.distinct() && begin < keep)
      fill_run(values, begin, std::min<int64_t>(sum, keep), keep, order.value(key));
  }
  uint32_t* const to = keep < count ? all_ids : ids;
  each_block([&](int64_t b, int64_t begin, int64_t end) { order.place(x, begin, end, places[b], to); });
  if (to != ids) std::copy(to, to + keep, ids);
  if (values != nullptr && !order.distinct()) sort_kernels().take[0](x, ids, keep, values);
}

}  // namespace beeswax::cpu
