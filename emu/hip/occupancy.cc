// SPDX-License-Identifier: Apache-2.0
#include "emu/hip/occupancy.h"

#include <algorithm>

namespace emu::hip {
namespace {

uint32_t round_up(uint32_t value, uint32_t step) { return (value + step - 1) / step * step; }

constexpr uint32_t kSgprsPerSimd = 800, kSgprGranule = 16;  // before RDNA; there every wave has its own

}  // namespace

Occupancy occupancy(const Kernel& kernel, uint32_t block, uint32_t dynamic_lds) {
  const Chip& chip = *kernel.chip;
  const uint64_t lds = uint64_t{kernel.group_segment_bytes} + dynamic_lds;
  if (block == 0 || block > kernel.max_flat_workgroup_size || lds > chip.lds_bytes()) return {0, 0};
  // RDNA's registers are counted in waves of 32; a wave of 64 takes two.
  uint32_t vgprs = std::max(1u, kernel.vgpr_count);
  // On CDNA both kinds share one file; accumulation registers begin at a multiple of 4.
  if (chip.has_agprs())
    vgprs =
        round_up(kernel.vgpr_count - std::min(kernel.vgpr_count, kernel.agpr_count), 4) + kernel.agpr_count;
  vgprs = std::max(1u, vgprs);
  const bool wide_on_rdna = chip.rdna() && kernel.wavefront_size == 64;
  const uint32_t granule = wide_on_rdna ? chip.vgpr_granule / 2 : chip.vgpr_granule;
  const uint32_t room = wide_on_rdna ? chip.vgprs_per_lane / 2 : chip.vgprs_per_lane;
  uint32_t waves = chip.waves_per_simd;
  const char* limit = "slots";
  const auto at_most = [&](uint32_t most, const char* reason) {
    if (most >= waves) return;
    waves = most;
    limit = reason;
  };
  at_most(room / round_up(vgprs, std::max(1u, granule)), "vgprs");
  if (!chip.rdna() && kernel.sgpr_count > 0)
    at_most(kSgprsPerSimd / round_up(kernel.sgpr_count, kSgprGranule), "sgprs");
  // A multiprocessor of RDNA is two units.
  const uint32_t simds = chip.simds_per_unit * (chip.rdna() ? 2 : 1);
  const uint32_t waves_of_group = (block + kernel.wavefront_size - 1) / kernel.wavefront_size;
  uint32_t groups = waves * simds / waves_of_group;
  const uint32_t lds_here = chip.lds_bytes() * (chip.rdna() ? 2 : 1);
  if (lds > 0 && lds_here / lds < groups) {
    groups = static_cast<uint32_t>(lds_here / lds);
    limit = "lds";
  }
  const uint32_t resident = std::min(waves, (groups * waves_of_group + simds - 1) / simds);
  return {groups, resident, limit};
}

}  // namespace emu::hip
