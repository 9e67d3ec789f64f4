// SPDX-License-Identifier: Apache-2.0
// Buffer loads, stores and atomics: private memory on gfx9 and gfx10, and raw or strided buffers.
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using Access = Memory::Access;

/// The lanes' host addresses. Lanes behind the buffer's end read zero and write nothing: they are not among
/// the lanes returned.
[[gnu::noinline, maybe_unused]] uint64_t buffer_addresses(Wave& w, const Op* op, uint64_t* a, uint32_t bytes,
                                                          Access access) {
  const uint64_t exec = exec_of(w) & (~uint64_t(0) >> (64 - w.lanes));
  const uint32_t* descriptor = w.s + op->src[2].reg;
  const uint32_t scalar = uint32_t(scalar_bits(w, op->src[3], false));
  const bool indexed = op->flags & kIndexed, offset_register = op->flags & kOffset;
  const uint32_t* v = w.v + op->src[0].offset;
  uint32_t index[64], offset[64];
  for (unsigned i = 0; i < w.lanes; ++i) {
    index[i] = indexed ? v[i] : 0;
    offset[i] = uint32_t(op->imm) + (offset_register ? v[indexed ? w.lanes + i : i] : 0);
  }
  if ((descriptor[1] & 0xffff) == (kPrivateDescriptor & 0xffff)) {
    uint32_t at[64];
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      at[i] = descriptor[0] + scalar + offset[i];
      if (uint64_t(at[i]) + bytes > w.scratch_bytes)
        raise(w, op, Fault::Kind::OutOfBounds, i, at[i], "outside the lane's private memory");
      a[i] = reinterpret_cast<uint64_t>(w.scratch) + uint64_t(i) * w.scratch_bytes + at[i];
    }
    if (w.checker && exec) check_private(w, op, at, exec, bytes, access);
    return exec;
  }
  const uint64_t base = uint64_t(descriptor[0]) | uint64_t(descriptor[1] & 0xffff) << 32;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fff, records = descriptor[2];
  if (descriptor[1] >> 31)
    raise(w, op, Fault::Kind::Unsupported, -1, base, "a swizzled buffer that is not private memory");
  uint64_t lanes = 0;
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    const uint64_t inside = uint64_t(offset[i]) + uint64_t(stride) * index[i];
    const bool ok = stride != 0 && indexed ? index[i] < records : inside + bytes <= records;
    a[i] = base + scalar + inside;
    if (ok) lanes |= uint64_t(1) << i;
  }
  if (w.checker && lanes) check_memory(w, op, a, lanes, bytes, access);
  return lanes;
}
EMU_FN void* host(uint64_t address) { return reinterpret_cast<void*>(address); }

template <unsigned Words>
const Op* load(Wave& w, const Op* op) {
  uint64_t a[64];
  const uint64_t lanes = buffer_addresses(w, op, a, Words * 4, Access::Read);
  uint32_t* d = w.v + op->dst_offset;
  for (uint64_t rest = exec_of(w) & (~uint64_t(0) >> (64 - w.lanes)); rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    uint32_t words[Words] = {};
    if (lanes >> i & 1) std::memcpy(words, host(a[i]), sizeof(words));
    for (unsigned word = 0; word < Words; ++word) d[word * w.lanes + i] = words[word];
  }
  return op + 1;
}
template <unsigned Words>
const Op* store(Wave& w, const Op* op) {
  uint64_t a[64];
  const uint64_t lanes = buffer_addresses(w, op, a, Words * 4, Access::Write);
  const uint32_t* v = w.v + op->src[1].offset;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    uint32_t words[Words];
    for (unsigned word = 0; word < Words; ++word) words[word] = v[word * w.lanes + i];
    std::memcpy(host(a[i]), words, sizeof(words));
  }
  return op + 1;
}
template <class T, bool Keep, bool High>
const Op* load_small(Wave& w, const Op* op) {
  uint64_t a[64];
  const uint64_t lanes = buffer_addresses(w, op, a, sizeof(T), Access::Read);
  uint32_t* d = w.v + op->dst_offset;
  for (uint64_t rest = exec_of(w) & (~uint64_t(0) >> (64 - w.lanes)); rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    T value = 0;
    if (lanes >> i & 1) std::memcpy(&value, host(a[i]), sizeof(T));
    const uint32_t wide = uint32_t(int32_t(value));
    d[i] = High ? (d[i] & 0xffff) | wide << 16 : Keep ? (d[i] & 0xffff0000) | (wide & 0xffff) : wide;
  }
  return op + 1;
}
template <class T, bool High>
const Op* store_small(Wave& w, const Op* op) {
  uint64_t a[64];
  const uint64_t lanes = buffer_addresses(w, op, a, sizeof(T), Access::Write);
  const uint32_t* v = w.v + op->src[1].offset;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const T value = T(High ? v[i] >> 16 : v[i]);
    std::memcpy(host(a[i]), &value, sizeof(T));
  }
  return op + 1;
}
template <class T, T (*F)(T, T, T), bool Compares>
const Op* atomic(Wave& w, const Op* op) {
  constexpr unsigned kWords = sizeof(T) / 4;
  uint64_t a[64];
  const uint64_t lanes = buffer_addresses(w, op, a, sizeof(T), Access::Atomic);
  const uint32_t* v = w.v + op->src[1].offset;
  uint32_t* d = w.v + op->dst_offset;
  const auto element = [&](unsigned i, unsigned first) {
    if constexpr (kWords == 2)
      return std::bit_cast<T>(uint64_t(v[(first + 1) * w.lanes + i]) << 32 | v[first * w.lanes + i]);
    else
      return std::bit_cast<T>(v[first * w.lanes + i]);
  };
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    if (a[i] % sizeof(T) != 0)
      raise(w, op, Fault::Kind::Misaligned, int(i), a[i], "an atomic needs an address that its size divides");
    const T old = rmw<T, F>(host(a[i]), element(i, 0), Compares ? element(i, kWords) : T());
    if (!(op->flags & kReturns)) continue;
    if constexpr (kWords == 2) {
      const uint64_t bits = std::bit_cast<uint64_t>(old);
      d[i] = uint32_t(bits);
      d[w.lanes + i] = uint32_t(bits >> 32);
    } else {
      d[i] = std::bit_cast<uint32_t>(old);
    }
  }
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned bytes, unsigned words, unsigned flags,
                  unsigned data_words = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Buffer;
  r.cls = flags & kAtomic ? Class::Atomic : Class::Global;
  r.flags = uint16_t(flags);
  r.bytes = uint8_t(bytes);
  r.dst_words = uint8_t(words);
  r.src_words[1] = uint8_t(data_words ? data_words : words);
  return r;
}
#define MOVE(n, modern, old)                                                                       \
  row("buffer_load_" modern, load<n>, 4 * n, n, 0), row("buffer_load_" old, load<n>, 4 * n, n, 0), \
      row("buffer_store_" modern, store<n>, 4 * n, n, kStore),                                     \
      row("buffer_store_" old, store<n>, 4 * n, n, kStore)
#define SMALL(modern, old, type, keep, high)                                                      \
  row("buffer_load_" modern, load_small<type, keep, high>, sizeof(type), 1, keep ? kPartial : 0), \
      row("buffer_load_" old, load_small<type, keep, high>, sizeof(type), 1, keep ? kPartial : 0)
#define STORE_SMALL(modern, old, type, high)                                     \
  row("buffer_store_" modern, store_small<type, high>, sizeof(type), 1, kStore), \
      row("buffer_store_" old, store_small<type, high>, sizeof(type), 1, kStore)
#define ATOMIC(modern, old, type, f, compares)                                                      \
  row("buffer_atomic_" modern, atomic<type, f, compares>, sizeof(type), sizeof(type) / 4, kAtomic,  \
      sizeof(type) / (compares ? 2 : 4)),                                                           \
      row("buffer_atomic_" old, atomic<type, f, compares>, sizeof(type), sizeof(type) / 4, kAtomic, \
          sizeof(type) / (compares ? 2 : 4))

const Row kRows[] = {
    MOVE(1, "b32", "dword"),
    MOVE(2, "b64", "dwordx2"),
    MOVE(3, "b96", "dwordx3"),
    MOVE(4, "b128", "dwordx4"),
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
    ATOMIC("swap_b32", "swap", uint32_t, a_swap, false),
    ATOMIC("swap_b64", "swap_x2", uint64_t, a_swap, false),
    ATOMIC("add_u32", "add", uint32_t, a_add, false),
    ATOMIC("add_u64", "add_x2", uint64_t, a_add, false),
    ATOMIC("sub_u32", "sub", uint32_t, a_sub, false),
    ATOMIC("min_i32", "smin", int32_t, a_min, false),
    ATOMIC("max_i32", "smax", int32_t, a_max, false),
    ATOMIC("min_u32", "umin", uint32_t, a_min, false),
    ATOMIC("max_u32", "umax", uint32_t, a_max, false),
    ATOMIC("and_b32", "and", uint32_t, a_and, false),
    ATOMIC("or_b32", "or", uint32_t, a_or, false),
    ATOMIC("xor_b32", "xor", uint32_t, a_xor, false),
    ATOMIC("cmpswap_b32", "cmpswap", uint32_t, a_cmpswap, true),
    ATOMIC("cmpswap_b64", "cmpswap_x2", uint64_t, a_cmpswap, true),
    ATOMIC("add_f32", "fadd", float, a_add, false),
    ATOMIC("pk_add_f16", "pk_fadd", uint32_t, a_pk_add_f16, false),
};

}  // namespace
EMU_GROUP(buffer_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
