// SPDX-License-Identifier: Apache-2.0
// Buffer loads, stores and atomics: private memory on gfx9 and gfx10, and raw or strided buffers.
#include "emu/exec/buffer_range.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/lane_memory.h"
#include "emu/exec/ops/scalars.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

struct Buffer {
  uint64_t base;
  BufferRange range;
  uint32_t scalar;
  bool is_private;
};
EMU_FN Buffer buffer_of(Wave& w, const Op* op) {
  const uint32_t* d = w.s + op->src[2].reg;
  return {uint64_t(d[0]) | uint64_t(d[1] & 0xffff) << 32, BufferRange(d, w.generation),
          uint32_t(scalar_bits(w, op->src[3], false)), (d[1] & 0xffff) == (kPrivateDescriptor & 0xffff)};
}

/// The lanes' places, `skipped` bytes behind their addresses. Lanes behind the buffer's end are wanted and
/// not there.
[[gnu::noinline, maybe_unused]] void find_places(Wave& w, const Op* op, uint32_t bytes, Access access,
                                                 Places<uint64_t>& p, uint32_t skipped = 0) {
  const Buffer buffer = buffer_of(w, op);
  const bool indexed = op->flags & kIndexed, offset_register = op->flags & kOffset;
  const uint32_t* v = w.v + op->src[0].offset;
  p.base = 0;
  p.wanted = enabled_of(w);
  p.there = 0;
  uint32_t index[64], offset[64];
  for (unsigned i = 0; i < w.lanes; ++i) {
    index[i] = indexed ? v[i] : 0;
    offset[i] = offset_register ? v[indexed ? w.lanes + i : i] : 0;
  }
  if (buffer.is_private) {
    // Stack pointers count the bytes of a wave, whose lanes lie side by side; addresses those of a lane.
    const uint32_t scalar = uint32_t(buffer.base) + buffer.scalar / w.lanes + uint32_t(op->imm) + skipped;
    for (unsigned i = 0; i < w.lanes; ++i) offset[i] += scalar;
    private_places(w, op, offset, p.wanted, bytes, access, p);
    p.there = p.wanted;
    return;
  }
  if (w.s[op->src[2].reg + 1] >> 31)
    raise(w, op, Fault::Kind::Unsupported, -1, buffer.base, "a swizzled buffer that is not private memory");
  for (uint64_t rest = p.wanted; rest; rest &= rest - 1) {
    const int i = __builtin_ctzll(rest);
    const uint64_t inside =
        uint64_t(offset[i]) + uint32_t(op->imm) + skipped + uint64_t(buffer.range.stride) * index[i];
    p.at[i] = buffer.base + buffer.scalar + inside;
    if (buffer.range.has(indexed, index[i], inside, bytes)) p.there |= uint64_t(1) << i;
  }
  if (w.checker && p.there) check_places(w, op, p.at, p.there, bytes, access);
}

/// Where the elements of each 32 lanes begin, when all lanes are on, inside the buffer, and each half of the
/// wave is a row; checked.
EMU_FN bool find_rows(Wave& w, const Op* op, uint32_t bytes, Access access, std::byte** rows) {
  const Buffer buffer = buffer_of(w, op);
  if (enabled_of(w) != all_lanes(w) || (op->flags & (kIndexed | kOffset)) != kOffset || buffer.is_private ||
      w.s[op->src[2].reg + 1] >> 31 || buffer.range.unchecked)
    return false;
  for (unsigned h = 0; h < w.lanes; h += 32) {
    const uint32_t* v = w.v + op->src[0].offset + h;
    const uint64_t offset = uint64_t(v[0]) + uint32_t(op->imm);
    if (!in_steps(v, bytes) || offset + 32 * bytes > buffer.range.records) return false;
    const uint64_t address = buffer.base + buffer.scalar + offset;
    if (w.checker && !check_row(w, address, 32 * bytes, access)) return false;
    rows[h / 32] = host(address);
  }
  return true;
}

/// Each word of the lanes' elements by itself: those inside the buffer are there.
template <unsigned Words>
[[gnu::noinline]] void load_words(Wave& w, const Op* op, uint32_t* d) {
  Places<uint64_t> p[Words];
  for (uint32_t word = 0; word < Words; ++word) find_places(w, op, 4, Access::Read, p[word], 4 * word);
  for (unsigned word = 0; word < Words; ++word) load_lanes<1>(w, d + word * w.lanes, p[word]);
}
template <unsigned Words>
[[gnu::noinline]] void store_words(Wave& w, const Op* op, const uint32_t* v) {
  Places<uint64_t> p;
  for (uint32_t word = 0; word < Words; ++word) {
    find_places(w, op, 4, Access::Write, p, 4 * word);
    store_lanes<1>(w, v + word * w.lanes, p);
  }
}

template <unsigned Words>
const Op* load(Wave& w, const Op* op) {
  uint32_t* d = w.v + op->dst_offset;
  std::byte* rows[2];
  if (find_rows(w, op, Words * 4, Access::Read, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) load_row<Words>(d + h, w.lanes, rows[h / 32]);
  } else {
    Places<uint64_t> p;
    find_places(w, op, Words * 4, Access::Read, p);
    if (Words > 1 && p.there != p.wanted)
      load_words<Words>(w, op, d);
    else
      load_lanes<Words>(w, d, p);
  }
  return op + 1;
}
template <unsigned Words>
const Op* store(Wave& w, const Op* op) {
  const uint32_t* v = w.v + op->src[1].offset;
  std::byte* rows[2];
  if (find_rows(w, op, Words * 4, Access::Write, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) store_row<Words>(v + h, w.lanes, rows[h / 32]);
  } else {
    Places<uint64_t> p;
    find_places(w, op, Words * 4, Access::Write, p);
    if (Words > 1 && p.there != p.wanted)
      store_words<Words>(w, op, v);
    else
      store_lanes<Words>(w, v, p);
  }
  return op + 1;
}
template <class T, bool Keep, bool High>
const Op* load_small(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places(w, op, sizeof(T), Access::Read, p);
  load_small_lanes<T, Keep, High>(w.v + op->dst_offset, p);
  return op + 1;
}
template <class T, bool High>
const Op* store_small(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places(w, op, sizeof(T), Access::Write, p);
  store_small_lanes<T>(w.v + op->src[1].offset, High, p);
  return op + 1;
}
template <class T, T (*F)(T, T, T), bool Compares>
const Op* atomic(Wave& w, const Op* op) {
  Places<uint64_t> p;
  find_places(w, op, sizeof(T), Access::Atomic, p);
  const uint32_t* data = w.v + op->src[1].offset;
  atomic_lanes<T, F>(w, op, p, data, Compares ? data + sizeof(T) / 4 * w.lanes : nullptr,
                     op->flags & kReturns ? w.v + op->dst_offset : nullptr);
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned bytes, unsigned words, unsigned flags,
                  unsigned data_words = 0) {
  return memory_row(name, run, Form::Buffer, flags & kAtomic ? Class::Atomic : Class::Global, bytes, words, 0,
                    data_words ? data_words : words, 0, flags);
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

constexpr Row kRows[] = {
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
    ATOMIC("sub_u64", "sub_x2", uint64_t, a_sub, false),
    ATOMIC("csub_u32", "csub", uint32_t, a_csub, false),
    ATOMIC("sub_clamp_u32", "sub_clamp", uint32_t, a_csub, false),
    ATOMIC("cond_sub_u32", "cond_sub", uint32_t, a_cond_sub, false),
    ATOMIC("min_i32", "smin", int32_t, a_min, false),
    ATOMIC("min_i64", "smin_x2", int64_t, a_min, false),
    ATOMIC("max_i32", "smax", int32_t, a_max, false),
    ATOMIC("max_i64", "smax_x2", int64_t, a_max, false),
    ATOMIC("min_u32", "umin", uint32_t, a_min, false),
    ATOMIC("min_u64", "umin_x2", uint64_t, a_min, false),
    ATOMIC("max_u32", "umax", uint32_t, a_max, false),
    ATOMIC("max_u64", "umax_x2", uint64_t, a_max, false),
    ATOMIC("and_b32", "and", uint32_t, a_and, false),
    ATOMIC("and_b64", "and_x2", uint64_t, a_and, false),
    ATOMIC("or_b32", "or", uint32_t, a_or, false),
    ATOMIC("or_b64", "or_x2", uint64_t, a_or, false),
    ATOMIC("xor_b32", "xor", uint32_t, a_xor, false),
    ATOMIC("xor_b64", "xor_x2", uint64_t, a_xor, false),
    ATOMIC("inc_u32", "inc", uint32_t, a_inc, false),
    ATOMIC("inc_u64", "inc_x2", uint64_t, a_inc, false),
    ATOMIC("dec_u32", "dec", uint32_t, a_dec, false),
    ATOMIC("dec_u64", "dec_x2", uint64_t, a_dec, false),
    ATOMIC("cmpswap_b32", "cmpswap", uint32_t, a_cmpswap, true),
    ATOMIC("cmpswap_b64", "cmpswap_x2", uint64_t, a_cmpswap, true),
    ATOMIC("cmpswap_f32", "fcmpswap", float, a_cmpswap, true),
    ATOMIC("cmpswap_f64", "fcmpswap_x2", double, a_cmpswap, true),
    ATOMIC("add_f32", "fadd", float, a_add, false),
    ATOMIC("add_f64", "fadd_x2", double, a_add, false),
    ATOMIC("min_f32", "fmin", float, a_fmin, false),
    ATOMIC("max_f32", "fmax", float, a_fmax, false),
    ATOMIC("min_num_f32", "min_num", float, a_min_num, false),
    ATOMIC("max_num_f32", "max_num", float, a_max_num, false),
    ATOMIC("min_f64", "fmin_x2", double, a_fmin, false),
    ATOMIC("max_f64", "fmax_x2", double, a_fmax, false),
    ATOMIC("pk_add_f16", "pk_fadd", uint32_t, a_pk_add_f16, false),
    ATOMIC("pk_add_bf16", "pk_fadd_bf16", uint32_t, a_pk_add_bf16, false),
};

}  // namespace
EMU_GROUP(buffer_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
