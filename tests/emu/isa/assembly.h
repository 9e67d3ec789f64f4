// SPDX-License-Identifier: Apache-2.0
// Instructions as kernels: each loads the registers of 1,024 work-items, executes the instruction, and stores
// what it changed. The machine code is clang's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emu/isa/document.h"
#include "emu/isa/forms.h"

namespace emu::isa {

struct Target {
  std::string chip;
  int generation;  // 9, 10, 11, 12
  unsigned lanes;
  bool accumulators;  // gfx90a and later of CDNA
};

/// Words that a work-item stores: destination (4), VCC or SCC, mask or EXEC's low half, EXEC's bit or high
/// half, scalar result, first source (2).
inline constexpr unsigned kInputWords = 16, kOutputWords = 16;

/// The instruction as the assembler writes it, on the kernels' registers. Empty where this does not know how.
/// `modifiers` follow the operands; negations and absolute values are written around them.
struct Modifiers {
  unsigned neg = 0, abs = 0, sext = 0;  // by source
  std::string suffix, after;            // behind the mnemonic ("_dpp") and behind the operands
};
std::string written(const Instruction& in, const Target& target, uint32_t literal,
                    const Modifiers& modifiers = {});

/// Which of these lines the assembler takes for the chip.
std::vector<bool> accepted(const std::vector<std::string>& lines, const Target& target);

/// The same for instructions of LDS and memory; atomics that can hand back the old value do.
std::string written_memory(const Instruction& in, const Target& target);

/// What stands around the instruction. Replaced: its result takes the registers of its data.
enum class Body { Vector, Scalar, Lds, Memory, Replaced, Scratch, SmemLoad, SmemStore, SmemAtomic, SmemWide };
/// That of a memory instruction.
Body body_of(const Instruction& in);
/// A code object with one kernel t<i> for each line; `bodies` says what it works on, `modes` how floats are
/// rounded there (all as usual when empty). LDS and memory start with the 16 bytes of S0 and S1, and come out
/// in the last four words. SmemWide: loads of more than 16 bytes, which read the item's whole input and fill
/// its output; registers that they leave alone hold kWideBefore.
inline constexpr uint32_t kWideBefore = 0x5a;
std::vector<std::byte> kernels(const std::vector<std::string>& lines, const std::vector<Body>& bodies,
                               const std::vector<Mode>& modes, const Target& target);

}  // namespace emu::isa
