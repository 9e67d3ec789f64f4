// SPDX-License-Identifier: Apache-2.0
// The state of a wave and the micro-operations that change it. Plain data only: the files of ops/ are
// compiled once per instruction-set level, and nothing here may become a function that the linker could share
// among them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {
struct Kernel;
struct Launch;
struct Options;
class Memory;
}  // namespace emu

namespace emu::exec {

// Indexes into the scalar register file. 0..105 are the SGPRs; the rest has the places of the hardware's
// operand codes up to EXEC, so that pairs (VCC, EXEC) are aligned 64-bit words.
enum ScalarIndex : uint16_t {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kTtmp = 108,
  kNull = 124,
  kM0 = 125,
  kExec = 126,
  kSharedBase = 128,
  kSharedLimit = 130,
  kPrivateBase = 132,
  kPrivateLimit = 134,
  kScc = 136,
  kTrash = 144,  // where writes to `null` go; 16 words
  kScalarWords = 160,
};
// Apertures of flat addresses: the high halves of the addresses of LDS and of private memory.
// The second word of the buffer descriptor that stands for private memory (gfx9 and gfx10).
inline constexpr uint32_t kPrivateDescriptor = 0x8000fff0;
inline constexpr uint32_t kSharedAperture = 0x10000, kPrivateAperture = 0x20000;

// What an operand means: how constants are encoded, how wide it is, which modifiers fit.
enum class Type : uint8_t {
  None,
  B32,
  U32,
  I32,
  F32,
  B64,
  U64,
  I64,
  F64,
  U16,
  I16,
  F16,
  Mask,      // one bit per lane, in scalar registers
  VccMask,   // the same, always VCC, not written in the text
  Pack16,    // two integers of 16 bits
  PackF16,   // two halves
  PackBf16,  // two bfloat16
  PackF32,   // two floats in a register pair
  Mix,       // f32 or a half of 16 bits, by op_sel_hi
  Wide,      // more than two registers; the row's parameters say how many
  Mode,      // not an operand: the MODE register
  Scc,       // not an operand: SCC
};

enum class Place : uint8_t { None, Vector, Scalar, Constant };
enum Modifier : uint8_t {
  kNeg = 1,
  kAbs = 2,
  kSext = 4,
  kHigh = 8,       // op_sel: the upper half of the register
  kPackHigh = 16,  // op_sel_hi: the second element comes from the upper half
  kNegHigh = 32,   // neg_hi
  kSelect = 64,    // SDWA selection in `select`
  kDpp = 128,      // lanes are permuted by Op::dpp
};
enum class Select : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };

struct Source {
  const uint32_t* row;  // Constant: 32 copies of the low word, then 32 of the high word
  uint64_t value;       // Constant
  uint32_t offset;      // Vector: register times lanes
  uint16_t reg;
  Place place;
  uint8_t mods;
  uint8_t words;
  Select select;
  Type type;
};

struct Dpp {
  uint8_t from[64];     // lane to read
  uint64_t valid;       // lanes whose source lies inside the row
  uint64_t enabled;     // row_mask and bank_mask
  bool bound_zero;      // an invalid source reads as zero; otherwise the lane is not written
  bool fetch_inactive;  // lanes that EXEC disables may be read
};

struct Wave;
struct Op;
struct Row;
using Handler = const Op* (*)(Wave&, const Op*);  // returns the next operation, or null when the wave stops

enum OpFlag : uint16_t {
  kClamp = 1,
  kSlowOut = 2,  // clamp, omod or an SDWA destination: results pass a second step
  kReturns = 4,  // an atomic that gives the old value
  kHasScalarBase = 8,
  kDstHigh = 16,      // op_sel: the result goes to the upper half
  kIndexed = 32,      // buffer: idxen
  kOffset = 64,       // buffer: offen
  kSecond = 128,      // second half of a VOPD pair, not counted again
  kKeepUnused = 256,  // SDWA dst_unused:UNUSED_PRESERVE
  kSextUnused = 512,  // SDWA dst_unused:UNUSED_SEXT
  kToLds = 1024,      // buffer or global load into LDS
  kZeroHigh = 2048,   // a 16-bit result clears the upper half (gfx9's VOP1 and VOP2)
};

struct Op {
  Handler run;
  Source src[4];
  const Op* target;  // branches
  const Dpp* dpp;
  const Row* row;       // null: not implemented
  int64_t imm;          // byte offset, or the 16-bit immediate
  uint32_t dst_offset;  // vector destination: register times lanes
  uint16_t dst, dst2;
  uint32_t offset;  // of the instruction in the program's text
  uint16_t flags;
  uint8_t omod;  // 0, 1: times 2, 2: times 4, 3: by 2
  Select dst_select;
  Place dst_place;
  uint8_t dst_words, bytes, sources;
  uint32_t raw[2];  // the first words of the encoding
  uint32_t text;    // index of its disassembly
  uint32_t index;   // of its class, for counting
};

// Waiting: at gfx12's barrier; Grid: at a barrier of the whole grid (grid_sync.h).
enum class State : uint8_t { Ready, Barrier, Waiting, Grid, Ended };

struct Group;
struct Worker;
struct Checker;  // the checking state of a worker (check.h)

// MODE bits.
inline constexpr uint32_t kModeDefault = 0xf0, kModeFpMask = 0xff, kModeDx10Clamp = 0x100, kModeIeee = 0x200,
                          kModeFp16Overflow = 1u << 23,
                          kModeSkip = 1u << 28;  // gfx9: vector instructions are skipped

struct alignas(64) Wave {
  uint32_t s[kScalarWords];
  uint32_t* v;     // vector registers: v[register * lanes + lane]; accumulation registers from 256 on
  uint32_t lanes;  // 32 or 64
  uint32_t mode;
  const Op* pc;  // where the wave goes on
  Group* group;
  Worker* worker;
  Checker* checker;                           // null when unchecked
  uint64_t* initialized;                      // checked: one mask of lanes per vector register
  uint32_t scalar_initialized[kScalarWords];  // checked: one mask of bits per scalar register
  std::byte* scratch;                         // private memory: lane after lane
  uint32_t scratch_bytes;                     // of one lane
  uint32_t id;                                // in its group
  int32_t budget;                             // backward branches until the wave gives way
  State state;
  uint8_t generation;  // 9, 10, 11, 12
  uint32_t vector_registers;
  uint32_t barrier_epoch;  // gfx12: one more than the group's when this wave last signaled
  uint32_t grid_barrier;   // the barrier of grid_resource at which the wave waits
  uint8_t grid_resource;
  uint64_t code;      // host address of the program's first byte
  uint64_t existing;  // lanes that hold a work-item
};

struct Group {
  std::byte* lds;
  uint32_t lds_bytes;
  uint32_t id[3];
  uint32_t linear;
  Wave* waves;
  uint32_t wave_count;
  const Launch* launch;
  uint32_t epoch;  // barriers passed
};

inline uint64_t& word64(uint32_t* words) { return *reinterpret_cast<uint64_t*>(words); }

}  // namespace emu::exec
