// SPDX-License-Identifier: Apache-2.0
// What stands around an instruction's pseudo-code: the wave's MODE, lanes that DPP reads, parts of registers
// that SDWA takes. As AMD's ISA documents describe them in the chapters on operands and modifiers.
#pragma once

#include <string>
#include <vector>

#include "emu/isa/exact.h"

namespace emu::isa {

/// MODE's bits for floats, the same for all formats.
struct Mode {
  Rounding rounding = Rounding::NearestEven;
  bool denormals = true, ieee = true;
  bool usual() const { return rounding == Rounding::NearestEven && denormals && ieee; }
  /// The field of MODE from bit 0 on: roundings, denormals, and up to gfx11 also DX10_CLAMP and IEEE.
  unsigned bits(int generation) const;
};

/// Which lane each one reads; -1 is one outside its row. Empty where there is no DPP.
struct LanePattern {
  std::string text;  // behind the operands
  std::vector<int> from;
  unsigned row_mask = 15, bank_mask = 15;
  bool bound_zero = false, inactive = false;  // bound_ctrl, fi
  bool on() const { return !from.empty(); }
  bool wants(unsigned lane) const { return (row_mask >> lane / 16 & bank_mask >> lane / 4 % 4 & 1) != 0; }
};
/// The patterns of a chip. `generation`: 9 to 12.
std::vector<LanePattern> lane_patterns(int generation, unsigned lanes);

/// Parts of registers: 0..3 bytes, 4 and 5 halves, 6 the whole register.
struct Selection {
  std::string text;
  int source[2] = {6, 6}, destination = 6;
  bool sign[2] = {};  // sext()
  enum class Unused { Pad, Sext, Preserve } unused = Unused::Pad;
  bool on() const { return !text.empty(); }
  /// The part of a source, extended to 32 bits.
  u128 taken(u128 bits, unsigned index) const;
  /// A register that held `before`, after a result.
  u128 placed(u128 result, u128 before) const;
};
/// `compare`: the destination is a mask; `sources`: 1 or 2; `integers`: these may be signed.
std::vector<Selection> selections(bool compare, unsigned sources, bool integers);

}  // namespace emu::isa
