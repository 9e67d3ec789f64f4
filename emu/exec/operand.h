// SPDX-License-Identifier: Apache-2.0
// One operand as the disassembler writes it: a register, a constant, with its modifiers.
#pragma once
#include <string_view>

#include "emu/exec/machine.h"

namespace emu::exec {

struct Operand {
  Place place = Place::None;
  uint16_t reg = 0;
  uint8_t words = 1;
  uint8_t mods = 0;
  std::string_view constant;  // as written
};

/// "v5", "-|v[2:3]|", "sext(v1)", "0x3f800000", "off"; false for what is none of these.
bool parse_operand(std::string_view text, Operand& operand);

/// The bits that a constant has as an operand of the type.
bool constant_bits(std::string_view text, Type type, uint64_t& bits);

}  // namespace emu::exec
