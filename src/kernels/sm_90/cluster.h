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
/// The same in two steps: what other blocks have in shared memory is there after both.
BW_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
BW_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
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
/// Writes a float to where `at` lies in the shared memory of a block of the cluster.
BW_DEVICE void store_to_block(uint32_t at, uint32_t block, float value) {
  asm volatile(
      "{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; st.shared::cluster.f32 [a], %2; }" ::"r"(at),
      "r"(block), "f"(value)
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
