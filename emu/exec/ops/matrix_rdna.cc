// SPDX-License-Identifier: Apache-2.0
// WMMA of gfx11 and gfx12: D = A * B + C on tiles of 16 x 16, the whole wave at once, EXEC ignored. Products
// are added in the order of k, each by one fused operation in f32; 16-bit results are rounded once at the
// end. (Hardware does not document its order; its results may differ in the last bits.)
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/matrix_tiles.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// The elements of 16 lanes, `shift` bits up in their registers.
template <Element E, class T>
EMU_FN void elements(const uint32_t* v, unsigned shift, bool is_signed, T* out) {
  if constexpr (E == Element::F16)
    widen_16(v, shift, out);
  else
    for (unsigned i = 0; i < 16; ++i) out[i] = element<E, false>(v[i] >> shift, is_signed);
}

/// Where element k of a row of A (or column of B) lies: register and group of 16 lanes.
struct Spot {
  unsigned reg, group, shift;
};
EMU_FN Spot spot(unsigned k, unsigned bits, unsigned depth, unsigned generation) {
  if (generation < 12) return {k * bits / 32, 0, k * bits % 32};  // every group of lanes holds a copy
  // gfx12: units of two registers (or of the one there is) alternate between the halves of the wave.
  const unsigned registers = depth * bits / 64, unit_registers = registers < 2 ? registers : 2;
  const unsigned per_unit = unit_registers * 32 / bits, unit = k / per_unit, at = k % per_unit;
  return {unit / 2 * unit_registers + at * bits / 32, unit % 2, at * bits % 32};
}
/// The register, lane and half of element (m, n) of C and D.
struct Cell {
  unsigned reg, lane, shift;
};
EMU_FN Cell cell(unsigned m, unsigned n, bool is_short, bool high, const Wave& w) {
  if (w.generation < 12) {
    const unsigned groups = w.lanes / 16;
    return {m / groups, n + 16 * (m % groups), is_short && high ? 16u : 0u};
  }
  const unsigned row = m % 8;
  return is_short ? Cell{row / 2, n + 16 * (m / 8), 16 * (row % 2)} : Cell{row, n + 16 * (m / 8), 0};
}

template <Element EA, Element EB, Result R, unsigned Depth>
const Op* wmma(Wave& w, const Op* op) {
  constexpr bool kInteger = R == Result::I32, kShort = R == Result::F16 || R == Result::Bf16;
  using T = std::conditional_t<kInteger, int32_t, float>;
  if (w.generation >= 12 && w.lanes != 32)
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "WMMA of 64 lanes on gfx12");
  alignas(64) T a[Depth][16], b[Depth][16], sum[16][16];
  const bool signed_a = op->imm & 1, signed_b = op->imm & 2;
  const uint8_t ma = op->src[0].mods, mb = op->src[1].mods, mc = op->src[2].mods;
  for (unsigned k = 0; k < Depth; ++k) {
    const Spot pa = spot(k, bits_of(EA), Depth, w.generation), pb = spot(k, bits_of(EB), Depth, w.generation);
    elements<EA>(w.v + op->src[0].offset + pa.reg * w.lanes + 16 * pa.group, pa.shift, signed_a, a[k]);
    elements<EB>(w.v + op->src[1].offset + pb.reg * w.lanes + 16 * pb.group, pb.shift, signed_b, b[k]);
    if constexpr (!kInteger) {
      if (ma & (pa.shift ? kNegHigh : kNeg))
        for (T& x : a[k]) x = -x;
      if (mb & (pb.shift ? kNegHigh : kNeg))
        for (T& x : b[k]) x = -x;
    }
  }
  const bool high = (mc & kHigh) != 0;
  const uint32_t constant =
      op->src[2].place == Place::Vector ? 0 : uint32_t(scalar_bits(w, op->src[2], false));
  for (unsigned m = 0; m < 16; ++m) {
    // Each row lies in 16 lanes of one register.
    const Cell at = cell(m, 0, kShort, high, w);
    alignas(64) uint32_t bits[16];
    for (uint32_t& x : bits) x = constant;
    if (op->src[2].place == Place::Vector)
      std::memcpy(bits, w.v + op->src[2].offset + at.reg * w.lanes + at.lane, sizeof(bits));
    const unsigned shift = op->src[2].place == Place::Vector ? at.shift : 0;
    if constexpr (R == Result::F16)
      widen_16(bits, shift, sum[m]);
    else if constexpr (R == Result::Bf16)
      for (unsigned n = 0; n < 16; ++n) sum[m][n] = std::bit_cast<float>(bits[n] >> shift << 16);
    else
      std::memcpy(sum[m], bits, sizeof(bits));
    if constexpr (!kInteger) {
      if (mc & kNegHigh)
        for (T& x : sum[m]) x = x < 0 ? -x : x;
      if (mc & kNeg)
        for (T& x : sum[m]) x = -x;
    }
  }
  const bool clamps = kInteger && (op->flags & kClamp) != 0;
  if (!clamps) add_products(a, b, sum);
  if constexpr (kInteger) {
    for (unsigned m = 0; clamps && m < 16; ++m)
      for (unsigned n = 0; n < 16; ++n) {
        int64_t total = sum[m][n];
        for (unsigned k = 0; k < Depth; ++k) total += a[k][m] * b[k][n];
        sum[m][n] = total > 2147483647      ? 2147483647
                    : total < -2147483648LL ? int32_t(-2147483647 - 1)
                                            : int32_t(total);
      }
  }
  for (unsigned m = 0; m < 16; ++m) {
    const Cell at = cell(m, 0, kShort, high, w);
    uint32_t* d = w.v + op->dst_offset + at.reg * w.lanes + at.lane;
    if constexpr (kShort) {
      alignas(64) uint32_t bits[16];
      if constexpr (R == Result::F16)
        narrow_16(sum[m], bits);
      else
        for (unsigned n = 0; n < 16; ++n) bits[n] = bf16_bits(sum[m][n]) & 0xffff;
      for (unsigned n = 0; n < 16; ++n) d[n] = (d[n] & ~(0xffffu << at.shift)) | bits[n] << at.shift;
    } else {
      std::memcpy(d, sum[m], sizeof(sum[m]));
    }
  }
  return op + 1;
}

using E = Element;

constexpr Row kRows[] = {
    matrix_row("v_wmma_f32_16x16x16_f16", wmma<E::F16, E::F16, Result::F32, 16>, Type::F32),
    matrix_row("v_wmma_f32_16x16x16_bf16", wmma<E::Bf16, E::Bf16, Result::F32, 16>, Type::F32),
    matrix_row("v_wmma_f16_16x16x16_f16", wmma<E::F16, E::F16, Result::F16, 16>, Type::F16),
    matrix_row("v_wmma_bf16_16x16x16_bf16", wmma<E::Bf16, E::Bf16, Result::Bf16, 16>, Type::PackBf16),
    matrix_row("v_wmma_i32_16x16x16_iu8", wmma<E::I8, E::I8, Result::I32, 16>, Type::U32, kNegIsSign),
    matrix_row("v_wmma_i32_16x16x16_iu4", wmma<E::I4, E::I4, Result::I32, 16>, Type::U32, kNegIsSign),
    matrix_row("v_wmma_i32_16x16x32_iu4", wmma<E::I4, E::I4, Result::I32, 32>, Type::U32, kNegIsSign),
    matrix_row("v_wmma_f32_16x16x16_fp8_fp8", wmma<E::Fp8, E::Fp8, Result::F32, 16>, Type::F32),
    matrix_row("v_wmma_f32_16x16x16_fp8_bf8", wmma<E::Fp8, E::Bf8, Result::F32, 16>, Type::F32),
    matrix_row("v_wmma_f32_16x16x16_bf8_fp8", wmma<E::Bf8, E::Fp8, Result::F32, 16>, Type::F32),
    matrix_row("v_wmma_f32_16x16x16_bf8_bf8", wmma<E::Bf8, E::Bf8, Result::F32, 16>, Type::F32),
};

}  // namespace
EMU_GROUP(matrix_rdna, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
