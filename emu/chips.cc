// SPDX-License-Identifier: Apache-2.0
#include "emu/chips.h"

#include <cstdio>

namespace emu {
namespace {

constexpr Chip kChips[] = {
#define EMU_CHIP(name, family, mach, generic, board, units, simds, waves, vgprs, granule, memory_gib, clock, \
                 memory, bus, l2, pci)                                                                       \
  {#name,                                                                                                    \
   Family::family,                                                                                           \
   mach,                                                                                                     \
   generic,                                                                                                  \
   board,                                                                                                    \
   units,                                                                                                    \
   simds,                                                                                                    \
   waves,                                                                                                    \
   vgprs,                                                                                                    \
   granule,                                                                                                  \
   uint64_t{memory_gib} << 30,                                                                               \
   clock * 1000u,                                                                                            \
   memory * 1000u,                                                                                           \
   bus,                                                                                                      \
   uint64_t{l2} << 20,                                                                                       \
   pci},
#include "emu/chips.def"
};

// EF_AMDGPU_MACH_* of LLVM's AMDGPU usage guide.
constexpr struct {
  uint32_t mach;
  const char* name;
} kProcessors[] = {
    {0x2a, "gfx803"},          {0x2c, "gfx900"},        {0x2d, "gfx902"},       {0x2f, "gfx906"},
    {0x30, "gfx908"},          {0x32, "gfx90c"},        {0x33, "gfx1010"},      {0x34, "gfx1011"},
    {0x35, "gfx1012"},         {0x36, "gfx1030"},       {0x37, "gfx1031"},      {0x38, "gfx1032"},
    {0x39, "gfx1033"},         {0x3d, "gfx1035"},       {0x3e, "gfx1034"},      {0x3f, "gfx90a"},
    {0x40, "gfx940"},          {0x41, "gfx1100"},       {0x42, "gfx1013"},      {0x43, "gfx1150"},
    {0x44, "gfx1103"},         {0x45, "gfx1036"},       {0x46, "gfx1101"},      {0x47, "gfx1102"},
    {0x48, "gfx1200"},         {0x4a, "gfx1151"},       {0x4b, "gfx941"},       {0x4c, "gfx942"},
    {0x4e, "gfx1201"},         {0x4f, "gfx950"},        {0x51, "gfx9-generic"}, {0x52, "gfx10-1-generic"},
    {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"}, {0x55, "gfx1152"},      {0x59, "gfx12-generic"},
};

}  // namespace

std::string Chip::target() const {
  switch (family) {
    case Family::Vega20:
    case Family::Cdna2:
    case Family::Cdna3:
      return std::string(name) + ":sramecc+:xnack-";
    default:
      return name;
  }
}

std::span<const Chip> all_chips() { return kChips; }

const Chip* find_chip(std::string_view name) {
  name = name.substr(0, name.find(':'));
  for (const Chip& chip : kChips)
    if (name == chip.name) return &chip;
  return nullptr;
}

std::string processor_name(uint32_t mach) {
  for (const auto& processor : kProcessors)
    if (processor.mach == mach) return processor.name;
  char text[32];
  std::snprintf(text, sizeof text, "mach 0x%x", static_cast<unsigned>(mach));
  return text;
}

}  // namespace emu
