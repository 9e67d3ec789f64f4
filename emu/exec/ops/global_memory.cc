// SPDX-License-Identifier: Apache-2.0
// Vector loads, stores and atomics: global, flat and scratch.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/lane_memory.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

enum class Space { Global, Flat, Scratch };

/// Flat addresses -> host addresses: LDS and private memory lie behind apertures.
[[gnu::noinline]] void resolve_flat(Wave& w, const Op* op, uint32_t bytes, Access access,
                                    Places<uint64_t>& p) {
  uint64_t global = 0, local = 0, own = 0;
  uint32_t offsets[64];
  for (uint64_t rest = p.wanted; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    offsets[i] = uint32_t(p.at[i]);
    const uint32_t high = uint32_t(p.at[i] >> 32);
    (high == kSharedAperture ? local : high == kPrivateAperture ? own : global) |= uint64_t(1) << i;
  }
  if (global && w.checker) check_places(w, op, p.at, global, bytes, access);
  if (local) {
    for (uint64_t rest = local; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      if (uint64_t(offsets[i]) + bytes > w.group->lds_bytes)
        raise(w, op, Fault::Kind::LdsOutOfRange, i, offsets[i], "flat access outside the work-group's LDS");
      p.at[i] = reinterpret_cast<uint64_t>(w.group->lds) + offsets[i];
    }
    if (w.checker) check_local(w, op, offsets, local, bytes, access);
  }
  if (own) private_places(w, op, offsets, own, bytes, access, p);
}

/// The lanes' places; checked.
template <Space S>
EMU_FN void find_places(Wave& w, const Op* op, uint32_t bytes, Access access, Places<uint64_t>& p) {
  p.base = 0;
  p.wanted = p.there = enabled_of(w);
  const Source& vector = op->src[0];
  const Source& scalar = op->src[2];
  const uint32_t* v = w.v + vector.offset;
  if constexpr (S == Space::Scratch) {
    uint32_t base = uint32_t(op->imm), offsets[64];
    if (scalar.place == Place::Scalar) base += w.s[scalar.reg];
    for (unsigned i = 0; i < w.lanes; ++i) offsets[i] = base + (vector.place == Place::None ? 0 : v[i]);
    if (p.wanted) private_places(w, op, offsets, p.wanted, bytes, access, p);
    return;
  }
  if (scalar.place == Place::Scalar) {
    const uint64_t base = scalar_pair(w, scalar.reg) + uint64_t(op->imm);
    for (unsigned h = 0; h < w.lanes; h += 32) {
      const uint32_t* low = v + h;
      uint64_t* to = p.at + h;
      EMU_INDEPENDENT
      for (unsigned i = 0; i < 32; ++i) to[i] = base + low[i];
    }
  } else {
    const uint64_t add = uint64_t(op->imm);
    for (unsigned h = 0; h < w.lanes; h += 32) {
      const uint32_t *low = v + h, *high = low + w.lanes;
      uint64_t* to = p.at + h;
      EMU_INDEPENDENT
      for (unsigned i = 0; i < 32; ++i) to[i] = (uint64_t(high[i]) << 32 | low[i]) + add;
    }
  }
  if (p.wanted) {
    if constexpr (S == Space::Flat)
      resolve_flat(w, op, bytes, access, p);
    else if (w.checker)
      check_places(w, op, p.at, p.wanted, bytes, access);
  }
}

/// Where the elements of each 32 lanes begin, when all lanes are on and each half of the wave is a row;
/// checked.
template <Space S>
EMU_FN bool find_rows(Wave& w, const Op* op, uint32_t bytes, Access access, std::byte** rows) {
  if constexpr (S == Space::Scratch) return false;
  if (enabled_of(w) != all_lanes(w)) return false;
  const Source& scalar = op->src[2];
  for (unsigned h = 0; h < w.lanes; h += 32) {
    const uint32_t* v = w.v + op->src[0].offset + h;
    uint64_t address = v[0];
    if (!in_steps(v, bytes) || address + 31 * bytes > 0xffffffff) return false;
    if (scalar.place == Place::Scalar) {
      address += scalar_pair(w, scalar.reg);
    } else {
      if (!all_equal(v + w.lanes)) return false;
      address |= uint64_t(v[w.lanes]) << 32;
    }
    address += uint64_t(op->imm);
    if (S == Space::Flat && (address >> 32 == kSharedAperture || address >> 32 == kPrivateAperture))
      return false;
    if (w.checker && !check_row(w, address, 32 * bytes, access)) return false;
    rows[h / 32] = host(address);
  }
  return true;
}

template <Space S, unsigned Words>
[[gnu::noinline]] void load_apart(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places<S>(w, op, Words * 4, Access::Read, p);
  load_lanes<Words>(w, w.v + op->dst_offset, p);
}
template <Space S, unsigned Words>
const Op* load(Wave& w, const Op* op) {
  std::byte* rows[2];
  if (find_rows<S>(w, op, Words * 4, Access::Read, rows)) [[likely]]
    for (unsigned h = 0; h < w.lanes; h += 32)
      load_row<Words>(w.v + op->dst_offset + h, w.lanes, rows[h / 32]);
  else
    load_apart<S, Words>(w, op);
  return op + 1;
}
template <Space S, class T, bool Keep, bool High>
const Op* load_small(Wave& w, const Op* op) {
  uint32_t* d = w.v + op->dst_offset;
  std::byte* rows[2];
  if (find_rows<S>(w, op, sizeof(T), Access::Read, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) load_small_row<T, Keep, High>(d + h, rows[h / 32]);
  } else {
    Places<uint64_t> p;
    find_places<S>(w, op, sizeof(T), Access::Read, p);
    load_small_lanes<T, Keep, High>(d, p);
  }
  return op + 1;
}
template <Space S, unsigned Words>
[[gnu::noinline]] void store_apart(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places<S>(w, op, Words * 4, Access::Write, p);
  store_lanes<Words>(w, w.v + op->src[1].offset, p);
}
template <Space S, unsigned Words>
const Op* store(Wave& w, const Op* op) {
  std::byte* rows[2];
  if (find_rows<S>(w, op, Words * 4, Access::Write, rows)) [[likely]]
    for (unsigned h = 0; h < w.lanes; h += 32)
      store_row<Words>(w.v + op->src[1].offset + h, w.lanes, rows[h / 32]);
  else
    store_apart<S, Words>(w, op);
  return op + 1;
}
template <Space S, class T, bool High>
const Op* store_small(Wave& w, const Op* op) {
  const uint32_t* v = w.v + op->src[1].offset;
  const bool high = High || (op->src[1].mods & kHigh);
  std::byte* rows[2];
  if (find_rows<S>(w, op, sizeof(T), Access::Write, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) store_small_row<T>(v + h, high, rows[h / 32]);
  } else {
    Places<uint64_t> p;
    find_places<S>(w, op, sizeof(T), Access::Write, p);
    store_small_lanes<T>(v, high, p);
  }
  return op + 1;
}

template <Space S, class T, T (*F)(T, T, T), bool Compares>
const Op* atomic(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places<S>(w, op, sizeof(T), Access::Atomic, p);
  const uint32_t* data = w.v + op->src[1].offset;
  atomic_lanes<T, F>(w, op, p, data, Compares ? data + sizeof(T) / 4 * w.lanes : nullptr,
                     op->flags & kReturns ? w.v + op->dst_offset : nullptr);
  return op + 1;
}

/// gfx12's loads of a matrix's elements that come with rows and columns exchanged. Each lane reads 8
/// elements, one behind the other. Of 16 bits: lane L's element j is element L % 8 of lane 8 (L / 8) + j, as
/// AMD's guide to the builtins has it. Of 8 bits, as measured on gfx1201: of lane 16 (L / 16) + 8 (j / 4) + 4
/// (L / 8 % 2) + j % 4. The RDNA4 document (11.6.2) asks for all lanes or none; in waves of 64 it does not
/// say which lane gets what.
template <class T>
const Op* load_transposed(Wave& w, const Op* op) {
  constexpr unsigned kWords = 2 * sizeof(T);
  const uint64_t enabled = enabled_of(w);
  if (enabled == 0) return op + 1;
  if (w.lanes != 32)
    raise(w, op, Fault::Kind::Unsupported, -1, 0,
          "a transposing load in waves of 64 lanes is not documented");
  if (enabled != all_lanes(w))
    raise(w, op, Fault::Kind::Unsupported, __builtin_ctzll(~enabled), 0,
          "a transposing load needs all lanes of the wave; EXEC leaves some out");
  Places<uint64_t> p;
  find_places<Space::Global>(w, op, kWords * 4, Access::Read, p);
  T read[32][8], row[8];
  for (unsigned i = 0; i < 32; ++i) std::memcpy(read[i], p[i], sizeof(row));
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      const unsigned from = sizeof(T) == 2 ? i / 8 * 8 + j : i / 16 * 16 + j / 4 * 8 + i / 8 % 2 * 4 + j % 4;
      row[j] = read[from][i % 8];
    }
    uint32_t words[kWords];
    std::memcpy(words, row, sizeof(words));
    for (unsigned word = 0; word < kWords; ++word) (w.v + op->dst_offset)[word * 32 + i] = words[word];
  }
  return op + 1;
}

constexpr Row row(const char* name, Space space, Handler run, unsigned bytes, unsigned words, unsigned flags,
                  unsigned data_words = 0) {
  const Class cls = flags & kAtomic           ? Class::Atomic
                    : space == Space::Scratch ? Class::Scratch
                                              : Class::Global;
  const unsigned segment = space == Space::Scratch ? kScratchSpace : space == Space::Flat ? kFlatSpace : 0;
  return memory_row(name, run, Form::Flat, cls, bytes, words, 0, data_words ? data_words : words, 0,
                    flags | segment);
}
#define SPACES(name, ...)                         \
  [] {                                            \
    constexpr Space S = Space::Global;            \
    return row("global_" name, S, __VA_ARGS__);   \
  }(),                                            \
      [] {                                        \
        constexpr Space S = Space::Flat;          \
        return row("flat_" name, S, __VA_ARGS__); \
      }()
#define ALL_SPACES(name, ...)                    \
  SPACES(name, __VA_ARGS__), [] {                \
    constexpr Space S = Space::Scratch;          \
    return row("scratch_" name, S, __VA_ARGS__); \
  }()
#define BOTH(modern, old, ...) ALL_SPACES(modern, __VA_ARGS__), ALL_SPACES(old, __VA_ARGS__)
#define COMMA ,
#define LOAD(n, modern, old) BOTH("load_" modern, "load_" old, load<S COMMA n>, 4 * n, n, 0)
#define STORE(n, modern, old) BOTH("store_" modern, "store_" old, store<S COMMA n>, 4 * n, n, kStore)
#define SMALL(modern, old, type, keep, high)                                                         \
  BOTH("load_" modern, "load_" old, load_small<S COMMA type COMMA keep COMMA high>, sizeof(type), 1, \
       keep ? kPartial : 0)
#define STORE_SMALL(modern, old, type, high) \
  BOTH("store_" modern, "store_" old, store_small<S COMMA type COMMA high>, sizeof(type), 1, kStore)
#define ATOMIC(modern, old, type, f)                                                                  \
  SPACES("atomic_" modern, atomic<S COMMA type COMMA f COMMA false>, sizeof(type), sizeof(type) / 4,  \
         kAtomic),                                                                                    \
      SPACES("atomic_" old, atomic<S COMMA type COMMA f COMMA false>, sizeof(type), sizeof(type) / 4, \
             kAtomic)
#define COMPARING(modern, old, type, f)                                                                      \
  SPACES("atomic_" modern, atomic<S COMMA type COMMA f COMMA true>, sizeof(type), sizeof(type) / 4, kAtomic, \
         sizeof(type) / 2),                                                                                  \
      SPACES("atomic_" old, atomic<S COMMA type COMMA f COMMA true>, sizeof(type), sizeof(type) / 4,         \
             kAtomic, sizeof(type) / 2)

constexpr Row kRows[] = {
    LOAD(1, "b32", "dword"),
    LOAD(2, "b64", "dwordx2"),
    LOAD(3, "b96", "dwordx3"),
    LOAD(4, "b128", "dwordx4"),
    STORE(1, "b32", "dword"),
    STORE(2, "b64", "dwordx2"),
    STORE(3, "b96", "dwordx3"),
    STORE(4, "b128", "dwordx4"),
    row("global_load_tr_b128", Space::Global, load_transposed<uint16_t>, 16, 4, 0),
    row("global_load_tr_b64", Space::Global, load_transposed<uint8_t>, 8, 2, 0),
    SMALL("u8", "ubyte", uint8_t, false, false),
    SMALL("i8", "sbyte", int8_t, false, false),
    SMALL("u16", "ushort", uint16_t, false, false),
    SMALL("i16", "sshort", int16_t, false, false),
    SMALL("d16_u8", "ubyte_d16", uint8_t, true, false),
    SMALL("d16_i8", "sbyte_d16", int8_t, true, false),
    SMALL("d16_b16", "short_d16", uint16_t, true, false),
    SMALL("d16_hi_u8", "ubyte_d16_hi", uint8_t, true, true),
    SMALL("d16_hi_i8", "sbyte_d16_hi", int8_t, true, true),
    SMALL("d16_hi_b16", "short_d16_hi", uint16_t, true, true),
    STORE_SMALL("b8", "byte", uint8_t, false),
    STORE_SMALL("b16", "short", uint16_t, false),
    STORE_SMALL("d16_hi_b8", "byte_d16_hi", uint8_t, true),
    STORE_SMALL("d16_hi_b16", "short_d16_hi", uint16_t, true),
    ATOMIC("swap_b32", "swap", uint32_t, a_swap),
    ATOMIC("swap_b64", "swap_x2", uint64_t, a_swap),
    ATOMIC("add_u32", "add", uint32_t, a_add),
    ATOMIC("add_u64", "add_x2", uint64_t, a_add),
    ATOMIC("sub_u32", "sub", uint32_t, a_sub),
    ATOMIC("sub_u64", "sub_x2", uint64_t, a_sub),
    ATOMIC("csub_u32", "csub", uint32_t, a_csub),
    ATOMIC("sub_clamp_u32", "sub_clamp", uint32_t, a_csub),
    ATOMIC("cond_sub_u32", "cond_sub", uint32_t, a_cond_sub),
    ATOMIC("min_i32", "smin", int32_t, a_min),
    ATOMIC("min_i64", "smin_x2", int64_t, a_min),
    ATOMIC("max_i32", "smax", int32_t, a_max),
    ATOMIC("max_i64", "smax_x2", int64_t, a_max),
    ATOMIC("min_u32", "umin", uint32_t, a_min),
    ATOMIC("min_u64", "umin_x2", uint64_t, a_min),
    ATOMIC("max_u32", "umax", uint32_t, a_max),
    ATOMIC("max_u64", "umax_x2", uint64_t, a_max),
    ATOMIC("and_b32", "and", uint32_t, a_and),
    ATOMIC("and_b64", "and_x2", uint64_t, a_and),
    ATOMIC("or_b32", "or", uint32_t, a_or),
    ATOMIC("or_b64", "or_x2", uint64_t, a_or),
    ATOMIC("xor_b32", "xor", uint32_t, a_xor),
    ATOMIC("xor_b64", "xor_x2", uint64_t, a_xor),
    ATOMIC("inc_u32", "inc", uint32_t, a_inc),
    ATOMIC("inc_u64", "inc_x2", uint64_t, a_inc),
    ATOMIC("dec_u32", "dec", uint32_t, a_dec),
    ATOMIC("dec_u64", "dec_x2", uint64_t, a_dec),
    COMPARING("cmpswap_b32", "cmpswap", uint32_t, a_cmpswap),
    COMPARING("cmpswap_b64", "cmpswap_x2", uint64_t, a_cmpswap),
    COMPARING("cmpswap_f32", "fcmpswap", float, a_cmpswap),
    COMPARING("cmpswap_f64", "fcmpswap_x2", double, a_cmpswap),
    ATOMIC("add_f32", "fadd", float, a_add),
    ATOMIC("add_f64", "fadd_x2", double, a_add),
    ATOMIC("min_f32", "fmin", float, a_fmin),
    ATOMIC("max_f32", "fmax", float, a_fmax),
    ATOMIC("min_num_f32", "min_num", float, a_min_num),
    ATOMIC("max_num_f32", "max_num", float, a_max_num),
    ATOMIC("min_f64", "fmin_x2", double, a_fmin),
    ATOMIC("max_f64", "fmax_x2", double, a_fmax),
    ATOMIC("pk_add_f16", "pk_fadd", uint32_t, a_pk_add_f16),
    ATOMIC("pk_add_bf16", "pk_fadd_bf16", uint32_t, a_pk_add_bf16),
};

}  // namespace
EMU_GROUP(global_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
