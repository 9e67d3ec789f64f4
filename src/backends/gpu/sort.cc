// SPDX-License-Identifier: Apache-2.0
// Sorting: rows that fit a block in one launch, longer ones by radix passes over keys and ids.
#include "backends/gpu/sort.h"

#include <bit>

#include "backends/gpu/launch.h"
#include "kernels/sort_args.h"

namespace beeswax::gpu {
namespace {

// Tables have an entry for keys of 4 and one for keys of 8 bytes.
constexpr const char* kKeyBytes[] = {"4", "8"};
KernelTable small_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("sort_small_", kKeyBytes[i]), "sort"};
});
KernelTable few_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("sort_row_", kKeyBytes[i], "_few"), "sort"};
});
KernelTable row_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("sort_row_", kKeyBytes[i]), "sort"};
});
KernelTable keys_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("sort_keys_", kKeyBytes[i]), "sort"};
});
KernelTable take_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("sort_take_", kKeyBytes[i]), "sort"};
});
KernelTable count_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("radix_count_", kKeyBytes[i]), "sort"};
});
KernelTable place_kernels(2, [](size_t i) -> KernelTable::Name {
  return {join_text("radix_place_", kKeyBytes[i]), "sort"};
});
KernelTable scan_kernels(1, [](size_t) -> KernelTable::Name { return {"radix_scan", "sort"}; });

constexpr int64_t kBatch = int64_t{1}
                           << 26;     // elements of long rows sorted at once: 1 GiB of scratch for f32
constexpr int64_t kMostRows = 65535;  // a grid's second axis

uint64_t largest_bits(DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return 0x7f80;
    case DType::F16:
      return 0x7c00;
    case DType::F32:
      return 0x7f800000;
    case DType::F64:
      return 0x7ff0000000000000;
    default:
      return 0x7e;  // f8e4m3 has no infinity
  }
}

SortOrder order_of(DType dtype, bool ascending) {
  SortOrder order{};
  order.bytes = static_cast<uint32_t>(bytes_of(dtype));
  order.kind = dtype_is_float(dtype) ? 2 : dtype == DType::U8 || dtype == DType::U32 ? 0 : 1;
  order.flip = ascending ? 0 : ~uint64_t{0} >> (64 - 8 * order.bytes);
  order.largest = largest_bits(dtype);
  return order;
}

size_t entry_of(int key_bytes) { return key_bytes == 8 ? 1 : 0; }
uint32_t* words(const detail::Ref<Storage>& storage) { return reinterpret_cast<uint32_t*>(storage->data()); }

// Rows that are sorted at once: long ones need scratch memory for keys and ids, and a grid's second axis.
int64_t most_rows(int64_t length, int key_bytes) {
  if (length <= int64_t{kSortThreads} * sort_items(key_bytes))
    return std::max<int64_t>(1, most_elements() / std::min<int64_t>(length, kSortThreads));
  return std::clamp<int64_t>(std::min(kBatch, most_elements()) / length, 1, kMostRows);
}

// Whether a block takes a row, and with how many elements for a thread.
bool fits_block(int64_t length, int key_bytes) {
  return length <= int64_t{kSortThreads} * sort_items(key_bytes);
}
void sort_in_blocks(Gpu& gpu, const SortArgs& arguments, int key_bytes) {
  const bool few = arguments.length <= static_cast<uint32_t>(kSortThreads * few_sort_items(key_bytes));
  gpu.launch((few ? few_kernels : row_kernels).get(gpu, entry_of(key_bytes)),
             {{arguments.rows, 1, 1}, kSortThreads, 0}, arguments);
}

// Keys and ids on their way through the passes; what a pass reads is the next one's to overwrite.
struct Passing {
  detail::Ref<Storage> keys, other_keys, ids, other_ids;
};
// Sorts rows of keys by their lowest `bits`; the last pass writes keys only where they are wanted.
void radix_sort(GpuBackend& backend, Gpu& gpu, Passing& passing, int64_t rows, int64_t length, int key_bytes,
                int bits, bool want_keys) {
  const size_t entry = entry_of(key_bytes);
  const int64_t total = rows * length;
  const int64_t tiles = ceil_div(length, int64_t{kSortThreads} * sort_items(key_bytes));
  const auto bytes = [](int64_t count, int each) {
    return static_cast<size_t>(count) * static_cast<size_t>(each);
  };
  passing.other_keys = backend.allocate(bytes(total, key_bytes));
  passing.ids = backend.allocate(bytes(total, 4));
  passing.other_ids = backend.allocate(bytes(total, 4));
  const detail::Ref<Storage> counts = backend.allocate(bytes(rows * tiles, 4 * kDigits));
  const detail::Ref<Storage> totals = backend.allocate(bytes(rows, 4 * kDigits));
  RadixArgs arguments{};
  arguments.counts = words(counts);
  arguments.totals = words(totals);
  arguments.length = static_cast<uint32_t>(length);
  arguments.tiles = static_cast<uint32_t>(tiles);
  const LaunchShape shape{{static_cast<uint32_t>(rows * tiles), 1, 1}, kSortThreads, 0};
  for (int shift = 0; shift < bits; shift += 8) {
    const bool last = shift + 8 >= bits;
    arguments.shift = static_cast<uint32_t>(shift);
    arguments.keys = passing.keys->data();
    arguments.ids = shift == 0 ? nullptr : words(passing.ids);
    arguments.keys_out = last && !want_keys ? nullptr : passing.other_keys->data();
    arguments.ids_out = words(passing.other_ids);
    gpu.launch(count_kernels.get(gpu, entry), shape, arguments);
    gpu.launch(scan_kernels.get(gpu, 0), {{static_cast<uint32_t>(rows * kDigits), 1, 1}, kSortThreads, 0},
               arguments);
    gpu.launch(place_kernels.get(gpu, entry), shape, arguments);
    std::swap(passing.keys, passing.other_keys);
    std::swap(passing.ids, passing.other_ids);
  }
}

// Rows that one launch of each kernel can take.
void sort_long_rows(GpuBackend& backend, Gpu& gpu, SortArgs arguments, int key_bytes) {
  const size_t entry = entry_of(key_bytes);
  Passing passing;
  passing.keys = backend.allocate(size_t{arguments.rows} * arguments.length * static_cast<size_t>(key_bytes));
  arguments.keys = passing.keys->data();
  const auto shape = [&](uint32_t elements) {
    LaunchShape out = strided_shape(elements);
    out.blocks[1] = arguments.rows;
    return out;
  };
  gpu.launch(keys_kernels.get(gpu, entry), shape(arguments.length), arguments);
  radix_sort(backend, gpu, passing, arguments.rows, arguments.length, key_bytes,
             static_cast<int>(arguments.bits), false);
  arguments.from = words(passing.ids);
  gpu.launch(take_kernels.get(gpu, entry), shape(arguments.keep), arguments);
}

}  // namespace

SortedNumbers sort_numbers(GpuBackend& backend, Gpu& gpu, detail::Ref<Storage> numbers, int64_t count,
                           int bits) {
  constexpr int kBytes = 4;
  if (fits_block(count, kBytes)) {
    SortedNumbers out{backend.allocate(static_cast<size_t>(count) * kBytes),
                      backend.allocate(static_cast<size_t>(count) * kBytes)};
    SortArgs arguments{};
    arguments.x = numbers->data();
    arguments.values = out.numbers->data();
    arguments.ids = words(out.places);
    arguments.rows = 1;
    arguments.length = arguments.keep = static_cast<uint32_t>(count);
    arguments.bits = static_cast<uint32_t>(bits);
    arguments.stride = 1;
    arguments.order = order_of(DType::U32, true);
    sort_in_blocks(gpu, arguments, kBytes);
    return out;
  }
  Passing passing;
  passing.keys = std::move(numbers);
  radix_sort(backend, gpu, passing, 1, count, kBytes, bits, true);
  return {passing.keys, passing.ids};
}

void GpuBackend::sort(const Operand& x, bool ascending, const Target& values, const Target& ids) {
  const int last = x.layout->rank() - 1;
  const int64_t length = x.layout->dim(last), keep = ids.layout->dim(last);
  const int bytes = bytes_of(x.dtype);
  const int key_bytes = bytes == 8 ? 8 : 4;
  SortArgs arguments{};
  arguments.length = static_cast<uint32_t>(length);
  arguments.keep = static_cast<uint32_t>(keep);
  arguments.bits = static_cast<uint32_t>(8 * bytes);
  arguments.stride = x.layout->stride(last);
  arguments.order = order_of(x.dtype, ascending);
  const Layout rows = x.layout->narrow(last, 0, 1);
  for_each_part(
      Nest<1>({&rows}),
      [&](const Nest<1>& part, const std::array<int64_t, 1>& offset, int64_t first) {
        arguments.x = at(x.data(), offset[0], x.dtype);
        arguments.values = values.storage == nullptr ? nullptr : at(values.data(), first * keep, x.dtype);
        arguments.ids = reinterpret_cast<uint32_t*>(ids.data()) + first * keep;
        arguments.rows = static_cast<uint32_t>(part.count);
        arguments.walk = walk_of(part);
        if (length <= kSmallRow) {
          arguments.width = std::bit_ceil(arguments.length);
          const int64_t in_block = kSortThreads / arguments.width;
          gpu_.launch(small_kernels.get(gpu_, entry_of(key_bytes)),
                      {{blocks_for(part.count, in_block), 1, 1}, kSortThreads, 0}, arguments);
        } else if (fits_block(length, key_bytes)) {
          sort_in_blocks(gpu_, arguments, key_bytes);
        } else {
          sort_long_rows(*this, gpu_, arguments, key_bytes);
        }
      },
      {}, 0, most_rows(length, key_bytes));
}

}  // namespace beeswax::gpu
