// SPDX-License-Identifier: Apache-2.0
// Instruction tables. A group of instructions is one file of ops/, compiled once per instruction-set level,
// with one table of rows; groups.def names the groups. A row maps AMD's mnemonic to the handler and says how
// the text's operands fill the micro-operation.
#pragma once
#include "emu/exec/machine.h"

namespace emu::exec {

enum class Form : uint8_t {
  Vector,     // destination, then sources as the types say
  Scalar,     // the same with scalar registers; destination type None: compares
  ScalarK,    // scalar destination that is also the first source, 16-bit immediate
  Branch,     // a 16-bit word offset, relative
  Immediate,  // a 16-bit immediate, or nothing
  Smem,
  Flat,  // flat, global and scratch, by `space`
  Lds,
  Buffer,
  Lane,    // v_readlane, v_writelane and their like: any registers in any place
  Custom,  // operands in the text's order, destination first, no types
};

enum class Class : uint8_t {
  Scalar,
  Vector,
  Transcendental,
  Double,
  Matrix,
  Dot,
  LaneCross,
  ScalarMemory,
  Global,
  Scratch,
  Lds,
  Atomic,
  Branch,
  Wait,
  Barrier,
  Other,
  Count
};

enum RowFlag : uint16_t {
  kAccumulate = 1,  // the destination is the last source
  kSaveExec = 2,
  kStore = 4,  // Flat, Lds: data is an operand, nothing comes back
  kAtomic = 8,
  kScratchSpace = 16,
  kFlatSpace = 32,
  kCrossLane = 64,   // results do not follow the lane of their sources: treated as initialized
  kZeroHigh9 = 128,  // on gfx9 a 16-bit result clears the upper half
  kTwoAddress = 256,
  kSelects = 512,  // takes one of two sources: initialized where the taken one is
  kImplicitVcc = 1024,
  kNoDst = 2048,  // vector form without destination (v_nop, v_cmpx of gfx10 and later)
  kWritesExec = 4096,
  kNegIsSign = 16384,  // neg_lo says which factors are signed; it goes to Op::imm
  kCarriesUp = 32768,  // the low word of the result follows from the low words of the sources
  kPartial = 8192,     // keeps part of the destination (d16, 16-bit results)
};

struct Row {
  const char* name;
  Handler run;
  Form form;
  Class cls;
  Type dst, dst2;
  Type src[4];
  uint16_t flags;
  uint8_t bytes;      // memory: of one element; other forms: as the handler likes
  uint8_t dst_words;  // registers of the destination
  uint8_t src_words[4];
  uint8_t truth;  // scalar operations bit by bit: f(0b1100, 0b1010), the second source being EXEC where it
                  // is written; 0: not such an operation
};

struct RowGroup {
  const char* name;
  const Row* rows;
  size_t count;
};

/// The row of a mnemonic for the instruction-set level in use; null when there is none.
const Row* find_row(const char* mnemonic);

}  // namespace emu::exec
