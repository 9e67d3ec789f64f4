// SPDX-License-Identifier: Apache-2.0
// ../shared/isa as instructions: names, opcodes, operands in the assembler's order, pseudo-code as trees.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/isa/machine.h"

namespace emu::isa {

struct Operand {
  std::string role;  // vdst, sdst, src0, src1, src2, simm16; memory: addr, data, vdst, both (data and result)
  std::string format;  // F32, PK2_F16, M64: without FMT_NUM_
  std::string type;    // VGPR, SRC, SREG, SSRC: without OPR_
  int bits = 0;
  bool scalar() const;
  int registers() const { return bits <= 32 ? 1 : (bits + 31) / 32; }
};

struct Instruction {
  std::string family;  // the encoding: VOP2; memory: DS, GLOBAL, FLAT, SCRATCH, BUFFER, SMEM
  std::string name;    // as documented: V_ADD_F32_E32
  std::string base;    // without the encoding's suffix
  int opcode = 0;
  std::vector<Operand> operands;
  std::string source;          // the pseudo-code, for messages and as a key
  const Node* text = nullptr;  // null: none, or not understood
  std::string trouble;         // why it was not understood
  const Operand* operand(const std::string& role) const;
};

class Document {
 public:
  /// rdna3, rdna4 or cdna. Empty where ../shared is not there.
  explicit Document(const std::string& name);
  const std::string& name() const { return name_; }
  /// Vector and scalar ALU.
  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// LDS and memory.
  const std::vector<Instruction>& memory() const { return memory_; }
  const Library& library() const { return library_; }

 private:
  std::string name_;
  std::vector<Instruction> instructions_, memory_;
  std::map<std::string, Tree> trees_;  // by their text
  std::map<std::string, const Node*> by_base_;
  Library library_;
};

}  // namespace emu::isa
