// SPDX-License-Identifier: Apache-2.0
#include "emu/exec/check.h"

#include <algorithm>
#include <cstring>

#include "emu/exec/service.h"
#include "emu/exec/worker.h"

namespace emu::exec {
namespace {

bool scalar_defined(const Wave& w, unsigned first, unsigned words) {
  for (unsigned i = first; i < first + words; ++i)
    if (w.scalar_initialized[i] != ~uint32_t(0)) return false;
  return true;
}
/// `defined` has a bit for each of the words'.
void define_bits(Wave& w, unsigned first, unsigned words, uint64_t defined) {
  for (unsigned i = first; i < first + words && i < kScalarWords; ++i, defined >>= 32)
    w.scalar_initialized[i] = i == kM0 ? ~uint32_t(0) : uint32_t(defined);
}
void define_scalar(Wave& w, unsigned first, unsigned words, bool defined) {
  for (unsigned i = first; i < first + words; ++i) define_bits(w, i, 1, defined ? ~uint64_t(0) : 0);
}
/// One or two words of `scalars`.
uint64_t words_at(const uint32_t* scalars, unsigned first, unsigned words) {
  return scalars[first] | (words > 1 ? uint64_t(scalars[first + 1]) << 32 : 0);
}
/// Bits of a mask of lanes that are defined.
uint64_t defined_bits(const Wave& w, const Source& s, unsigned words) {
  return s.place == Place::Scalar ? words_at(w.scalar_initialized, s.reg, words) : ~uint64_t(0);
}
uint64_t defined_vcc(const Wave& w) { return words_at(w.scalar_initialized, kVcc, w.lanes / 32); }
/// Lanes where this source is defined.
uint64_t defined_lanes(const Wave& w, const Source& s) {
  if (s.place == Place::Constant || s.place == Place::None) return ~uint64_t(0);
  if (s.place == Place::Scalar) return scalar_defined(w, s.reg, s.words) ? ~uint64_t(0) : 0;
  uint64_t lanes = w.initialized[s.reg];
  for (unsigned i = 1; i < s.words; ++i) lanes &= w.initialized[s.reg + i];
  return lanes;
}
[[noreturn]] void report_register(const Wave& w, const Op* op, const Source& s, uint64_t undefined,
                                  const char* what) {
  char detail[160];
  const bool vector = s.place == Place::Vector;
  std::snprintf(detail, sizeof(detail), "%c%u%s was never written but is used as %s",
                vector ? (s.reg >= 256 ? 'a' : 'v') : 's', unsigned(s.reg >= 256 ? s.reg - 256 : s.reg),
                s.words > 1 ? " (or a register after it)" : "", what);
  raise(w, op, Fault::Kind::Uninitialized, vector ? __builtin_ctzll(undefined) : -1, 0, detail);
}
void need(const Wave& w, const Op* op, const Source& s, uint64_t lanes, const char* what) {
  const uint64_t undefined = lanes & ~defined_lanes(w, s);
  if (undefined) [[unlikely]]
    report_register(w, op, s, undefined, what);
}
template <class Word>
Word word_of(const uint8_t* shadow) {
  Word word;
  std::memcpy(&word, shadow, sizeof(word));
  return word;
}
constexpr uint64_t kOnes = 0x0101010101010101;
/// Shadow bytes are 0 or 1.
bool all_initialized(const uint8_t* shadow, size_t bytes) {
  uint64_t even = kOnes, odd = kOnes;
  for (; bytes >= 16; bytes -= 16, shadow += 16) {
    even &= word_of<uint64_t>(shadow);
    odd &= word_of<uint64_t>(shadow + 8);
  }
  if (bytes >= 8) {
    even &= word_of<uint64_t>(shadow);
    bytes -= 8;
    shadow += 8;
  }
  if (bytes >= 4) {
    odd &= word_of<uint32_t>(shadow) | ~uint64_t(0xffffffff);
    bytes -= 4;
    shadow += 4;
  }
  for (; bytes > 0; --bytes) even &= *shadow++ | ~uint64_t(0xff);
  return (even & odd) == kOnes;
}

/// The same for the elements of lanes, at shadow + at[lane] - base.
template <class Offset>
bool lanes_initialized(const uint8_t* shadow, const Offset* at, uint64_t lanes, uint32_t bytes, Offset base) {
  if (bytes % 4 != 0) {
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
      if (!all_initialized(shadow + (at[__builtin_ctzll(rest)] - base), bytes)) return false;
    return true;
  }
  uint32_t all = uint32_t(kOnes);
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const uint8_t* from = shadow + (at[__builtin_ctzll(rest)] - base);
    for (uint32_t byte = 0; byte < bytes; byte += 4) all &= word_of<uint32_t>(from + byte);
  }
  return all == uint32_t(kOnes);
}

/// Whether the operation stores to private memory: functions save registers there that hold nothing.
bool saves(const Wave& w, const Op* op) {
  if (op->row->flags & kScratchSpace) return true;
  return op->row->form == Form::Buffer && (w.s[op->src[2].reg + 1] & 0xffff) == (kPrivateDescriptor & 0xffff);
}

/// Scalar operations bit by bit: a bit of the result is defined if its sources' undefined bits cannot change
/// it. Masks of lanes are made so: what the lanes that are off had before goes on, written or not.
void check_bitwise(Wave& w, const Op* op) {
  const Row* row = op->row;
  const unsigned words = row->dst == Type::U64 || op->dst_words > 1 ? 2 : 1;
  const uint64_t all = words > 1 ? ~uint64_t(0) : 0xffffffffu;
  const bool writes_exec = row->flags & kWritesExec;
  uint64_t value[2] = {0, 0}, unknown[2] = {0, 0};
  for (unsigned i = 0; i < op->sources && i < 2; ++i) {
    const Source& s = op->src[i];
    value[i] = s.place == Place::Scalar ? words_at(w.s, s.reg, words) : s.value;
    unknown[i] = all & ~defined_bits(w, s, words);
  }
  if (writes_exec) {
    value[1] = words_at(w.s, kExec, words);
    unknown[1] = all & ~words_at(w.scalar_initialized, kExec, words);
  }
  const auto result = [&](uint64_t a, uint64_t b) {
    const unsigned t = row->truth;
    return ((t & 8 ? a & b : 0) | (t & 4 ? a & ~b : 0) | (t & 2 ? ~a & b : 0) | (t & 1 ? ~a & ~b : 0)) & all;
  };
  uint64_t defined = all;
  const uint64_t bits = result(value[0], value[1]);
  if (unknown[0] | unknown[1]) {
    const uint64_t a0 = value[0] & ~unknown[0], a1 = value[0] | unknown[0];
    const uint64_t b0 = value[1] & ~unknown[1], b1 = value[1] | unknown[1];
    const uint64_t r[4] = {result(a0, b0), result(a0, b1), result(a1, b0), result(a1, b1)};
    defined = all & ((r[0] & r[1] & r[2] & r[3]) | ~(r[0] | r[1] | r[2] | r[3]));
  }
  if (defined != all && (writes_exec || (op->dst_place == Place::Scalar && op->dst == kExec)))
    raise(w, op, Fault::Kind::Uninitialized, -1, 0, "EXEC would depend on values that were never written");
  if (op->dst_place == Place::Scalar) define_bits(w, op->dst, words, defined);
  // Moves leave SCC alone.
  if (row->truth != 12 || writes_exec) define_scalar(w, kScc, 1, defined == all || (bits & defined) != 0);
}

bool is_wide_shift(const Row& row) {
  return row.src[0] == Type::U32 && (row.src[1] == Type::U64 || row.src[1] == Type::I64) &&
         row.src[2] == Type::None;
}
/// Shifts of 64 bits by an amount that all lanes share (compilers move high words down with them): each word
/// of the result follows from the words whose bits come into it.
void check_wide_shift(Wave& w, const Op* op, uint64_t exec) {
  const Source& amount = op->src[0];
  Source word = op->src[1];
  word.words = 1;
  const uint64_t low = defined_lanes(w, word);
  ++word.reg;
  const uint64_t high = op->src[1].place == Place::Vector ? defined_lanes(w, word) : low;
  const bool known = amount.place == Place::Constant || scalar_defined(w, amount.reg, 1);
  const unsigned by = (amount.place == Place::Constant ? unsigned(amount.value) : w.s[amount.reg]) & 63;
  // "v_lshlrev_b64" goes up, "v_lshrrev_b64" and "v_ashrrev_i64" go down.
  const bool up = op->row->name[5] == 'l', fills = op->row->name[2] == 'a';
  const uint64_t all = ~uint64_t(0);
  const uint64_t near = up ? low : high, far = up ? high : low;
  const uint64_t entered = by >= 32 && !fills ? all : near;
  const uint64_t left = (by >= 32 ? all : far) & (by == 0 ? all : near);
  for (unsigned i = 0; i < 2; ++i) {
    uint64_t& lanes = w.initialized[op->dst + i];
    lanes = (lanes & ~exec) | ((known ? (i == 0) == up ? entered : left : 0) & exec);
  }
}

// Whether each lane's bytes follow those of the lane before it.
bool in_order(const uint64_t* addresses, uint64_t lanes, uint32_t bytes) {
  uint64_t next = addresses[__builtin_ctzll(lanes)];
  for (; lanes != 0; lanes &= lanes - 1, next += bytes)
    if (addresses[__builtin_ctzll(lanes)] != next) return false;
  return true;
}

}  // namespace

void check_registers(Wave& w, const Op* op) {
  const Row* row = op->row;
  if (row == nullptr) return;
  if (w.checker->waits != nullptr) w.checker->waits[w.id].step(w, op);
  const uint64_t exec = word64(w.s + kExec) & (w.lanes > 32 ? ~uint64_t(0) : 0xffffffffu);
  uint64_t defined = ~uint64_t(0), low_defined = 0;
  switch (row->form) {
    case Form::Branch: {
      // By name: the conditions are SCC, VCC and EXEC.
      const char* name = row->name;
      const bool on_vcc = std::strstr(name, "vcc") != nullptr, on_scc = std::strstr(name, "scc") != nullptr;
      if ((on_vcc && !scalar_defined(w, kVcc, w.lanes / 32)) || (on_scc && !scalar_defined(w, kScc, 1)))
        raise(w, op, Fault::Kind::Uninitialized, -1, 0,
              "the branch depends on values that were never written");
      if (op->dst_place != Place::Scalar) return;
      // A fork reads the mask that stands where calls have their destination.
      if (!(row->flags & kWritesExec)) return define_scalar(w, op->dst, 2, true);
      if (!scalar_defined(w, op->dst, 2))
        raise(w, op, Fault::Kind::Uninitialized, -1, 0,
              "EXEC would depend on values that were never written");
      return;
    }
    case Form::Immediate:
      return;
    case Form::Scalar:
      if (row->truth != 0) return check_bitwise(w, op);
      break;
    case Form::Smem:
      need(w, op, op->src[0], 1, "an address");
      if (op->sources > 1) need(w, op, op->src[1], 1, "an address");
      if (op->sources > 2) need(w, op, op->src[2], 1, "data");
      define_scalar(w, op->dst, op->dst_words, true);
      return;
    case Form::Flat:
    case Form::Lds:
    case Form::Buffer:
      for (unsigned i = 0; i < op->sources; ++i) {
        const Source& s = op->src[i];
        const bool data = row->form == Form::Lds ? i > 0 : i == 1;
        if (exec && s.place != Place::None && !(data && row->form != Form::Lds && saves(w, op)))
          need(w, op, s, s.place == Place::Vector ? exec : 1, data ? "data" : "an address");
      }
      if (op->dst_place == Place::Vector && (row->dst_words || op->flags & kReturns))
        for (unsigned i = 0; i < op->dst_words; ++i) w.initialized[op->dst / 1 + i] |= exec;
      return;
    default:
      break;
  }
  if (row->flags & kCrossLane || op->dpp != nullptr) {
    defined = ~uint64_t(0);
  } else if (row->flags & kSelects) {
    const Source& c = op->src[2];
    const uint64_t take = c.place == Place::Constant
                              ? c.value
                              : uint64_t(w.s[c.reg]) | (w.lanes > 32 ? uint64_t(w.s[c.reg + 1]) << 32 : 0);
    defined = ((take & defined_lanes(w, op->src[1])) | (~take & defined_lanes(w, op->src[0]))) &
              defined_bits(w, c, w.lanes / 32);
  } else {
    for (unsigned i = 0; i < op->sources; ++i)
      defined &= op->src[i].type == Type::Mask ? defined_bits(w, op->src[i], w.lanes / 32)
                                               : defined_lanes(w, op->src[i]);
    for (Type t : row->src)
      if (t == Type::VccMask) defined &= defined_vcc(w);
    if (row->flags & kImplicitVcc) defined &= defined_vcc(w);
  }
  if (op->dst_place == Place::Vector && row->src[0] == Type::PackF32) {
    // Each element follows from the words that op_sel and op_sel_hi choose; v_pk_mov_b32 takes one source for
    // each.
    uint64_t parts[2] = {~uint64_t(0), ~uint64_t(0)};
    for (unsigned part = 0; part < 2; ++part)
      for (unsigned i = 0; i < op->sources; ++i) {
        const bool moves = row->dst == Type::B64;
        if (moves && i != part) continue;
        Source word = op->src[i];
        word.words = 1;
        if (word.mods & (part && !moves ? kPackHigh : kHigh)) ++word.reg;
        parts[part] &= defined_lanes(w, word);
      }
    for (unsigned part = 0; part < 2; ++part) {
      uint64_t& lanes = w.initialized[op->dst + part];
      lanes = (lanes & ~exec) | (parts[part] & exec);
    }
    return;
  }
  if (op->dst_place == Place::Vector && is_wide_shift(*row) && op->src[0].place != Place::Vector &&
      op->dpp == nullptr)
    return check_wide_shift(w, op, exec);
  if (op->dst_place == Place::Vector) {
    if (row->flags & kCarriesUp) {
      low_defined = ~uint64_t(0);
      for (unsigned i = 0; i < op->sources; ++i) {
        Source low = op->src[i];
        low.words = 1;
        low_defined &= defined_lanes(w, low);
      }
    }
    for (unsigned i = 0; i < op->dst_words; ++i) {
      uint64_t& lanes = w.initialized[op->dst + i];
      lanes = (lanes & ~exec) | ((i == 0 ? defined | low_defined : defined) & exec);
    }
    if (row->dst2 == Type::Mask) define_bits(w, op->dst2, w.lanes / 32, ~exec | defined);
  } else if (op->dst_place == Place::Scalar) {
    const bool whole = row->form == Form::Scalar ? defined != 0 : (exec & ~defined) == 0;
    if (row->dst == Type::Mask)
      define_bits(w, op->dst, w.lanes / 32, ~exec | defined);
    else
      define_scalar(w, op->dst, op->dst_words, whole);
    if (row->form == Form::Scalar) define_scalar(w, kScc, 1, whole);
  } else if (row->form == Form::Scalar) {
    define_scalar(w, kScc, 1, defined != 0);
  }
  if (row->flags & kWritesExec && (row->form == Form::Scalar ? defined == 0 : (exec & ~defined) != 0))
    raise(w, op, Fault::Kind::Uninitialized, -1, 0, "EXEC would depend on values that were never written");
}

void check_memory(Wave& w, const Op* op, const uint64_t* addresses, uint64_t lanes, uint64_t low,
                  uint64_t high, uint32_t bytes, Memory::Access access) {
  const Memory& memory = *w.checker->memory;
  const bool near = high - low < 65536;
  const bool together = near && memory.valid(low, high - low + bytes);
  if (!together) {
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      if (memory.valid(addresses[i], bytes)) continue;
      const std::string where = memory.describe(addresses[i]);
      const char* verb = access == Memory::Access::Read    ? "read of "
                         : access == Memory::Access::Write ? "write of "
                                                           : "atomic of ";
      const bool freed = where.find("freed") != std::string::npos;
      raise(w, op, freed ? Fault::Kind::UseAfterFree : Fault::Kind::OutOfBounds, i, addresses[i],
            (verb + std::to_string(bytes) + " bytes: " + where).c_str());
    }
  }
  if (w.checker->races != nullptr) w.checker->races->access(w, op, addresses, lanes, bytes, access);
  if (access == Memory::Access::Write) {
    if (together && lanes != 0 && uint64_t(__builtin_popcountll(lanes)) * bytes == high - low + bytes &&
        in_order(addresses, lanes, bytes)) {
      if (uint8_t* shadow = memory.initialized(low)) std::memset(shadow, 1, high - low + bytes);
      return;
    }
    for (uint64_t rest = lanes; rest; rest &= rest - 1)
      if (uint8_t* shadow = memory.initialized(addresses[__builtin_ctzll(rest)]))
        std::memset(shadow, 1, bytes);
    return;
  }
  if (together) {
    const uint8_t* shadow = memory.initialized(low);
    if (shadow == nullptr || (high - low <= 128 && all_initialized(shadow, high - low + bytes))) return;
    if (lanes_initialized(shadow, addresses, lanes, bytes, low)) return;
  }
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    const uint8_t* shadow = memory.initialized(addresses[i]);
    if (shadow != nullptr && !all_initialized(shadow, bytes))
      raise(w, op, Fault::Kind::Uninitialized, i, addresses[i],
            ("memory that was never written: " + memory.describe(addresses[i])).c_str());
  }
}

void check_memory(Wave& w, const Op* op, const uint64_t* addresses, uint64_t lanes, uint32_t bytes,
                  Memory::Access access) {
  uint64_t low = ~uint64_t(0), high = 0;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const uint64_t a = addresses[__builtin_ctzll(rest)];
    low = a < low ? a : low;
    high = a > high ? a : high;
  }
  check_memory(w, op, addresses, lanes, low, high, bytes, access);
}

bool check_row(const Wave& w, uint64_t address, uint32_t bytes, Memory::Access access) {
  const Checker& checker = *w.checker;
  if (!checker.memory->valid(address, bytes)) return false;
  uint8_t* shadow = checker.memory->initialized(address);
  const bool reads = access == Memory::Access::Read;
  if (reads && shadow != nullptr && !all_initialized(shadow, bytes)) return false;
  if (checker.races != nullptr && !checker.races->range(w, address, bytes, !reads)) return false;
  if (!reads && shadow != nullptr) std::memset(shadow, 1, bytes);
  return true;
}

bool check_local_row(const Wave& w, uint32_t offset, uint32_t bytes, Memory::Access access) {
  const Checker& checker = *w.checker;
  uint8_t* shadow = checker.lds_initialized + offset;
  const bool reads = access == Memory::Access::Read;
  if (reads && !all_initialized(shadow, bytes)) return false;
  if (checker.lds_races != nullptr && !checker.lds_races->range(w, offset, bytes, !reads)) return false;
  if (!reads) std::memset(shadow, 1, bytes);
  return true;
}

void check_scalar(Wave& w, const Op* op, uint64_t address, uint32_t bytes, unsigned first) {
  const Memory& memory = *w.checker->memory;
  if (!memory.valid(address, bytes)) {
    const std::string where = memory.describe(address);
    // Loads may be widened over the end of the kernel arguments; those blocks are whole granules.
    raise(w, op,
          where.find("freed") != std::string::npos ? Fault::Kind::UseAfterFree : Fault::Kind::OutOfBounds, -1,
          address, ("scalar read of " + std::to_string(bytes) + " bytes: " + where).c_str());
  }
  // Loads are widened over what is not needed too, so what was never written is a fault only when it is used.
  const uint8_t* shadow = memory.initialized(address);
  if (shadow == nullptr || all_initialized(shadow, bytes)) return;
  for (uint32_t at = 0; at < bytes; at += 4)
    define_scalar(w, first + at / 4, 1, all_initialized(shadow + at, std::min(4u, bytes - at)));
}

void check_local(Wave& w, const Op* op, const uint32_t* offsets, uint64_t lanes, uint32_t bytes,
                 Memory::Access access) {
  if (w.checker->lds_races != nullptr) w.checker->lds_races->access(w, op, offsets, lanes, bytes, access);
  uint8_t* shadow = w.checker->lds_initialized;
  if (access != Memory::Access::Write && lanes_initialized(shadow, offsets, lanes, bytes, uint32_t(0)))
    return;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    if (access == Memory::Access::Write)
      std::memset(shadow + offsets[i], 1, bytes);
    else if (!all_initialized(shadow + offsets[i], bytes))
      raise(w, op, Fault::Kind::Uninitialized, i, offsets[i], "LDS that was never written");
  }
}

void check_private(Wave&, const Op*, const uint32_t*, uint64_t, uint32_t, Memory::Access) {
  // Spilled registers may be undefined, so private memory is only checked for its range.
}

}  // namespace emu::exec
