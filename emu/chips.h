// SPDX-License-Identifier: Apache-2.0
// The chips that can be presented, and what tells them apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace emu {

enum class Family { Vega20, Cdna2, Cdna3, Rdna2, Rdna3, Rdna35, Rdna4 };

struct Chip {
  const char* name;  // "gfx1100", also LLVM's processor
  Family family;
  uint32_t mach;          // EF_AMDGPU_MACH
  uint32_t generic_mach;  // of its generic target, 0 without one
  const char* board;
  uint32_t compute_units, simds_per_unit, waves_per_simd;
  uint32_t vgprs_per_lane, vgpr_granule;
  uint64_t memory_bytes;
  uint32_t clock_khz, memory_clock_khz, bus_bits;
  uint64_t l2_bytes;
  uint32_t pci_device;

  bool rdna() const { return family >= Family::Rdna2; }
  /// Lanes of a wave as HIP launches it (an RDNA kernel may still be built for 64).
  uint32_t wave_size() const { return rdna() ? 32 : 64; }
  bool has_agprs() const { return family == Family::Cdna2 || family == Family::Cdna3; }
  /// One work-group's shared memory at most, in bytes.
  uint32_t lds_bytes() const { return 65536; }
  /// What HIP calls a multiprocessor: a pair of units on RDNA.
  uint32_t multiprocessors() const { return rdna() ? compute_units / 2 : compute_units; }
  /// The name with its features, as gcnArchName carries it.
  std::string target() const;
};

std::span<const Chip> all_chips();
/// By name; features behind ':' are ignored. Null when it is none of ours.
const Chip* find_chip(std::string_view name);
/// The processor's name of any AMD GPU for messages, "gfx1036"; "mach 0x.." when it is not known.
std::string processor_name(uint32_t mach);

}  // namespace emu
