// SPDX-License-Identifier: Apache-2.0
// Ids on the way to kernels.
#pragma once

#include <limits>

#include "backends/gpu/launch.h"
#include "kernels/index_args.h"

namespace beeswax::gpu {

static_assert(static_cast<int>(DType::U8) == 0 && static_cast<int>(DType::U32) == 1 &&
                  static_cast<int>(DType::I16) == 2 && static_cast<int>(DType::I32) == 3 &&
                  static_cast<int>(DType::I64) == 4,
              "IdsArgs::kind is the number of a dtype");

inline constexpr int64_t kLargestId[] = {
    std::numeric_limits<uint8_t>::max(), std::numeric_limits<uint32_t>::max(),
    std::numeric_limits<int16_t>::max(), std::numeric_limits<int32_t>::max(),
    std::numeric_limits<int64_t>::max()};

/// The ids from `offset` on. `list`: they are one list that all columns share; else `first` is the linear
/// index there.
inline IdsArgs ids_args(const Operand& ids, int64_t size, bool list, int64_t offset, int64_t first,
                        const Reporter& report) {
  IdsArgs args{};
  args.ids = at(ids.data(), offset, ids.dtype);
  args.kind = static_cast<uint32_t>(ids.dtype);
  args.skip = kLargestId[index_of(ids.dtype)];
  args.size = size;
  args.report = report;
  args.first = list ? offset : first;
  args.step = 1;
  // A list that does not move is one id.
  if (list) args.stride = ids.layout->stride(0) != 0 ? ids.layout->stride(0) : INT64_MAX;
  return args;
}

/// The launch of indexing kernels.
inline LaunchShape index_shape(int64_t count) {
  return {{blocks_for(count, int64_t{kMapThreads} * kIndexUnroll), 1, 1}, kMapThreads, 0};
}

/// Looks at the ids of an operation that has nothing to move.
enum class IdUser { IndexSelect, IndexAdd, ScatterAdd };
void check_ids(Gpu& gpu, IdUser user, const Operand& ids, int64_t size);

}  // namespace beeswax::gpu
