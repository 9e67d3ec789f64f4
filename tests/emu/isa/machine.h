// SPDX-License-Identifier: Apache-2.0
// Runs pseudo-code on the registers of one lane, or of a whole wave where the text names other lanes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emu/isa/text.h"

namespace emu::isa {

/// What an instruction reads and writes.
struct State {
  Value source[3];      // S0, S1, S2: whole registers, modifiers applied
  Value memory;         // 16 bytes from the instruction's address on
  bool stores = false;  // VDATA is a source
  unsigned offset1 = 0;
  /// Results of more than 128 bits: the text runs once for each 128 of them. Of D0 and of memory it then sees
  /// the 16 bytes from 16 * window on; what it does to others is lost.
  bool wide = false;
  int window = 0;
  Value outside = make(Base::Bits, 128, 0);
  Value d0, d1;  // destination registers, with what they held
  Base d0_base = Base::Bits;
  int d0_width = 32;  // as the text last wrote it
  Value vcc = make(Base::Bits, 64, 0), exec = make(Base::Bits, 64, ~uint64_t(0)), scc = make_bool(false);
  Value m0 = make(Base::Bits, 32, 0);
  unsigned lane = 0, lanes = 32;
  bool vector = true;    // VCC as a whole means the lane's bit of it
  bool ieee = true;      // WAVE_MODE.IEEE
  bool ocp = false;      // which 8-bit floats the chip has
  uint32_t literal = 0;  // SIMM32, SIMM16
  unsigned op_sel = 0, op_sel_hi = 7, neg = 0;
  Rounding rounding = Rounding::NearestEven;
  /// Registers of the whole wave by operand (0..2: sources, 3: destination) and lane; null for one lane.
  std::vector<Value>* wave[4] = {};
};

/// Finds the text of an instruction that another one calls (v_max_f32); null where there is none.
using Library = std::function<const Node*(const std::string& name)>;

/// Throws TextError for what the text asks and this does not know.
void run(const Node& text, State& state, const Library& library);

/// A function of the text that has no text of its own (isNAN, f32_to_i32, ldexp ...).
Value call(const std::string& name, const std::vector<Value>& arguments, const State& state);

}  // namespace emu::isa
