// SPDX-License-Identifier: Apache-2.0
// Short rows of scatter_add: how many a block takes, and how it numbers their elements.
#include "backends/gpu/scatter_rows.h"

#include "backends/gpu/ids.h"
#include "backends/index_layouts.h"
#include "kernels/scatter_rows_args.h"

namespace beeswax::gpu {
namespace {

enum Kind : size_t { kF32, kF64, kWords, kLongWords, kKinds };
// Those for long rows stand behind the others.
KernelTable kernels(2 * kKinds, [](size_t i) -> KernelTable::Name {
  constexpr const char* kNames[] = {"f32", "f64", "4", "8"};
  return {join_text(i < kKinds ? "scatter_rows_" : "scatter_long_rows_", kNames[i % kKinds]), "scatter_add"};
});

constexpr int64_t kMostShared = 48 * 1024;  // that every GPU gives a block
constexpr int64_t kMostPlaces = 65535;      // of a block: half words
// Elements of several rows together: more blocks stand side by side than of the most that one can take.
constexpr int64_t kSeveral = 2048;
constexpr int64_t kMostRows = 128;
// A row with more destinations for each of its contributions spends its time on those that get none.
constexpr int64_t kMostSparse = 64;

enum Operands : size_t { kIds, kFrom, kTo, kNumber };

struct Plan {
  Kind kernel;
  uint32_t element;  // bytes of one in shared memory
  bool lists;
  RowsMemory memory(int64_t rows, int64_t length, int64_t size) const {
    return rows_memory(static_cast<uint32_t>(rows), static_cast<uint32_t>(rows * length),
                       static_cast<uint32_t>(rows * size), element, lists);
  }
};
Plan plan_of(DType dtype) {
  if (dtype == DType::F64) return {kF64, 8, true};
  if (dtype_is_float(dtype)) return {kF32, 4, true};
  return bytes_of(dtype) == 8 ? Plan{kLongWords, 8, false} : Plan{kWords, 4, false};
}
uint32_t kind_of(DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return kRowsBF16;
    case DType::F16:
      return kRowsF16;
    case DType::F8E4M3:
      return kRowsF8;
    case DType::F32:
    case DType::F64:
      return kRowsWide;
    default:
      return static_cast<uint32_t>(bytes_of(dtype));
  }
}

// Whether positions along the axis lie farther apart than rows do, for most operands.
bool lies_across(const Nest<4>& rows, const std::array<int64_t, 4>& steps) {
  int votes = 0;
  for (size_t k : {kIds, kFrom, kTo})
    votes += std::abs(rows.strides[k][rows.last()]) < std::abs(steps[k]) ? 1 : 0;
  return rows.inner() > 1 && votes >= 2;
}

int64_t rows_in_block(const Plan& plan, int64_t rows, int64_t length, int64_t size, bool across, int units) {
  const int64_t longest = std::max(length, size);
  int64_t in_block =
      std::clamp<int64_t>((across ? int64_t{most_in_rows(false)} : kSeveral) / longest, 1, kMostRows);
  // Every unit gets blocks; neighbours stay together where they share lines.
  if (!across) in_block = std::clamp<int64_t>(rows / (2 * int64_t{std::max(units, 1)}), 1, in_block);
  while (in_block > 1 && plan.memory(in_block, length, size).bytes > kMostShared) --in_block;
  return std::min(in_block, rows);
}

}  // namespace

bool scatter_rows(Gpu& gpu, const Operand& ids, const Operand& source, int axis, const Target& out) {
  const int64_t length = ids.layout->dim(axis), size = out.layout->dim(axis);
  const Plan plan = plan_of(source.dtype);
  if (size == 0 || length > most_in_rows(true) || size > std::min(kMostPlaces, kMostSparse * length) ||
      plan.memory(1, length, size).bytes > kMostShared)
    return false;

  const Shape& shape = ids.layout->shape();
  const Layout numbers(shape);
  const Layout ids_rows = drop_axis(*ids.layout, axis), from_rows = drop_axis(*source.layout, axis),
               to_rows = drop_axis(without_step(*out.layout, shape, axis), axis),
               number_rows = drop_axis(numbers, axis);
  const Nest<4> rows({&ids_rows, &from_rows, &to_rows, &number_rows});

  const bool longer = length > most_in_rows(false);
  const Kernel& kernel = kernels.get(gpu, plan.kernel + (longer ? size_t{kKinds} : 0));
  const uint32_t threads = longer ? kLongRowsThreads : kRowsThreads;
  ScatterRowsArgs arguments{};
  arguments.kind = kind_of(source.dtype);
  arguments.length = static_cast<uint32_t>(length);
  arguments.size = static_cast<uint32_t>(size);
  const std::array<int64_t, 4> steps{ids.layout->stride(axis), source.layout->stride(axis),
                                     out.layout->stride(axis), numbers.stride(axis)};
  std::copy(steps.begin(), steps.end(), arguments.strides);
  const bool across = lies_across(rows, steps);
  const int64_t in_block = rows_in_block(plan, rows.count, length, size, across, gpu.properties().units);
  arguments.in_block = static_cast<uint32_t>(in_block);
  arguments.across = across ? 1 : 0;
  arguments.by_length = divisor_of(across ? arguments.in_block : arguments.length);
  arguments.by_size = divisor_of(across ? arguments.in_block : arguments.size);
  arguments.row_step = across ? 1 : arguments.size;
  arguments.place_step = across ? arguments.in_block : 1;
  arguments.memory = plan.memory(in_block, length, size);
  for_each_part(
      rows,
      [&](const Nest<4>& part, const std::array<int64_t, 4>& offset, int64_t) {
        arguments.ids = ids_args(ids, size, false, offset[kIds], offset[kNumber], reporter(gpu, kernel));
        arguments.x = at(source.data(), offset[kFrom], source.dtype);
        arguments.y = at(out.data(), offset[kTo], out.dtype);
        arguments.rows = static_cast<uint32_t>(part.count);
        arguments.walk = walk_of(part);
        gpu.launch(kernel, {{blocks_for(part.count, in_block), 1, 1}, threads, arguments.memory.bytes},
                   arguments);
      },
      {}, 0, most_blocks(threads) * in_block);
  return true;
}

}  // namespace beeswax::gpu
