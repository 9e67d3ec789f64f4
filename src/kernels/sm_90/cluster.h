// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: their barrier and each other's shared memory. PTX ISA 7.8: barrier.cluster, mapa,
// shared::cluster.
#pragma once

#include "kernels/mma/wgmma.h"

#if BW_NVIDIA
namespace beeswax::gpu {

/// Waits for all threads of the cluster that have not ended; what they wrote before is seen after.
BW_DEVICE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
/// In two steps, and what was written does not wait, but for phases' beginnings (phase_init_done): the shared
/// memory of all blocks is there after both.
BW_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
BW_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/// The cluster's number, its blocks and the place of this one among them.
BW_DEVICE uint32_t cluster_number() {
  uint32_t x;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  return x;
}
BW_DEVICE uint32_t cluster_blocks() {
  uint32_t x;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(x));
  return x;
}
BW_DEVICE uint32_t cluster_rank() {
  uint32_t x;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(x));
  return x;
}
/// Writes a float to where `at` lies in the shared memory of a block of the cluster, and counts its bytes
/// there in the phase that lies at `phase`.
BW_DEVICE void send_to_block(uint32_t at, uint32_t block, float value, uint32_t phase) {
  asm volatile(
      "{ .reg .b32 a, p; mapa.shared::cluster.u32 a, %0, %1; mapa.shared::cluster.u32 p, %3, %1; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [a], %2, [p]; }" ::"r"(at),
      "r"(block), "f"(value), "r"(phase)
      : "memory");
}
/// Four floats that lie at `at` in the shared memory of a block of the cluster.
BW_DEVICE Pack<float, 4> load_of_block(uint32_t at, uint32_t block) {
  Pack<float, 4> pack;
  asm volatile(
      "{ .reg .b32 a; mapa.shared::cluster.u32 a, %4, %5; ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [a]; }"
      : "=f"(pack.v[0]), "=f"(pack.v[1]), "=f"(pack.v[2]), "=f"(pack.v[3])
      : "r"(at), "r"(block)
      : "memory");
  return pack;
}

}  // namespace beeswax::gpu
#endif
