// SPDX-License-Identifier: Apache-2.0
// Vector loads, stores and atomics: global, flat and scratch.
#include <cmath>

#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using Access = Memory::Access;
enum class Space { Global, Flat, Scratch };

EMU_FN std::byte* host(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

/// Private memory lies lane after lane; an access must stay inside its lane's part.
[[gnu::noinline]] void private_addresses(Wave& w, const Op* op, const uint32_t* offsets, uint64_t* a,
                                         uint64_t lanes, uint32_t bytes, Access access) {
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    if (uint64_t(offsets[i]) + bytes > w.scratch_bytes)
      raise(w, op, Fault::Kind::OutOfBounds, i, offsets[i], "outside the lane's private memory");
    a[i] = reinterpret_cast<uint64_t>(w.scratch) + uint64_t(i) * w.scratch_bytes + offsets[i];
  }
  if (w.checker) check_private(w, op, offsets, lanes, bytes, access);
}

/// Flat addresses -> host addresses: LDS and private memory lie behind apertures.
[[gnu::noinline]] void resolve_flat(Wave& w, const Op* op, uint64_t* a, uint64_t exec, uint32_t bytes,
                                    Access access) {
  uint64_t global = 0, local = 0, own = 0;
  uint32_t offsets[64];
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    offsets[i] = uint32_t(a[i]);
    const uint32_t high = uint32_t(a[i] >> 32);
    (high == kSharedAperture ? local : high == kPrivateAperture ? own : global) |= uint64_t(1) << i;
  }
  if (global && w.checker) check_memory(w, op, a, global, bytes, access);
  if (local) {
    for (uint64_t rest = local; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      if (uint64_t(offsets[i]) + bytes > w.group->lds_bytes)
        raise(w, op, Fault::Kind::LdsOutOfRange, i, offsets[i], "flat access outside the work-group's LDS");
      a[i] = reinterpret_cast<uint64_t>(w.group->lds) + offsets[i];
    }
    if (w.checker) check_local(w, op, offsets, local, bytes, access);
  }
  if (own) private_addresses(w, op, offsets, a, own, bytes, access);
}

/// The lanes' host addresses; checked.
template <Space S>
EMU_FN uint64_t addresses(Wave& w, const Op* op, uint64_t* a, uint32_t bytes, Access access) {
  const uint64_t exec = exec_of(w) & (w.lanes > 32 ? ~uint64_t(0) : 0xffffffff);
  const Source& vector = op->src[0];
  const Source& scalar = op->src[2];
  const uint32_t* v = w.v + vector.offset;
  if constexpr (S == Space::Scratch) {
    uint32_t base = uint32_t(op->imm), offsets[64];
    if (scalar.place == Place::Scalar) base += w.s[scalar.reg];
    for (unsigned i = 0; i < w.lanes; ++i) offsets[i] = base + (vector.place == Place::None ? 0 : v[i]);
    if (exec) private_addresses(w, op, offsets, a, exec, bytes, access);
    return exec;
  }
  if (scalar.place == Place::Scalar) {
    const uint64_t base =
        (uint64_t(w.s[scalar.reg]) | uint64_t(w.s[scalar.reg + 1]) << 32) + uint64_t(op->imm);
    for (unsigned h = 0; h < w.lanes; h += 32)
      for (unsigned i = 0; i < 32; ++i) a[h + i] = base + v[h + i];
  } else {
    const uint32_t* hi = v + w.lanes;
    for (unsigned h = 0; h < w.lanes; h += 32)
      for (unsigned i = 0; i < 32; ++i) a[h + i] = (uint64_t(hi[h + i]) << 32 | v[h + i]) + uint64_t(op->imm);
  }
  if (exec) {
    if constexpr (S == Space::Flat)
      resolve_flat(w, op, a, exec, bytes, access);
    else if (w.checker)
      check_memory(w, op, a, exec, bytes, access);
  }
  return exec;
}
/// Whether all lanes of this half are on and lie one behind the other.
EMU_FN bool in_a_row(const uint64_t* a, uint32_t exec, uint32_t bytes) {
  if (exec != ~0u) return false;
  uint64_t different = 0;
  for (unsigned i = 0; i < 32; ++i) different |= a[i] ^ (a[0] + uint64_t(i) * bytes);
  return different == 0;
}

template <Space S, unsigned Words>
const Op* load(Wave& w, const Op* op) {
  alignas(64) uint64_t a[64];
  const uint64_t exec = addresses<S>(w, op, a, Words * 4, Access::Read);
  for (unsigned h = 0; h < w.lanes; h += 32) {
    uint32_t* d = w.v + op->dst_offset + h;
    const uint32_t on = uint32_t(exec >> h);
    if (in_a_row(a + h, on, Words * 4)) {
      alignas(64) uint32_t words[32 * Words];
      std::memcpy(words, host(a[h]), sizeof(words));
      for (unsigned word = 0; word < Words; ++word)
        for (unsigned i = 0; i < 32; ++i) d[word * w.lanes + i] = words[i * Words + word];
    } else {
      for (uint32_t rest = on; rest; rest &= rest - 1) {
        const unsigned i = unsigned(__builtin_ctz(rest));
        uint32_t words[Words];
        std::memcpy(words, host(a[h + i]), sizeof(words));
        for (unsigned word = 0; word < Words; ++word) d[word * w.lanes + i] = words[word];
      }
    }
  }
  return op + 1;
}
/// One element of 8 or 16 bits; Keep: the other half of the destination stays (d16), High: into the upper
/// half.
template <Space S, class T, bool Keep, bool High>
const Op* load_small(Wave& w, const Op* op) {
  alignas(64) uint64_t a[64];
  const uint64_t exec = addresses<S>(w, op, a, sizeof(T), Access::Read);
  uint32_t* d = w.v + op->dst_offset;
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    T value;
    std::memcpy(&value, host(a[i]), sizeof(T));
    const uint32_t wide = uint32_t(int32_t(value));
    d[i] = High ? (d[i] & 0xffff) | wide << 16 : Keep ? (d[i] & 0xffff0000) | (wide & 0xffff) : wide;
  }
  return op + 1;
}
template <Space S, unsigned Words>
const Op* store(Wave& w, const Op* op) {
  alignas(64) uint64_t a[64];
  const uint64_t exec = addresses<S>(w, op, a, Words * 4, Access::Write);
  for (unsigned h = 0; h < w.lanes; h += 32) {
    const uint32_t* v = w.v + op->src[1].offset + h;
    const uint32_t on = uint32_t(exec >> h);
    if (in_a_row(a + h, on, Words * 4)) {
      alignas(64) uint32_t words[32 * Words];
      for (unsigned word = 0; word < Words; ++word)
        for (unsigned i = 0; i < 32; ++i) words[i * Words + word] = v[word * w.lanes + i];
      std::memcpy(host(a[h]), words, sizeof(words));
    } else {
      for (uint32_t rest = on; rest; rest &= rest - 1) {
        const unsigned i = unsigned(__builtin_ctz(rest));
        uint32_t words[Words];
        for (unsigned word = 0; word < Words; ++word) words[word] = v[word * w.lanes + i];
        std::memcpy(host(a[h + i]), words, sizeof(words));
      }
    }
  }
  return op + 1;
}
template <Space S, class T, bool High>
const Op* store_small(Wave& w, const Op* op) {
  alignas(64) uint64_t a[64];
  const uint64_t exec = addresses<S>(w, op, a, sizeof(T), Access::Write);
  const uint32_t* v = w.v + op->src[1].offset;
  const bool high = High || (op->src[1].mods & kHigh);
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const T value = T(high ? v[i] >> 16 : v[i]);
    std::memcpy(host(a[i]), &value, sizeof(T));
  }
  return op + 1;
}

template <Space S, class T, T (*F)(T, T, T), bool Compares>
const Op* atomic(Wave& w, const Op* op) {
  constexpr unsigned kWords = sizeof(T) / 4;
  alignas(64) uint64_t a[64];
  const uint64_t exec = addresses<S>(w, op, a, sizeof(T), Access::Atomic);
  const uint32_t* v = w.v + op->src[1].offset;
  uint32_t* d = w.v + op->dst_offset;
  const auto element = [&](unsigned i, unsigned first) {
    if constexpr (kWords == 2)
      return std::bit_cast<T>(uint64_t(v[(first + 1) * w.lanes + i]) << 32 | v[first * w.lanes + i]);
    else
      return std::bit_cast<T>(v[first * w.lanes + i]);
  };
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    if (a[i] % sizeof(T) != 0)
      raise(w, op, Fault::Kind::Misaligned, int(i), a[i], "an atomic needs an address that its size divides");
    const T old = rmw<T, F>(host(a[i]), element(i, 0), Compares ? element(i, kWords) : T());
    if (op->flags & kReturns) {
      if constexpr (kWords == 2) {
        const uint64_t bits = std::bit_cast<uint64_t>(old);
        d[i] = uint32_t(bits);
        d[w.lanes + i] = uint32_t(bits >> 32);
      } else {
        d[i] = std::bit_cast<uint32_t>(old);
      }
    }
  }
  return op + 1;
}

constexpr Row row(const char* name, Space space, Handler run, unsigned bytes, unsigned words, unsigned flags,
                  unsigned data_words = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Flat;
  r.cls = flags & kAtomic ? Class::Atomic : space == Space::Scratch ? Class::Scratch : Class::Global;
  r.flags = uint16_t(flags | (space == Space::Scratch ? kScratchSpace
                              : space == Space::Flat  ? kFlatSpace
                                                      : 0));
  r.bytes = uint8_t(bytes);
  r.dst_words = uint8_t(words);
  r.src_words[1] = uint8_t(data_words ? data_words : words);
  return r;
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

const Row kRows[] = {
    LOAD(1, "b32", "dword"),
    LOAD(2, "b64", "dwordx2"),
    LOAD(3, "b96", "dwordx3"),
    LOAD(4, "b128", "dwordx4"),
    STORE(1, "b32", "dword"),
    STORE(2, "b64", "dwordx2"),
    STORE(3, "b96", "dwordx3"),
    STORE(4, "b128", "dwordx4"),
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
    ATOMIC("min_num_f32", "min_num", float, a_fmin),
    ATOMIC("max_num_f32", "max_num", float, a_fmax),
    ATOMIC("min_f64", "fmin_x2", double, a_fmin),
    ATOMIC("max_f64", "fmax_x2", double, a_fmax),
    ATOMIC("pk_add_f16", "pk_fadd", uint32_t, a_pk_add_f16),
    ATOMIC("pk_add_bf16", "pk_fadd_bf16", uint32_t, a_pk_add_bf16),
};

}  // namespace
EMU_GROUP(global_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
