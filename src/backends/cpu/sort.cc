// SPDX-License-Identifier: Apache-2.0
// Sorting rows: one task for many short rows, all threads on one row where rows are few and long.
#include <cstring>

#include "backends/cpu/backend.h"
#include "backends/cpu/byte_sort.h"
#include "backends/cpu/kernels/sort.h"
#include "backends/cpu/nest.h"
#include "backends/cpu/radix.h"
#include "core/thread_pool.h"

namespace beeswax::cpu {
namespace {

struct Rows {
  const std::byte* x;
  DType dtype;
  size_t bytes;    // of one element
  int64_t length;  // of one row
  int64_t keep;    // of each row
  bool ascending;
  std::byte* values;  // or null
  uint32_t* ids;
  int key_bytes() const { return static_cast<int>(bytes); }
  auto pack() const { return sort_kernels().pack[static_cast<size_t>(dtype)]; }
};

constexpr int64_t kBlock = 1024;           // elements packed at once for a selection
constexpr int64_t kGrain = 1 << 15;        // elements in one task
constexpr int64_t kLeastCounted = 64;      // 8-bit elements in a row from which counting values pays
constexpr int64_t kParallelRow = 1 << 16;  // from this length on, all threads work on a row

template <class Item>
void write(const Rows& rows, const std::byte* x, int64_t row, const Item* items) {
  uint32_t* ids = rows.ids + row * rows.keep;
  for (int64_t i = 0; i < rows.keep; ++i) ids[i] = item_id(items[i]);
  if (rows.values != nullptr)
    sort_kernels().take[size_class(rows.bytes)](
        x, ids, rows.keep, rows.values + static_cast<size_t>(row * rows.keep) * rows.bytes);
}

// Selection pays when few are kept: most elements are only looked at.
bool selects(const Rows& rows) { return rows.keep * 4 <= rows.length; }

template <class Item>
int64_t scratch_items(const Rows& rows) {
  return selects(rows) ? FirstItems<Item>::buffer_size(rows.keep) + kBlock + rows.keep : 2 * rows.length;
}

template <class Item>
void sort_row(const Rows& rows, const std::byte* x, int64_t row, Item* scratch) {
  if (!selects(rows)) {
    rows.pack()(x, rows.length, 0, rows.ascending, scratch);
    write(rows, x, row, radix_sort(scratch, scratch + rows.length, rows.length, rows.key_bytes()));
    return;
  }
  Item* buffer = scratch + kBlock;
  FirstItems<Item> first(buffer, rows.keep);
  for (int64_t at = 0; at < rows.length; at += kBlock) {
    const int64_t count = std::min(kBlock, rows.length - at);
    rows.pack()(x + static_cast<size_t>(at) * rows.bytes, count, static_cast<uint64_t>(at), rows.ascending,
                scratch);
    first.add(scratch, count);
  }
  first.finish();
  std::sort(buffer, buffer + rows.keep, item_less<Item>);
  write(rows, x, row, buffer);
}

template <class Item>
void sort_long_row(const Rows& rows, const std::byte* x, int64_t row, Item* scratch) {
  parallel_ranges(rows.length, kGrain, [&](int64_t begin, int64_t end) {
    rows.pack()(x + static_cast<size_t>(begin) * rows.bytes, end - begin, static_cast<uint64_t>(begin),
                rows.ascending, scratch + begin);
  });
  write(rows, x, row, parallel_radix_sort(scratch, scratch + rows.length, rows.length, rows.key_bytes()));
}

// Calls sort_one(x, row) for every row x, dense, of a range of rows.
class RowRange {
 public:
  RowRange(const Rows& rows, const Layout& layout)
      : rows_(rows),
        outer_(layout.narrow(layout.rank() - 1, 0, 1)),
        nest_({&outer_}),
        stride_(layout.stride(layout.rank() - 1)) {}
  int64_t count() const { return nest_.count; }

  template <class SortOne>
  void run(int64_t begin, int64_t end, SortOne&& sort_one) const {
    const bool dense = stride_ == 1 || rows_.length == 1;
    const Scratch<std::byte> copy(dense ? 0 : rows_.length * static_cast<int64_t>(rows_.bytes));
    NestPosition<1> position(nest_, begin);
    for (int64_t row = begin; row < end; ++row, position.advance(1)) {
      const std::byte* x = rows_.x + position.offset(0) * static_cast<int64_t>(rows_.bytes);
      if (!dense) {
        copy_kernels().gather[size_class(rows_.bytes)](copy.data(), x, stride_, rows_.length);
        x = copy.data();
      }
      sort_one(x, row);
    }
  }
  /// All threads on one row after another, or on ranges of rows.
  bool rows_in_turn() const {
    return rows_.length >= kParallelRow && count() < ThreadPool::global().threads() && !selects(rows_);
  }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / std::max<int64_t>(rows_.length, 1)); }

 private:
  const Rows& rows_;
  Layout outer_;
  Nest<1> nest_;
  int64_t stride_;
};

void sort_byte_rows(const Rows& rows, const Layout& layout) {
  const ByteOrder order(rows.dtype, rows.ascending);
  const RowRange all(rows, layout);
  const auto run = [&](int64_t begin, int64_t end, int64_t blocks) {
    const Scratch<uint32_t> ids(rows.keep < rows.length ? rows.length : 0);
    all.run(begin, end, [&](const std::byte* x, int64_t row) {
      auto* values = reinterpret_cast<uint8_t*>(rows.values);
      sort_bytes(order, reinterpret_cast<const uint8_t*>(x), rows.length, rows.keep, blocks,
                 rows.ids + row * rows.keep, values == nullptr ? nullptr : values + row * rows.keep,
                 ids.data());
    });
  };
  if (all.rows_in_turn()) {
    run(0, all.count(), ThreadPool::global().threads());
  } else {
    parallel_ranges(all.count(), all.grain(), [&](int64_t begin, int64_t end) { run(begin, end, 1); });
  }
}

template <class Item>
void sort_rows(const Rows& rows, const Layout& layout) {
  const RowRange all(rows, layout);
  const auto run = [&](int64_t begin, int64_t end, auto&& sort_one) {
    const Scratch<Item> scratch(scratch_items<Item>(rows));
    all.run(begin, end, [&](const std::byte* x, int64_t row) { sort_one(rows, x, row, scratch.data()); });
  };
  if (all.rows_in_turn()) {
    run(0, all.count(), sort_long_row<Item>);
  } else {
    parallel_ranges(all.count(), all.grain(),
                    [&](int64_t begin, int64_t end) { run(begin, end, sort_row<Item>); });
  }
}

}  // namespace

void CpuBackend::sort(const Operand& x, bool ascending, const Target& values, const Target& ids) {
  const int last = x.layout->rank() - 1;
  const Rows rows{x.data(),
                  x.dtype,
                  dtype_bytes(x.dtype, 1),
                  x.layout->dim(last),
                  ids.layout->dim(last),
                  ascending,
                  values.storage == nullptr ? nullptr : values.data(),
                  reinterpret_cast<uint32_t*>(ids.data())};
  if (rows.bytes == 1 && rows.length > kLeastCounted && !selects(rows)) {
    sort_byte_rows(rows, *x.layout);
  } else if (rows.bytes == 8) {
    sort_rows<WideItem>(rows, *x.layout);
  } else {
    sort_rows<NarrowItem>(rows, *x.layout);
  }
}

}  // namespace beeswax::cpu
