// SPDX-License-Identifier: Apache-2.0
// From one instruction's text to its micro-operation.
#pragma once
#include <string_view>

#include "emu/exec/program.h"
#include "emu/exec/text.h"

namespace emu::exec {

/// Where constants and DPP tables of the operations live, and what is common to a program's instructions.
struct DecodeContext {
  uint32_t lanes, generation;
  std::deque<std::array<uint32_t, 64>>* rows;
  std::map<uint64_t, const uint32_t*>* row_of;
  std::deque<Dpp>* dpps;
  uint32_t* vector_registers;
};

/// Fills everything but target, text and index. A row that does not exist or operands that make no sense
/// leave op.row null: such an operation faults when it is reached.
void decode_operation(const Text& text, const uint32_t* raw, size_t words, const DecodeContext& context,
                      Op& op);

/// The handler of what cannot be decoded.
const Op* unknown_instruction(Wave& wave, const Op* op);

}  // namespace emu::exec
