// SPDX-License-Identifier: Apache-2.0
// Less usual ways to memory: addresses that are the lane's number, exchanges of two places in LDS, loads that
// go straight to LDS, blocks of registers (gfx12).
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/local_places.h"
#include "emu/exec/registers.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN uint32_t* register_of(Wave& w, const Op* op, unsigned n) { return w.v + op->dst_offset + n * w.lanes; }

/// Offset and M0's lower half, then a word for each lane.
EMU_FN void places_by_lane(Wave& w, const Op* op, Access access, Places<uint32_t>& p) {
  const uint32_t base = uint32_t(op->imm) + (w.s[kM0] & 0xffff);
  places_at(w, op, 4, access, p, [base](unsigned i) { return base + 4 * i; });
}
const Op* load_by_lane(Wave& w, const Op* op) {
  Places<uint32_t> p;
  places_by_lane(w, op, Access::Read, p);
  load_lanes<1>(w, register_of(w, op, 0), p);
  return op + 1;
}
const Op* store_by_lane(Wave& w, const Op* op) {
  Places<uint32_t> p;
  places_by_lane(w, op, Access::Write, p);
  store_lanes<1>(w, w.v + op->src[0].offset, p);
  return op + 1;
}
EMU_FN void global_by_lane(Wave& w, const Op* op, Access access, Places<uint64_t>& p) {
  const uint64_t base = scalar_pair(w, op->src[2].reg) + uint64_t(op->imm);
  p.base = 0;
  p.wanted = p.there = enabled_of(w);
  for (unsigned i = 0; i < w.lanes; ++i) p.at[i] = base + 4 * i;
  if (w.checker && p.wanted) check_places(w, op, p.at, p.wanted, 4, access);
}
const Op* global_load_by_lane(Wave& w, const Op* op) {
  Places<uint64_t> p;
  global_by_lane(w, op, Access::Read, p);
  load_lanes<1>(w, register_of(w, op, 0), p);
  return op + 1;
}
const Op* global_store_by_lane(Wave& w, const Op* op) {
  Places<uint64_t> p;
  global_by_lane(w, op, Access::Write, p);
  store_lanes<1>(w, w.v + op->src[1].offset, p);
  return op + 1;
}

/// Two exchanges; each offset counts elements, or 64 of them.
template <class T, unsigned Stride>
const Op* exchange_two(Wave& w, const Op* op) {
  constexpr unsigned kWords = sizeof(T) / 4;
  uint32_t results[2][kWords * 64] = {};
  const uint32_t* address = w.v + op->src[0].offset;
  for (unsigned part = 0; part < 2; ++part) {
    const uint32_t offset = uint32_t(op->imm >> (8 * part) & 0xff) * uint32_t(sizeof(T)) * Stride;
    Places<uint32_t> p;
    places_at(w, op, sizeof(T), Access::Atomic, p, [&](unsigned i) { return address[i] + offset; });
    atomic_lanes<T, a_swap<T>>(w, op, p, w.v + op->src[1 + part].offset, nullptr, results[part]);
  }
  const uint32_t exec = uint32_t(enabled_of(w)), upper = uint32_t(enabled_of(w) >> 32);
  for (unsigned part = 0; part < 2; ++part)
    for (unsigned half = 0; half < w.lanes; half += 32)
      for (unsigned word = 0; word < kWords; ++word)
        write_enabled(register_of(w, op, part * kWords + word) + half, w.lanes, 1,
                      results[part] + word * w.lanes + half, half ? upper : exec);
  return op + 1;
}
/// ds_condxchg32_rtn_b64: of two words, those whose new value has bit 31 are written, without it.
const Op* exchange_if(Wave& w, const Op* op) {
  Places<uint32_t> p;
  const uint32_t *address = w.v + op->src[0].offset, *data = w.v + op->src[1].offset;
  places_at(w, op, 8, Access::Atomic, p,
            [&](unsigned i) { return (address[i] + uint32_t(op->imm)) & 0xfff8; });
  for (uint64_t rest = p.wanted; rest; rest &= rest - 1) {
    const unsigned i = unsigned(__builtin_ctzll(rest));
    const uint32_t now[2] = {data[i], data[w.lanes + i]};
    uint32_t old[2] = {};
    if (p.there >> i & 1) {
      std::memcpy(old, p[i], 8);
      for (unsigned n = 0; n < 2; ++n) {
        const uint32_t value = now[n] & 0x7fffffff;
        if (now[n] >> 31) std::memcpy(p[i] + 4 * n, &value, 4);
      }
    }
    for (unsigned n = 0; n < 2; ++n) register_of(w, op, n)[i] = old[n];
  }
  return op + 1;
}

/// A load whose words go to LDS: to M0's lower half, the offset of the instruction and a word for each lane
/// (LLVM's "DMA operations" guide). The ordinary load fetches them into a register that no instruction names.
EMU_FN const Op* load_to_lds(Wave& w, const Op* op, const Row* load) {
  if (load == nullptr || (op->row->form == Form::Buffer && op->imm != 0))
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "a buffer load into LDS with an offset in the instruction");
  Op copy = *op;
  copy.dst = kSpareRegister;
  copy.dst_offset = kSpareRegister * w.lanes;
  copy.dst_words = 1;
  load->run(w, &copy);
  Places<uint32_t> p;
  places_by_lane(w, op, Access::Write, p);
  store_lanes<1>(w, w.v + copy.dst_offset, p);
  return op + 1;
}
#define TO_LDS(function, base)                     \
  const Op* function(Wave& w, const Op* op) {      \
    static const Row* const load = find_row(base); \
    return load_to_lds(w, op, load);               \
  }
TO_LDS(buffer_to_lds, "buffer_load_dword")
TO_LDS(global_to_lds, "global_load_dword")
TO_LDS(scratch_to_lds, "scratch_load_dword")

/// global_load_block: of 32 registers, those whose bit M0 holds.
const Op* load_block(Wave& w, const Op* op, const Row* load) {
  for (unsigned n = 0; n < 32; ++n) {
    if (!(w.s[kM0] >> n & 1)) continue;
    Op copy = *op;
    copy.dst = uint16_t(op->dst + n);
    copy.dst_offset = op->dst_offset + n * w.lanes;
    copy.imm += 4 * n;
    load->run(w, &copy);
  }
  return op + 1;
}
const Op* store_block(Wave& w, const Op* op, const Row* store) {
  const uint64_t exec = enabled_of(w);
  for (unsigned n = 0; n < 32; ++n) {
    if (!(w.s[kM0] >> n & 1)) continue;
    Op copy = *op;
    copy.src[1].offset += n * w.lanes;
    if (w.checker && (exec & ~w.initialized[op->src[1].reg + n]))
      raise(w, op, Fault::Kind::Uninitialized, -1, 0,
            "a register of the block was never written but is stored");
    copy.imm += 4 * n;
    store->run(w, &copy);
  }
  return op + 1;
}
#define BLOCK(function, base, way)                \
  const Op* function(Wave& w, const Op* op) {     \
    static const Row* const one = find_row(base); \
    return way(w, op, one);                       \
  }
BLOCK(global_load_block, "global_load_b32", load_block)
BLOCK(scratch_load_block, "scratch_load_b32", load_block)
BLOCK(global_store_block, "global_store_b32", store_block)
BLOCK(scratch_store_block, "scratch_store_b32", store_block)

constexpr Row lds(const char* name, Handler run, unsigned bytes, unsigned dst, unsigned s0, unsigned s1,
                  unsigned s2, unsigned flags) {
  return memory_row(name, run, Form::Lds, Class::Lds, bytes, dst, s0, s1, s2, flags);
}
constexpr Row flat(const char* name, Handler run, unsigned bytes, unsigned dst, unsigned address,
                   unsigned data, unsigned flags) {
  return memory_row(name, run, Form::Flat, flags & kScratchSpace ? Class::Scratch : Class::Global, bytes, dst,
                    address, data, 0, flags);
}
constexpr Row buffer(const char* name) {
  return memory_row(name, buffer_to_lds, Form::Buffer, Class::Global, 4, 0, 0, 0, 0, 0);
}

constexpr Row kRows[] = {
    lds("ds_load_addtid_b32", load_by_lane, 4, 1, 0, 0, 0, 0),
    lds("ds_read_addtid_b32", load_by_lane, 4, 1, 0, 0, 0, 0),
    lds("ds_store_addtid_b32", store_by_lane, 4, 0, 1, 0, 0, kStore),
    lds("ds_write_addtid_b32", store_by_lane, 4, 0, 1, 0, 0, kStore),
    lds("ds_storexchg_2addr_rtn_b32", exchange_two<uint32_t, 1>, 8, 2, 1, 1, 1, kAtomic),
    lds("ds_storexchg_2addr_rtn_b64", exchange_two<uint64_t, 1>, 16, 4, 1, 2, 2, kAtomic),
    lds("ds_storexchg_2addr_stride64_rtn_b32", exchange_two<uint32_t, 64>, 8, 2, 1, 1, 1, kAtomic),
    lds("ds_storexchg_2addr_stride64_rtn_b64", exchange_two<uint64_t, 64>, 16, 4, 1, 2, 2, kAtomic),
    lds("ds_wrxchg2_rtn_b32", exchange_two<uint32_t, 1>, 8, 2, 1, 1, 1, kAtomic),
    lds("ds_wrxchg2_rtn_b64", exchange_two<uint64_t, 1>, 16, 4, 1, 2, 2, kAtomic),
    lds("ds_wrxchg2st64_rtn_b32", exchange_two<uint32_t, 64>, 8, 2, 1, 1, 1, kAtomic),
    lds("ds_wrxchg2st64_rtn_b64", exchange_two<uint64_t, 64>, 16, 4, 1, 2, 2, kAtomic),
    lds("ds_condxchg32_rtn_b64", exchange_if, 8, 2, 1, 2, 0, kAtomic),
    flat("global_load_addtid_b32", global_load_by_lane, 4, 1, kNoAddress, 0, 0),
    flat("global_load_dword_addtid", global_load_by_lane, 4, 1, kNoAddress, 0, 0),
    flat("global_store_addtid_b32", global_store_by_lane, 4, 0, kNoAddress, 1, kStore),
    flat("global_store_dword_addtid", global_store_by_lane, 4, 0, kNoAddress, 1, kStore),
    flat("global_load_lds_dword", global_to_lds, 4, 0, 0, 0, 0),
    flat("global_load_dword lds", global_to_lds, 4, 0, 0, 0, 0),
    flat("scratch_load_lds_dword", scratch_to_lds, 4, 0, 0, 0, kScratchSpace),
    flat("scratch_load_dword lds", scratch_to_lds, 4, 0, 0, 0, kScratchSpace),
    buffer("buffer_load_dword lds"),
    buffer("buffer_load_lds_b32"),
    flat("global_load_block", global_load_block, 4, 32, 0, 0, 0),
    flat("scratch_load_block", scratch_load_block, 4, 32, 0, 0, kScratchSpace),
    flat("global_store_block", global_store_block, 4, 0, 0, 32, kStore),
    flat("scratch_store_block", scratch_store_block, 4, 0, 0, 32, kStore | kScratchSpace),
};

}  // namespace
EMU_GROUP(memory_other, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
