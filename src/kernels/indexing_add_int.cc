// SPDX-License-Identifier: Apache-2.0
// Keys of contributions; sums of integers, which wrap whatever their sign: by size.
#include "kernels/ids.h"
#include "kernels/index_sum.h"

namespace beeswax::gpu {

BW_KERNEL(kMapThreads) index_keys(IndexKeysArgs args) {
  uint32_t i = block() * (kMapThreads * kIndexUnroll) + thread();
#pragma unroll
  for (int k = 0; k < kIndexUnroll; ++k, i += kMapThreads) {
    if (i >= args.count) return;
    int64_t offset[2], id[1];
    offsets_at(args.walk, i, offset);
    const int64_t at[1] = {offset[0]};
    read_ids(args.ids, at, id);
    id[0] = legal_id(args.ids, id[0], at[0], i);
    args.keys[i] = id[0] == kSkip ? args.skipped : static_cast<uint32_t>(offset[1] + id[0]);
  }
}

}  // namespace beeswax::gpu

BW_INDEX_ADD(uint8_t, 1, beeswax::gpu::kAddPack)
BW_INDEX_ADD(uint16_t, 2, beeswax::gpu::kAddPack)
BW_INDEX_ADD(uint32_t, 4, beeswax::gpu::kAddPack)
BW_INDEX_ADD(uint64_t, 8, beeswax::gpu::kAddPack / 2)
