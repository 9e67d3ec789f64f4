// SPDX-License-Identifier: Apache-2.0
// softmax_spread_<dtype> and its logarithm, softmax_spread_loose_<dtype> where packs do not fit: rows too
// long for a block, in the registers of a cluster of blocks, which tell each other what they find.
//   floors: bytes of x and y over the memory's bandwidth
#include "kernels/norm_rows.h"
#include "kernels/sm_90/cluster.h"
#include "kernels/softmax_rows.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// A row over the blocks of a cluster.
struct OverCluster {
  static constexpr uint32_t kMostBlocks = 8;
  BW_DEVICE_MEMBER static uint32_t row() { return cluster_number(); }
  BW_DEVICE_MEMBER static uint32_t rank() { return cluster_rank(); }
  /// Puts a number where `at` lies into every block; by threads t of a group that has it, at least 8.
  BW_DEVICE_MEMBER static void share(float* at, float value, uint32_t t) {
    if (t < cluster_blocks()) store_to_block(shared_address(at), t, value);
  }
  BW_DEVICE_MEMBER static void meet() { cluster_barrier(); }
};

// Blocks write to each other once all have begun, and end when nobody writes to them any more: after the last
// meeting.
#define BW_SPREAD_ROWS(Rows)                           \
  BW_SHARED static float partials[2][Rows::kPartials]; \
  cluster_arrive();                                    \
  const Rows rows(args);                               \
  cluster_wait();
#define BW_SPREAD(S, name, kind, infix, blocks)                                                       \
  using kind##_##name = RegisterRow<S, RowKind::kind, OverCluster>;                                   \
  BW_KERNEL_SIDE_BY_SIDE(kind##_##name::kBlock, blocks) softmax_spread_##infix##name(RowsArgs args) { \
    BW_SHARED static TermsKept<kind##_##name> waiting;                                                \
    BW_SPREAD_ROWS(kind##_##name)                                                                     \
    softmax_rows(rows, args, partials, waiting);                                                      \
  }                                                                                                   \
  BW_KERNEL_SIDE_BY_SIDE(kind##_##name::kBlock, blocks) norm_spread_##infix##name(RowsArgs args) {    \
    BW_SPREAD_ROWS(kind##_##name)                                                                     \
    norm_rows(rows, args, partials);                                                                  \
  }
#define BW_SPREAD_BOTH(S, name, blocks) \
  BW_SPREAD(S, name, Wide, , blocks)    \
  BW_SPREAD(S, name, LooseWide, loose_, 2)
BW_SPREAD_BOTH(float, f32, 1)
BW_SPREAD_BOTH(f16, f16, 2)
BW_SPREAD_BOTH(bf16, bf16, 2)

}  // namespace beeswax::gpu
#endif
