// SPDX-License-Identifier: Apache-2.0
// LDS loads, stores and atomics, and the lane permutations that go through LDS hardware.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/local_places.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// The enabled lanes' places.
EMU_FN void find_places(Wave& w, const Op* op, uint32_t add, uint32_t bytes, Access access,
                        Places<uint32_t>& p) {
  p.base = reinterpret_cast<uint64_t>(w.group->lds);
  p.wanted = enabled_of(w);
  const uint32_t* v = w.v + op->src[0].offset;
  const uint32_t room = w.group->lds_bytes, limit = room >= bytes ? room - bytes : 0;
  uint64_t outside = room < bytes ? ~uint64_t(0) : 0;
  for (unsigned h = 0; h < w.lanes; h += 32) {
    // Pointers, because an unsigned index that could wrap keeps this from becoming SIMD.
    const uint32_t* from = v + h;
    uint32_t* to = p.at + h;
    uint32_t highest = 0;
    EMU_INDEPENDENT
    for (unsigned i = 0; i < 32; ++i) {
      const uint32_t offset = from[i] + add;
      to[i] = offset;
      highest = offset > highest ? offset : highest;
    }
    if (highest <= limit) [[likely]]
      continue;
    for (unsigned i = 0; i < 32; ++i)
      if (p.at[h + i] > limit) outside |= uint64_t(1) << (h + i);
  }
  keep_inside(w, op, outside, bytes, access, p);
}

/// Where the elements of each 32 lanes begin, when all lanes are on and each half of the wave is a row;
/// checked.
EMU_FN bool find_rows(Wave& w, const Op* op, uint32_t add, uint32_t bytes, Access access, std::byte** rows) {
  if (enabled_of(w) != all_lanes(w)) return false;
  for (unsigned h = 0; h < w.lanes; h += 32) {
    const uint32_t* v = w.v + op->src[0].offset + h;
    const uint32_t first = v[0] + add;
    if (!in_steps(v, bytes) || uint64_t(first) + 32 * bytes > w.group->lds_bytes) return false;
    if (w.checker && !check_local_row(w, first, 32 * bytes, access)) return false;
    rows[h / 32] = w.group->lds + first;
  }
  return true;
}

template <unsigned Words>
[[gnu::noinline]] void load_apart(Wave& w, const Op* op, uint32_t add, unsigned first) {
  Places<uint32_t> p;
  find_places(w, op, add, Words * 4, Access::Read, p);
  load_lanes<Words>(w, w.v + op->dst_offset + first * w.lanes, p);
}
template <unsigned Words>
EMU_FN void load_at(Wave& w, const Op* op, uint32_t add, unsigned first) {
  std::byte* rows[2];
  if (find_rows(w, op, add, Words * 4, Access::Read, rows)) [[likely]]
    for (unsigned h = 0; h < w.lanes; h += 32)
      load_row<Words>(w.v + op->dst_offset + first * w.lanes + h, w.lanes, rows[h / 32]);
  else
    load_apart<Words>(w, op, add, first);
}
template <unsigned Words>
[[gnu::noinline]] void store_apart(Wave& w, const Op* op, uint32_t add, const Source& data) {
  Places<uint32_t> p;
  find_places(w, op, add, Words * 4, Access::Write, p);
  store_lanes<Words>(w, w.v + data.offset, p);
}
template <unsigned Words>
EMU_FN void store_at(Wave& w, const Op* op, uint32_t add, const Source& data) {
  std::byte* rows[2];
  if (find_rows(w, op, add, Words * 4, Access::Write, rows)) [[likely]]
    for (unsigned h = 0; h < w.lanes; h += 32) store_row<Words>(w.v + data.offset + h, w.lanes, rows[h / 32]);
  else
    store_apart<Words>(w, op, add, data);
}

template <unsigned Words>
const Op* load(Wave& w, const Op* op) {
  load_at<Words>(w, op, uint32_t(op->imm), 0);
  return op + 1;
}
template <unsigned Words>
const Op* store(Wave& w, const Op* op) {
  store_at<Words>(w, op, uint32_t(op->imm), op->src[1]);
  return op + 1;
}
// Two places of one instruction; the offsets count elements, or 64 elements.
template <unsigned Words, unsigned Stride>
const Op* load_two(Wave& w, const Op* op) {
  const uint32_t low = uint32_t(op->imm & 0xff) * Words * 4 * Stride,
                 high = uint32_t(op->imm >> 8 & 0xff) * Words * 4 * Stride;
  // The first result may overwrite the address; then the second one does not.
  const bool overlaps = op->src[0].reg >= op->dst && op->src[0].reg < op->dst + Words;
  load_at<Words>(w, op, overlaps ? high : low, overlaps ? Words : 0);
  load_at<Words>(w, op, overlaps ? low : high, overlaps ? 0 : Words);
  return op + 1;
}
template <unsigned Words, unsigned Stride>
const Op* store_two(Wave& w, const Op* op) {
  store_at<Words>(w, op, uint32_t(op->imm & 0xff) * Words * 4 * Stride, op->src[1]);
  store_at<Words>(w, op, uint32_t(op->imm >> 8 & 0xff) * Words * 4 * Stride, op->src[2]);
  return op + 1;
}
template <class T, bool Keep, bool High>
const Op* load_small(Wave& w, const Op* op) {
  uint32_t* d = w.v + op->dst_offset;
  std::byte* rows[2];
  if (find_rows(w, op, uint32_t(op->imm), sizeof(T), Access::Read, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) load_small_row<T, Keep, High>(d + h, rows[h / 32]);
  } else {
    Places<uint32_t> p;
    find_places(w, op, uint32_t(op->imm), sizeof(T), Access::Read, p);
    load_small_lanes<T, Keep, High>(d, p);
  }
  return op + 1;
}
template <class T, bool High>
const Op* store_small(Wave& w, const Op* op) {
  const uint32_t* v = w.v + op->src[1].offset;
  const bool high = High || (op->src[1].mods & kHigh);
  std::byte* rows[2];
  if (find_rows(w, op, uint32_t(op->imm), sizeof(T), Access::Write, rows)) {
    for (unsigned h = 0; h < w.lanes; h += 32) store_small_row<T>(v + h, high, rows[h / 32]);
  } else {
    Places<uint32_t> p;
    find_places(w, op, uint32_t(op->imm), sizeof(T), Access::Write, p);
    store_small_lanes<T>(v, high, p);
  }
  return op + 1;
}

/// Operands: Plain one value; Two: data, then what is compared with (gfx11: cmpstore), Swapped: the other way
/// around (ds_cmpst of older chips).
enum class Data { Plain, Two, Swapped };
template <class T, T (*F)(T, T, T), Data D>
const Op* atomic(Wave& w, const Op* op) {
  Places<uint32_t> p;
  find_places(w, op, uint32_t(op->imm), sizeof(T), Access::Atomic, p);
  const uint32_t *first = w.v + op->src[1].offset, *second = w.v + op->src[2].offset;
  atomic_lanes<T, F>(w, op, p, D == Data::Swapped ? second : first,
                     D == Data::Plain     ? nullptr
                     : D == Data::Swapped ? first
                                          : second,
                     op->dst_place == Place::Vector ? w.v + op->dst_offset : nullptr);
  return op + 1;
}
/// The counter of ds_append and ds_consume, one for the whole wave; M0 holds its base.
template <bool Consume>
const Op* append(Wave& w, const Op* op) {
  const uint64_t exec = enabled_of(w);
  const uint32_t at = (w.s[kM0] & 0xffff) + uint32_t(op->imm), count = uint32_t(__builtin_popcountll(exec));
  if (exec == 0) return op + 1;
  if (uint64_t(at) + 4 > w.group->lds_bytes || at % 4 != 0)
    raise(w, op, Fault::Kind::LdsOutOfRange, -1, at, "the counter of ds_append");
  uint32_t* p = reinterpret_cast<uint32_t*>(w.group->lds + at);
  const uint32_t old = Consume ? __atomic_fetch_sub(p, count, __ATOMIC_SEQ_CST)
                               : __atomic_fetch_add(p, count, __ATOMIC_SEQ_CST);
  uint32_t* d = w.v + op->dst_offset;
  for (unsigned i = 0; i < w.lanes; ++i)
    if (exec >> i & 1) d[i] = old;
  return op + 1;
}

EMU_FN void write_lanes(Wave& w, uint32_t* d, const uint32_t* values) {
  const uint64_t exec = exec_of(w);
  for (unsigned i = 0; i < w.lanes; ++i) d[i] = exec >> i & 1 ? values[i] : d[i];
}
/// The lane that lane i's address names: four bytes for each. On gfx10 and gfx11 the halves of a wave of 64
/// are apart.
EMU_FN unsigned named_lane(const Wave& w, const Op* op, unsigned i, uint32_t address) {
  const unsigned index = (address + uint32_t(op->imm)) / 4;
  return w.generation == 10 || w.generation == 11 ? (i & 32) | (index & 31) : index % w.lanes;
}
const Op* bpermute(Wave& w, const Op* op) {
  uint32_t values[64];
  const uint32_t *address = w.v + op->src[0].offset, *data = w.v + op->src[1].offset;
  const uint64_t exec = exec_of(w);
  for (unsigned i = 0; i < w.lanes; ++i) {
    const unsigned from = named_lane(w, op, i, address[i]);
    values[i] = exec >> from & 1 ? data[from] : 0;
  }
  write_lanes(w, w.v + op->dst_offset, values);
  return op + 1;
}
const Op* bpermute_any(Wave& w, const Op* op) {
  uint32_t values[64];
  const uint32_t *address = w.v + op->src[0].offset, *data = w.v + op->src[1].offset;
  for (unsigned i = 0; i < w.lanes; ++i) values[i] = data[(address[i] + uint32_t(op->imm)) / 4 % w.lanes];
  write_lanes(w, w.v + op->dst_offset, values);
  return op + 1;
}
const Op* permute(Wave& w, const Op* op) {
  uint32_t values[64] = {};
  const uint32_t *address = w.v + op->src[0].offset, *data = w.v + op->src[1].offset;
  const uint64_t exec = exec_of(w);
  for (unsigned i = 0; i < w.lanes; ++i)
    if (exec >> i & 1) values[named_lane(w, op, i, address[i])] = data[i];
  write_lanes(w, w.v + op->dst_offset, values);
  return op + 1;
}
const Op* swizzle(Wave& w, const Op* op) {
  uint32_t values[64];
  const uint32_t* data = w.v + op->src[0].offset;
  const uint64_t exec = exec_of(w);
  const uint32_t mode = uint32_t(op->imm);
  for (unsigned i = 0; i < w.lanes; ++i) {
    unsigned from = 0;
    const unsigned low = i & 31;
    if (mode >= 0xe000) {  // butterflies of a Fourier transform
      const uint32_t mask = mode & 31;
      unsigned reversed = 0;
      for (int bit = 0; bit < 5; ++bit) reversed |= (low >> bit & 1) << (4 - bit);
      from = (reversed >> __builtin_popcount(mask)) | (low & mask);
    } else if (mode >= 0xc000) {  // rotation
      const uint32_t turn = mode >> 5 & 31, mask = mode & 31, left = mode >> 10 & 1;
      from = (low & mask) | ((left ? low - turn : low + turn) & ~mask & 31);
    } else if (mode & 0x8000) {
      from = (low & 28) | (mode >> (2 * (low & 3)) & 3);
    } else {
      from = ((low & (mode & 31)) | (mode >> 5 & 31)) ^ (mode >> 10 & 31);
    }
    from = (from & 31) | (i & 32);
    values[i] = exec >> from & 1 ? data[from] : 0;
  }
  write_lanes(w, w.v + op->dst_offset, values);
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned bytes, unsigned dst, unsigned s0, unsigned s1,
                  unsigned s2, unsigned flags, Class cls = Class::Lds) {
  return memory_row(name, run, Form::Lds, cls, bytes, dst, s0, s1, s2, flags);
}
#define LOAD(n, modern, old) \
  row("ds_load_" modern, load<n>, 4 * n, n, 1, 0, 0, 0), row("ds_read_" old, load<n>, 4 * n, n, 1, 0, 0, 0)
#define STORE(n, modern, old)                                   \
  row("ds_store_" modern, store<n>, 4 * n, 0, 1, n, 0, kStore), \
      row("ds_write_" old, store<n>, 4 * n, 0, 1, n, 0, kStore)
#define TWO(n, modern, old, load_stride, stride)                                \
  row("ds_load_" modern, load_two<n, stride>, 8 * n, 2 * n, 1, 0, 0, 0),        \
      row("ds_read" old, load_two<n, stride>, 8 * n, 2 * n, 1, 0, 0, 0),        \
      row("ds_store_" modern, store_two<n, stride>, 8 * n, 0, 1, n, n, kStore), \
      row("ds_write" old, store_two<n, stride>, 8 * n, 0, 1, n, n, kStore)
#define SMALL(name, type, keep, high) \
  row("ds_" name, load_small<type, keep, high>, sizeof(type), 1, 1, 0, 0, keep ? kPartial : 0)
#define STORE_SMALL(name, type, high) \
  row("ds_" name, store_small<type, high>, sizeof(type), 0, 1, 1, 0, kStore)
#define ATOMIC(name, rtn, type, f)                                                                         \
  row("ds_" name, atomic<type, f, Data::Plain>, sizeof(type), 0, 1, sizeof(type) / 4, 0, kAtomic),         \
      row("ds_" rtn, atomic<type, f, Data::Plain>, sizeof(type), sizeof(type) / 4, 1, sizeof(type) / 4, 0, \
          kAtomic)
#define TWO_DATA(name, rtn, type, f, data)                                                                 \
  row("ds_" name, atomic<type, f, data>, sizeof(type), 0, 1, sizeof(type) / 4, sizeof(type) / 4, kAtomic), \
      row("ds_" rtn, atomic<type, f, data>, sizeof(type), sizeof(type) / 4, 1, sizeof(type) / 4,           \
          sizeof(type) / 4, kAtomic)

constexpr Row kRows[] = {
    LOAD(1, "b32", "b32"),
    LOAD(2, "b64", "b64"),
    LOAD(3, "b96", "b96"),
    LOAD(4, "b128", "b128"),
    STORE(1, "b32", "b32"),
    STORE(2, "b64", "b64"),
    STORE(3, "b96", "b96"),
    STORE(4, "b128", "b128"),
    TWO(1, "2addr_b32", "2_b32", 1, 1),
    TWO(2, "2addr_b64", "2_b64", 1, 1),
    TWO(1, "2addr_stride64_b32", "2st64_b32", 64, 64),
    TWO(2, "2addr_stride64_b64", "2st64_b64", 64, 64),
    SMALL("load_u8", uint8_t, false, false),
    SMALL("load_i8", int8_t, false, false),
    SMALL("load_u16", uint16_t, false, false),
    SMALL("load_i16", int16_t, false, false),
    SMALL("read_u8", uint8_t, false, false),
    SMALL("read_i8", int8_t, false, false),
    SMALL("read_u16", uint16_t, false, false),
    SMALL("read_i16", int16_t, false, false),
    SMALL("load_u8_d16", uint8_t, true, false),
    SMALL("load_u8_d16_hi", uint8_t, true, true),
    SMALL("load_i8_d16", int8_t, true, false),
    SMALL("load_i8_d16_hi", int8_t, true, true),
    SMALL("load_u16_d16", uint16_t, true, false),
    SMALL("load_u16_d16_hi", uint16_t, true, true),
    SMALL("read_u8_d16", uint8_t, true, false),
    SMALL("read_u8_d16_hi", uint8_t, true, true),
    SMALL("read_i8_d16", int8_t, true, false),
    SMALL("read_i8_d16_hi", int8_t, true, true),
    SMALL("read_u16_d16", uint16_t, true, false),
    SMALL("read_u16_d16_hi", uint16_t, true, true),
    STORE_SMALL("store_b8", uint8_t, false),
    STORE_SMALL("store_b16", uint16_t, false),
    STORE_SMALL("write_b8", uint8_t, false),
    STORE_SMALL("write_b16", uint16_t, false),
    STORE_SMALL("store_b8_d16_hi", uint8_t, true),
    STORE_SMALL("store_b16_d16_hi", uint16_t, true),
    STORE_SMALL("write_b8_d16_hi", uint8_t, true),
    STORE_SMALL("write_b16_d16_hi", uint16_t, true),
    ATOMIC("add_u32", "add_rtn_u32", uint32_t, a_add),
    ATOMIC("add_u64", "add_rtn_u64", uint64_t, a_add),
    ATOMIC("sub_u32", "sub_rtn_u32", uint32_t, a_sub),
    ATOMIC("sub_u64", "sub_rtn_u64", uint64_t, a_sub),
    ATOMIC("rsub_u32", "rsub_rtn_u32", uint32_t, a_rsub),
    ATOMIC("rsub_u64", "rsub_rtn_u64", uint64_t, a_rsub),
    ATOMIC("inc_u32", "inc_rtn_u32", uint32_t, a_inc),
    ATOMIC("inc_u64", "inc_rtn_u64", uint64_t, a_inc),
    ATOMIC("dec_u32", "dec_rtn_u32", uint32_t, a_dec),
    ATOMIC("dec_u64", "dec_rtn_u64", uint64_t, a_dec),
    ATOMIC("min_i32", "min_rtn_i32", int32_t, a_min),
    ATOMIC("min_i64", "min_rtn_i64", int64_t, a_min),
    ATOMIC("max_i32", "max_rtn_i32", int32_t, a_max),
    ATOMIC("max_i64", "max_rtn_i64", int64_t, a_max),
    ATOMIC("min_u32", "min_rtn_u32", uint32_t, a_min),
    ATOMIC("min_u64", "min_rtn_u64", uint64_t, a_min),
    ATOMIC("max_u32", "max_rtn_u32", uint32_t, a_max),
    ATOMIC("max_u64", "max_rtn_u64", uint64_t, a_max),
    ATOMIC("and_b32", "and_rtn_b32", uint32_t, a_and),
    ATOMIC("and_b64", "and_rtn_b64", uint64_t, a_and),
    ATOMIC("or_b32", "or_rtn_b32", uint32_t, a_or),
    ATOMIC("or_b64", "or_rtn_b64", uint64_t, a_or),
    ATOMIC("xor_b32", "xor_rtn_b32", uint32_t, a_xor),
    ATOMIC("xor_b64", "xor_rtn_b64", uint64_t, a_xor),
    ATOMIC("storexchg_b32", "storexchg_rtn_b32", uint32_t, a_swap),
    ATOMIC("storexchg_b64", "storexchg_rtn_b64", uint64_t, a_swap),
    ATOMIC("wrxchg_b32", "wrxchg_rtn_b32", uint32_t, a_swap),
    ATOMIC("wrxchg_b64", "wrxchg_rtn_b64", uint64_t, a_swap),
    ATOMIC("add_f32", "add_rtn_f32", float, a_add),
    ATOMIC("add_f64", "add_rtn_f64", double, a_add),
    ATOMIC("min_f32", "min_rtn_f32", float, a_fmin),
    ATOMIC("min_f64", "min_rtn_f64", double, a_fmin),
    ATOMIC("max_f32", "max_rtn_f32", float, a_fmax),
    ATOMIC("max_f64", "max_rtn_f64", double, a_fmax),
    ATOMIC("min_num_f32", "min_num_rtn_f32", float, a_min_num),
    ATOMIC("min_num_f64", "min_num_rtn_f64", double, a_min_num),
    ATOMIC("max_num_f32", "max_num_rtn_f32", float, a_max_num),
    ATOMIC("max_num_f64", "max_num_rtn_f64", double, a_max_num),
    ATOMIC("pk_add_f16", "pk_add_rtn_f16", uint32_t, a_pk_add_f16),
    ATOMIC("pk_add_bf16", "pk_add_rtn_bf16", uint32_t, a_pk_add_bf16),
    ATOMIC("cond_sub_u32", "cond_sub_rtn_u32", uint32_t, a_cond_sub),
    ATOMIC("sub_clamp_u32", "sub_clamp_rtn_u32", uint32_t, a_csub),
    TWO_DATA("mskor_b32", "mskor_rtn_b32", uint32_t, a_mskor, Data::Two),
    TWO_DATA("mskor_b64", "mskor_rtn_b64", uint64_t, a_mskor, Data::Two),
    TWO_DATA("wrap_b32", "wrap_rtn_b32", uint32_t, a_wrap, Data::Two),
    TWO_DATA("cmpstore_b32", "cmpstore_rtn_b32", uint32_t, a_cmpswap, Data::Two),
    TWO_DATA("cmpstore_b64", "cmpstore_rtn_b64", uint64_t, a_cmpswap, Data::Two),
    TWO_DATA("cmpstore_f32", "cmpstore_rtn_f32", float, a_cmpswap, Data::Two),
    TWO_DATA("cmpstore_f64", "cmpstore_rtn_f64", double, a_cmpswap, Data::Two),
    TWO_DATA("cmpst_b32", "cmpst_rtn_b32", uint32_t, a_cmpswap, Data::Swapped),
    TWO_DATA("cmpst_b64", "cmpst_rtn_b64", uint64_t, a_cmpswap, Data::Swapped),
    TWO_DATA("cmpst_f32", "cmpst_rtn_f32", float, a_cmpswap, Data::Swapped),
    TWO_DATA("cmpst_f64", "cmpst_rtn_f64", double, a_cmpswap, Data::Swapped),
    row("ds_append", append<false>, 4, 1, 0, 0, 0, kAtomic),
    row("ds_consume", append<true>, 4, 1, 0, 0, 0, kAtomic),
    row("ds_bpermute_b32", bpermute, 0, 1, 1, 1, 0, kCrossLane, Class::LaneCross),
    row("ds_bpermute_fi_b32", bpermute_any, 0, 1, 1, 1, 0, kCrossLane, Class::LaneCross),
    row("ds_permute_b32", permute, 0, 1, 1, 1, 0, kCrossLane, Class::LaneCross),
    row("ds_swizzle_b32", swizzle, 0, 1, 1, 0, 0, kCrossLane, Class::LaneCross),
};

}  // namespace
EMU_GROUP(local_memory, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
