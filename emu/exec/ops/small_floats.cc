// SPDX-License-Identifier: Apache-2.0
// Conversions from and to floats of 8 bits (gfx942, gfx12) and their dot products (gfx12).
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/small_float.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

template <int E>
EMU_FN float value_of(const Wave& w, uint32_t code) {
  return w.generation >= 12 ? from_small<E, false>(code) : from_small<E, true>(code);
}
template <int E>
EMU_FN uint32_t code_of(const Wave& w, float f) {
  const bool limits = (w.mode & kModeFp16Overflow) != 0;
  return w.generation >= 12 ? to_small<E, false>(f, limits) : to_small<E, true>(f, limits);
}
EMU_FN bool is_vop3(const Wave& w, const Op* op) { return w.generation >= 10 && op->raw[0] >> 26 == 0x35; }

/// One byte: gfx12 selects it by two bits of OPSEL, the lower one being the more significant; gfx942 by SDWA.
template <int E>
const Op* widen(Wave& w, const Op* op) {
  const uint32_t select = is_vop3(w, op) ? op->raw[0] >> 11 & 3 : 0, byte = (select & 1) << 1 | select >> 1;
  alignas(64) uint32_t in[64], out[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::U32, half, in);
    for (unsigned i = 0; i < 32; ++i) out[i] = std::bit_cast<uint32_t>(value_of<E>(w, in[i] >> (8 * byte)));
    finish(w, op, Type::F32, half, out, enabled_lanes(w, op, half));
  }
  return op + 1;
}
template <int E>
const Op* widen_two(Wave& w, const Op* op) {
  const uint32_t shift = op->src[0].mods & kHigh ? 16 : 0;
  alignas(64) uint32_t in[64], out[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::U32, half, in);
    for (unsigned i = 0; i < 32; ++i) {
      out[i] = std::bit_cast<uint32_t>(value_of<E>(w, in[i] >> shift));
      out[32 + i] = std::bit_cast<uint32_t>(value_of<E>(w, in[i] >> shift >> 8));
    }
    finish(w, op, Type::U64, half, out, enabled_lanes(w, op, half));
  }
  return op + 1;
}
/// Two into a half of the destination, which OPSEL's last bit chooses; the other half stays.
template <int E>
const Op* narrow_two(Wave& w, const Op* op) {
  const uint32_t shift = op->raw[0] >> 14 & 1 ? 16 : 0;
  alignas(64) uint32_t a[64], b[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::F32, half, a);
    prepare(w, op, op->src[1], Type::F32, half, b);
    const uint32_t enabled = enabled_lanes(w, op, half);
    uint32_t* d = w.v + op->dst_offset + half;
    for (unsigned i = 0; i < 32; ++i) {
      if (!(enabled >> i & 1)) continue;
      const uint32_t both =
          code_of<E>(w, std::bit_cast<float>(a[i])) | code_of<E>(w, std::bit_cast<float>(b[i])) << 8;
      d[i] = (d[i] & ~(0xffffu << shift)) | both << shift;
    }
  }
  return op + 1;
}
/// One into a byte of the destination. As AMD's pseudo-code has it, the upper bits of the second operand are
/// added to the mantissa, which wraps around, and the sum is rounded to the nearest.
template <int E>
const Op* narrow_stochastic(Wave& w, const Op* op) {
  const uint32_t shift = (op->raw[0] >> 13 & 3) * 8;
  constexpr uint32_t kDropped = E == 4 ? 12 : 11;
  alignas(64) uint32_t a[64], b[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::F32, half, a);
    prepare(w, op, op->src[1], Type::U32, half, b);
    const uint32_t enabled = enabled_lanes(w, op, half);
    uint32_t* d = w.v + op->dst_offset + half;
    for (unsigned i = 0; i < 32; ++i) {
      if (!(enabled >> i & 1)) continue;
      const uint32_t sum = (a[i] & 0xff800000) | (((a[i] & 0x7fffff) + (b[i] >> kDropped)) & 0x7fffff);
      d[i] = (d[i] & ~(0xffu << shift)) | code_of<E>(w, std::bit_cast<float>(sum)) << shift;
    }
  }
  return op + 1;
}
/// Products of four bytes each, which are exact, added one after the other.
template <int EA, int EB>
const Op* dot4(Wave& w, const Op* op) {
  if (op->src[2].mods & kNegHigh) raise(w, op, Fault::Kind::Unsupported, -1, 0, "a dot product with neg_hi");
  const FpScope<false> scope(w);
  alignas(64) uint32_t a[64], b[64], c[64];
  for (unsigned half = 0; half < w.lanes; half += 32) {
    prepare(w, op, op->src[0], Type::U32, half, a);
    prepare(w, op, op->src[1], Type::U32, half, b);
    prepare(w, op, op->src[2], Type::F32, half, c);
    for (unsigned i = 0; i < 32; ++i) {
      float sum = std::bit_cast<float>(c[i]);
      for (unsigned n = 0; n < 32; n += 8)
        sum += from_small<EA, false>(a[i] >> n) * from_small<EB, false>(b[i] >> n);
      c[i] = std::bit_cast<uint32_t>(sum);
    }
    finish(w, op, Type::F32, half, c, enabled_lanes(w, op, half));
  }
  return op + 1;
}

constexpr Row row(const char* name, Handler run, Type dst, Type a, Type b = Type::None, Type c = Type::None,
                  unsigned flags = 0) {
  Row r{};
  r.name = name;
  r.run = run;
  r.form = Form::Vector;
  r.cls = c == Type::None ? Class::Vector : Class::Dot;
  r.dst = dst;
  r.src[0] = a;
  r.src[1] = b;
  r.src[2] = c;
  r.flags = uint16_t(flags);
  return r;
}
// The letters of the rows. NOLINTNEXTLINE(readability-identifier-naming)
constexpr Type U = Type::U32, F = Type::F32, N = Type::None;

constexpr Row kRows[] = {
    row("v_cvt_f32_fp8", widen<4>, F, U),
    row("v_cvt_f32_bf8", widen<5>, F, U),
    row("v_cvt_pk_f32_fp8", widen_two<4>, Type::U64, U),
    row("v_cvt_pk_f32_bf8", widen_two<5>, Type::U64, U),
    row("v_cvt_pk_fp8_f32", narrow_two<4>, U, F, F, N, kPartial),
    row("v_cvt_pk_bf8_f32", narrow_two<5>, U, F, F, N, kPartial),
    row("v_cvt_sr_fp8_f32", narrow_stochastic<4>, U, F, U, N, kPartial),
    row("v_cvt_sr_bf8_f32", narrow_stochastic<5>, U, F, U, N, kPartial),
    row("v_dot4_f32_fp8_fp8", dot4<4, 4>, F, U, U, F),
    row("v_dot4_f32_fp8_bf8", dot4<4, 5>, F, U, U, F),
    row("v_dot4_f32_bf8_fp8", dot4<5, 4>, F, U, U, F),
    row("v_dot4_f32_bf8_bf8", dot4<5, 5>, F, U, U, F),
};

}  // namespace
EMU_GROUP(small_floats, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
