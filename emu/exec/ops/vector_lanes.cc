// SPDX-License-Identifier: Apache-2.0
// Instructions that look across lanes, and those whose operands fit no plain function.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/scalars.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN uint32_t lane_of(const Wave& w, const Source& s, unsigned lane) {
  return s.place == Place::Vector ? w.v[s.offset + lane] : uint32_t(scalar_bits(w, s, false));
}
const Op* read_first_lane(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w) & (~uint64_t(0) >> (64 - w.lanes));
  w.s[op->dst] = lane_of(w, op->src[0], exec ? unsigned(__builtin_ctzll(exec)) : 0);
  return op + 1;
}
const Op* read_lane(Wave& w, const Op* op) {
  w.s[op->dst] = lane_of(w, op->src[0], uint32_t(scalar_bits(w, op->src[1], false)) % w.lanes);
  return op + 1;
}
const Op* write_lane(Wave& w, const Op* op) {
  w.v[op->dst_offset + uint32_t(scalar_bits(w, op->src[1], false)) % w.lanes] =
      uint32_t(scalar_bits(w, op->src[0], false));
  return op + 1;
}
/// v_mbcnt: bits of the mask below the lane, within the low or the high 32 lanes.
template <bool High>
const Op* count_below(Wave& w, const Op* op) {
  alignas(64) uint32_t mask[2][64], base[2][64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::U32, half, mask[half / 32]);
    prepare(w, op, op->src[1], Type::U32, half, base[half / 32]);
  }
  for (unsigned half = 0; half < w.lanes; half += 32) {
    uint32_t* out = base[half / 32];
    for (unsigned k = 0; k < 32; ++k) {
      const unsigned i = half + k;
      const uint32_t below = High ? (i <= 32 ? 0 : (1u << (i - 32)) - 1) : i >= 32 ? ~0u : (1u << i) - 1;
      out[k] += uint32_t(__builtin_popcount(mask[half / 32][k] & below));
    }
    finish(w, op, Type::U32, half, out, enabled_lanes(w, op, half));
  }
  return op + 1;
}
/// v_permlane16 and v_permlanex16: 4 bits of the selectors for each lane of a row.
template <bool OtherRow>
const Op* permute_row(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w),
                 select = scalar_bits(w, op->src[1], false) | scalar_bits(w, op->src[2], false) << 32;
  // op_sel holds fetch-inactive and bound-control.
  const bool inactive = op->src[0].mods & kHigh, zero = op->src[1].mods & kHigh;
  uint32_t* d = w.v + op->dst_offset;
  uint32_t result[64];
  for (unsigned i = 0; i < w.lanes; ++i) {
    const unsigned from = ((OtherRow ? i ^ 16 : i) & ~15u) | unsigned(select >> (4 * (i & 15)) & 15);
    result[i] = inactive || (exec >> from & 1) ? lane_of(w, op->src[0], from) : zero ? 0 : d[i];
  }
  for (unsigned i = 0; i < w.lanes; ++i)
    if (exec >> i & 1) d[i] = result[i];
  return op + 1;
}
/// The same with a selector in each lane (gfx12).
template <bool OtherRow>
const Op* permute_row_var(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w);
  const bool inactive = op->src[0].mods & kHigh, zero = op->src[1].mods & kHigh;
  uint32_t* d = w.v + op->dst_offset;
  uint32_t result[64];
  for (unsigned i = 0; i < w.lanes; ++i) {
    const unsigned from = ((OtherRow ? i ^ 16 : i) & ~15u) | (lane_of(w, op->src[1], i) & 15);
    result[i] = inactive || (exec >> from & 1) ? lane_of(w, op->src[0], from) : zero ? 0 : d[i];
  }
  for (unsigned i = 0; i < w.lanes; ++i)
    if (exec >> i & 1) d[i] = result[i];
  return op + 1;
}
const Op* permute_64(Wave& w, const Op* op) {
  if (w.lanes != 64) return op + 1;
  const uint64_t exec = exec_of(w);
  uint32_t* d = w.v + op->dst_offset;
  uint32_t result[64];
  for (unsigned i = 0; i < 64; ++i) result[i] = lane_of(w, op->src[0], i ^ 32);
  for (unsigned i = 0; i < 64; ++i)
    if (exec >> i & 1) d[i] = result[i];
  return op + 1;
}
const Op* swap(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w);
  uint32_t *a = w.v + op->dst_offset, *b = w.v + op->src[0].offset;
  for (unsigned i = 0; i < w.lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    const uint32_t keep = a[i];
    a[i] = b[i];
    b[i] = keep;
  }
  return op + 1;
}
const Op* swap_short(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w);
  uint32_t *a = w.v + op->dst_offset, *b = w.v + op->src[0].offset;
  const unsigned sa = op->flags & kDstHigh ? 16 : 0, sb = op->src[0].mods & kHigh ? 16 : 0;
  for (unsigned i = 0; i < w.lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    const uint32_t x = a[i] >> sa & 0xffff, y = b[i] >> sb & 0xffff;
    a[i] = (a[i] & ~(0xffffu << sa)) | y << sa;
    b[i] = (b[i] & ~(0xffffu << sb)) | x << sb;
  }
  return op + 1;
}
/// Register indexes from M0; outside the wave's registers nothing happens. Two: M0 holds one index for each
/// side.
template <bool Source_, bool Destination, bool Two = false>
const Op* move_relative(Wave& w, const Op* op) {
  const uint32_t m0 = w.s[kM0], add = Two ? m0 & 0x3ff : m0, add_dst = Two ? m0 >> 16 & 0x3ff : m0;
  Source s = op->src[0];
  const bool vector = s.place == Place::Vector;
  const uint32_t from = s.reg + (Source_ ? add : 0), to = op->dst + (Destination ? add_dst : 0);
  if (to >= w.vector_registers || (vector && from >= w.vector_registers)) return op + 1;
  if (vector) s.offset = from * w.lanes;
  Op moved = *op;
  moved.dst_offset = to * w.lanes;
  alignas(64) uint32_t values[2][64];
  for (unsigned half = 0; half < w.lanes; half += 32) prepare(w, op, s, Type::U32, half, values[half / 32]);
  for (unsigned half = 0; half < w.lanes; half += 32)
    finish(w, &moved, Type::U32, half, values[half / 32], enabled_lanes(w, op, half));
  if (w.checker) w.initialized[to] |= exec_of(w);
  return op + 1;
}
const Op* swap_relative(Wave& w, const Op* op) {
  const uint32_t from = op->src[0].reg + (w.s[kM0] & 0x3ff), to = op->dst + (w.s[kM0] >> 16 & 0x3ff);
  if (to >= w.vector_registers || from >= w.vector_registers) return op + 1;
  const uint64_t exec = exec_of(w);
  for (unsigned i = 0; i < w.lanes; ++i)
    if (exec >> i & 1) {
      const uint32_t keep = w.v[to * w.lanes + i];
      w.v[to * w.lanes + i] = w.v[from * w.lanes + i];
      w.v[from * w.lanes + i] = keep;
    }
  return op + 1;
}
const Op* scalar_move_relative_two(Wave& w, const Op* op) {
  const uint32_t from = op->src[0].reg + (w.s[kM0] & 0x3ff), to = op->dst + (w.s[kM0] >> 16 & 0x3ff);
  if (from >= kVcc || to >= kVcc) return op + 1;
  w.s[to] = w.s[from];
  if (w.checker) w.scalar_initialized[to] = w.scalar_initialized[from];
  return op + 1;
}
/// v_mqsad_u32_u8: masked sums of absolute differences of four places of S0's bytes.
const Op* four_wide_sads(Wave& w, const Op* op) {
  const uint64_t exec = exec_of(w);
  const auto word = [&](const Source& s, unsigned n, unsigned i) {
    return s.place == Place::Vector   ? w.v[s.offset + n * w.lanes + i]
           : s.place == Place::Scalar ? w.s[s.reg + n]
                                      : uint32_t(n < 2 ? s.value >> (32 * n) : 0);
  };
  for (unsigned i = 0; i < w.lanes; ++i) {
    if (!(exec >> i & 1)) continue;
    const uint64_t a = uint64_t(word(op->src[0], 1, i)) << 32 | word(op->src[0], 0, i);
    const uint32_t b = word(op->src[1], 0, i);
    uint32_t result[4];
    for (unsigned n = 0; n < 4; ++n) {
      result[n] = word(op->src[2], n, i);
      for (unsigned byte = 0; byte < 32; byte += 8) {
        const uint32_t x = uint32_t(a >> (8 * n + byte)) & 0xff, y = b >> byte & 0xff;
        if (y != 0) result[n] += x > y ? x - y : y - x;
      }
    }
    for (unsigned n = 0; n < 4; ++n) w.v[op->dst_offset + n * w.lanes + i] = result[n];
  }
  return op + 1;
}
template <bool Source_, bool Wide>
const Op* scalar_move_relative(Wave& w, const Op* op) {
  const uint32_t add = w.s[kM0];
  const uint32_t from = op->src[0].reg + (Source_ ? add : 0), to = op->dst + (Source_ ? 0 : add);
  if (from + Wide >= kVcc || to + Wide >= kVcc) return op + 1;
  const uint32_t low = w.s[from], high = Wide ? w.s[from + 1] : 0;
  w.s[to] = low;
  if (Wide) w.s[to + 1] = high;
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned dst, Type t0, unsigned s0, Type t1 = Type::None,
                  unsigned s1 = 0, Type t2 = Type::None, unsigned s2 = 0, Class cls = Class::LaneCross,
                  unsigned flags = kCrossLane) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Custom;
  r.cls = cls;
  r.dst = Type::U32;
  r.dst_words = uint8_t(dst);
  r.src[0] = t0;
  r.src[1] = t1;
  r.src[2] = t2;
  r.src_words[0] = uint8_t(s0);
  r.src_words[1] = uint8_t(s1);
  r.src_words[2] = uint8_t(s2);
  r.flags = uint16_t(flags);
  return r;
}
/// Of a handler that permutes lanes (DPP) and selects parts of registers (SDWA) too.
constexpr Row any(Row r) {
  r.form = Form::Lane;
  return r;
}
// The letter of the rows. NOLINTNEXTLINE(readability-identifier-naming)
constexpr Type U = Type::U32;

constexpr Row kRows[] = {
    row("v_readfirstlane_b32", read_first_lane, 1, U, 1),
    row("v_readlane_b32", read_lane, 1, U, 1, U, 1),
    row("v_writelane_b32", write_lane, 1, U, 1, U, 1),
    any(row("v_mbcnt_lo_u32_b32", count_below<false>, 1, U, 1, U, 1)),
    any(row("v_mbcnt_hi_u32_b32", count_below<true>, 1, U, 1, U, 1)),
    row("v_permlane16_b32", permute_row<false>, 1, U, 1, U, 1, U, 1),
    row("v_permlanex16_b32", permute_row<true>, 1, U, 1, U, 1, U, 1),
    row("v_permlane16_var_b32", permute_row_var<false>, 1, U, 1, U, 1),
    row("v_permlanex16_var_b32", permute_row_var<true>, 1, U, 1, U, 1),
    row("v_permlane64_b32", permute_64, 1, U, 1),
    row("v_swap_b32", swap, 1, U, 1),
    row("v_swap_b16", swap_short, 1, Type::U16, 1),
    any(row("v_movrels_b32", move_relative<true, false>, 1, U, 1)),
    any(row("v_movreld_b32", move_relative<false, true>, 1, U, 1)),
    any(row("v_movrelsd_b32", move_relative<true, true>, 1, U, 1)),
    any(row("v_movrelsd_2_b32", move_relative<true, true, true>, 1, U, 1)),
    row("v_swaprel_b32", swap_relative, 1, U, 1),
    row("v_mqsad_u32_u8", four_wide_sads, 4, Type::U64, 2, U, 1, Type::Wide, 4, Class::Vector, 0),
    row("s_movrelsd_2_b32", scalar_move_relative_two, 1, U, 1, Type::None, 0, Type::None, 0, Class::Scalar),
    row("s_movrels_b32", scalar_move_relative<true, false>, 1, U, 1, Type::None, 0, Type::None, 0,
        Class::Scalar),
    row("s_movreld_b32", scalar_move_relative<false, false>, 1, U, 1, Type::None, 0, Type::None, 0,
        Class::Scalar),
    row("s_movrels_b64", scalar_move_relative<true, true>, 2, Type::U64, 2, Type::None, 0, Type::None, 0,
        Class::Scalar),
    row("s_movreld_b64", scalar_move_relative<false, true>, 2, Type::U64, 2, Type::None, 0, Type::None, 0,
        Class::Scalar),
};

}  // namespace
EMU_GROUP(vector_lanes, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
