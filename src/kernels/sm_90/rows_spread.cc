// SPDX-License-Identifier: Apache-2.0
// softmax_spread_<dtype> and its logarithm, softmax_spread_loose_<dtype> where packs do not fit: rows too
// long for a block, in the registers of a cluster of blocks, which tell each other what they find.
//   floors: bytes of x and y over the memory's bandwidth
#include "kernels/norm_rows.h"
#include "kernels/sm_90/cluster.h"
#include "kernels/softmax_rows.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// A row over the blocks of a cluster. Behind the partial results of a join lies the phase that counts them.
struct OverCluster {
  static constexpr uint32_t kMostBlocks = 8, kPhase = 2;
  BW_DEVICE_MEMBER static uint32_t row() { return cluster_number(); }
  BW_DEVICE_MEMBER static uint32_t rank() { return cluster_rank(); }
  /// For a join of as many numbers from each block; by all threads, and the blocks meet before they share.
  template <uint32_t n>
  BW_DEVICE_MEMBER static void begin(float (&partials)[n], uint32_t of_block) {
    if (thread() != 0) return;
    const uint32_t phase = shared_address(partials + (n - kPhase));
    phase_init(phase, 1);
    phase_init_done();
    phase_arrive_expect(phase, cluster_blocks() * of_block * static_cast<uint32_t>(sizeof(float)));
  }
  /// Puts number i where it lies into every block; by threads t of a group that has it, at least 8.
  BW_DEVICE_MEMBER static void share(float* partials, uint32_t i, float value, uint32_t t, uint32_t phase) {
    if (t < cluster_blocks())
      send_to_block(shared_address(partials + i), t, value, shared_address(partials + phase));
  }
  /// Waits for all of a join.
  BW_DEVICE_MEMBER static void meet(const float* partials, uint32_t phase) {
    phase_wait(shared_address(partials + phase), 0);
  }
};

// Blocks write to each other once all have begun, and nobody writes to one that has all numbers.
#define BW_SPREAD_ROWS(Rows)                                      \
  alignas(8) BW_SHARED static float partials[2][Rows::kPartials]; \
  OverCluster::begin(partials[0], args.block_chunks);             \
  OverCluster::begin(partials[1], args.block_chunks);             \
  cluster_arrive();                                               \
  const Rows rows(args);                                          \
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
