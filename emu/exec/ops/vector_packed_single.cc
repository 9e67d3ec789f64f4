// SPDX-License-Identifier: Apache-2.0
// Packed f32 arithmetic on register pairs (gfx90a, gfx942), and copies to and from accumulation registers.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/lanes.h"
#include "emu/exec/ops/real.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using u32 = uint32_t;

/// The word of a pair that one element of the result reads.
EMU_FN Source element(const Wave& w, const Source& s, bool high, bool negative) {
  Source one = s;
  one.mods = uint8_t((s.mods & kDpp) | (negative ? kNeg : 0));
  if (high) {
    one.offset += w.lanes;
    one.reg = uint16_t(s.reg + 1);
    one.value = s.value >> 32;
  }
  return one;
}
EMU_FN void write_pair(Wave& w, const Op* op, unsigned half, const u32 (&out)[2][32]) {
  const u32 enabled = enabled_lanes(w, op, half);
  u32* d = w.v + op->dst_offset + half;
  for (unsigned part = 0; part < 2; ++part, d += w.lanes)
    for (unsigned i = 0; i < 32; ++i) d[i] = enabled >> i & 1 ? out[part][i] : d[i];
}

template <auto F, unsigned Count>
const Op* pair(Wave& w, const Op* op) {
  const FpScope<false> scope(w);
  alignas(64) u32 in[3][64], out[2][32];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    for (unsigned part = 0; part < 2; ++part) {
      for (unsigned n = 0; n < Count; ++n) {
        const Source& s = op->src[n];
        prepare(w, op, element(w, s, s.mods & (part ? kPackHigh : kHigh), s.mods & (part ? kNegHigh : kNeg)),
                Type::F32, half, in[n]);
      }
      for (unsigned i = 0; i < 32; ++i) {
        const auto value = [&](unsigned n) { return std::bit_cast<float>(in[n][i]); };
        float f;
        if constexpr (Count == 2)
          f = F(value(0), value(1));
        else
          f = F(value(0), value(1), value(2));
        if (op->flags & kClamp)
          f = f != f ? (w.mode & kModeDx10Clamp ? 0.0f : f) : f > 1.0f ? 1.0f : f > 0.0f ? f : 0.0f;
        out[part][i] = std::bit_cast<u32>(f);
      }
    }
    write_pair(w, op, half, out);
  }
  return op + 1;
}

/// The low word from the first source, the high word from the second; op_sel says which word of each.
const Op* move_pair(Wave& w, const Op* op) {
  alignas(64) u32 in[64], out[2][32];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    for (unsigned part = 0; part < 2; ++part) {
      const Source& s = op->src[part];
      prepare(w, op, element(w, s, s.mods & kHigh, false), Type::U32, half, in);
      std::memcpy(out[part], in, sizeof(out[part]));
    }
    write_pair(w, op, half, out);
  }
  return op + 1;
}

constexpr Row on_pairs(const char* name, Handler run, unsigned count, Type dst = Type::PackF32) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Vector;
  r.cls = Class::Vector;
  r.dst = dst;
  for (unsigned n = 0; n < count; ++n) r.src[n] = Type::PackF32;
  return r;
}

constexpr Row kRows[] = {
    on_pairs("v_pk_add_f32", pair<[](float a, float b) { return a + b; }, 2>, 2),
    on_pairs("v_pk_mul_f32", pair<[](float a, float b) { return a * b; }, 2>, 2),
    on_pairs("v_pk_fma_f32", pair<[](float a, float b, float c) { return fused(a, b, c); }, 3>, 3),
    on_pairs("v_pk_mov_b32", move_pair, 2, Type::B64),
    valu<[](u32 a) { return a; }>("v_accvgpr_read_b32"),
    valu<[](u32 a) { return a; }>("v_accvgpr_write_b32"),
    valu<[](u32 a) { return a; }>("v_accvgpr_mov_b32"),
};

}  // namespace
EMU_GROUP(vector_packed_single, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
