// SPDX-License-Identifier: Apache-2.0
// What an instruction must leave behind, by AMD's pseudo-code.
#pragma once

#include <memory>
#include <vector>

#include "emu/isa/assembly.h"
#include "emu/isa/forms.h"
#include "emu/isa/inputs.h"

namespace emu::isa {

/// One instruction in one form: what is run and compared.
struct Case {
  const Instruction* instruction = nullptr;
  Modifiers modifiers;
  unsigned op_sel = 0, op_sel_hi = 7;  // as written; packed instructions take both halves by default
  unsigned neg_hi = 0;                 // packed: modifiers.neg is neg_lo
  bool clamp = false;
  bool flush = false;  // f32 denormals count as zeros
  int omod = 0;
  Mode mode;
  LanePattern dpp;
  Selection sdwa;
  uint32_t literal = 0x42280000;
  std::string line;
};

struct Expected {
  Value d0;
  Value source0;                                              // instructions that exchange registers write it
  bool vcc = false, mask = false, exec = false, nan = false;  // nan: the destination is one
  uint64_t exec_word = 0;                                     // scalar instructions: all of EXEC
};

bool is_scalar(const Instruction& in);
/// Whether the destination is a mask of lanes.
bool gives_mask(const Instruction& in);

/// The case and its forms with modifiers: signs and absolute values of floats, clamp, halves by op_sel, and
/// for packed instructions op_sel, op_sel_hi and signs of each half; other roundings; omod; sources from
/// other lanes (DPP) and parts of registers (SDWA). The assembler says which of them there are.
std::vector<Case> with_modifiers(const Case& plain, const Target& target);

/// The instruction's items, with what instructions need of them (v_div_scale: two equal sources).
std::vector<Item> items_for(const Instruction& in);

/// Throws TextError where the text says what this does not know.
std::vector<Expected> expect(const Case& c, const std::vector<Item>& items, const Document& document,
                             const Target& target);

}  // namespace emu::isa
