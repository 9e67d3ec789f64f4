// SPDX-License-Identifier: Apache-2.0
// Sorting rows: one task for many short rows, all threads on one row where rows are few and long.
#include <cstring>

#include "backends/cpu/backend.h"
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

template <class Item>
void sort_rows(const Rows& rows, const Layout& layout) {
  const int last = layout.rank() - 1;
  Layout outer = layout;
  outer = outer.narrow(last, 0, 1);
  const Nest<1> nest({&outer});
  const int64_t stride = layout.stride(last);
  const bool dense = stride == 1 || rows.length == 1;
  const auto row_bytes = static_cast<size_t>(rows.length) * rows.bytes;
  const auto run = [&](int64_t begin, int64_t end, auto&& sort_one) {
    const Scratch<Item> scratch(scratch_items<Item>(rows));
    const Scratch<std::byte> copy(dense ? 0 : static_cast<int64_t>(row_bytes));
    NestPosition<1> position(nest, begin);
    for (int64_t row = begin; row < end; ++row) {
      const std::byte* x = rows.x + position.offset(0) * static_cast<int64_t>(rows.bytes);
      if (!dense) {
        copy_kernels().gather[size_class(rows.bytes)](copy.data(), x, stride, rows.length);
        x = copy.data();
      }
      sort_one(rows, x, row, scratch.data());
      position.advance(1);
    }
  };
  if (rows.length >= kParallelRow && nest.count < ThreadPool::global().threads() && !selects(rows)) {
    run(0, nest.count, sort_long_row<Item>);
    return;
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(rows.length, 1));
  parallel_ranges(nest.count, grain, [&](int64_t begin, int64_t end) { run(begin, end, sort_row<Item>); });
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
  if (rows.bytes == 8) {
    sort_rows<WideItem>(rows, *x.layout);
  } else {
    sort_rows<NarrowItem>(rows, *x.layout);
  }
}

}  // namespace beeswax::cpu
