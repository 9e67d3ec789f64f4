// SPDX-License-Identifier: Apache-2.0
// MFMA of gfx90a and gfx942: D = A * B + C on one or more blocks of M x M, the whole wave at once, EXEC
// ignored, with the modifiers of AMD's CDNA3 ISA document (CBSZ, ABID, BLGP; in products of doubles BLGP's
// bits negate A, B and C). Products are added in the order of k, each by one fused operation. (Hardware does
// not document its order, and gfx90a flushes 16-bit denormals, which is not done here; its results may differ
// in the last bits.)
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/matrix_tiles.h"
#include "emu/exec/ops/scalars.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Element `at` of M lanes' rows of A or columns of B, which begin at v.
template <Element E, unsigned M, class T>
EMU_FN void elements(const uint32_t* v, unsigned lanes, unsigned at, T* out) {
  const unsigned bit = at * bits_of(E), shift = bit % 32;
  const uint32_t* words = v + bit / 32 * lanes;
  if constexpr (E == Element::F16 && M % 16 == 0) {
    for (unsigned i = 0; i < M; i += 16) widen_16(words + i, shift, out + i);
  } else {
    for (unsigned i = 0; i < M; ++i) {
      const uint32_t x = words[i] >> shift;
      if constexpr (E == Element::F64)
        out[i] = std::bit_cast<double>(uint64_t(words[lanes + i]) << 32 | x);
      else
        out[i] = element<E, true>(x, true);
    }
  }
}
/// The register and lane of element (m, n) of C and D.
struct Cell {
  unsigned reg, lane;
};
template <unsigned M, unsigned Blocks>
EMU_FN Cell cell(unsigned block, unsigned m, unsigned n, bool is_double) {
  if (is_double) return M == 16 ? Cell{m / 4 * 2, n + 16 * (m % 4)} : Cell{0, n + M * (block + Blocks * m)};
  if (M == 4) return {m, n + 4 * block};
  constexpr unsigned kGroups = 64 / M;
  return {m % 4 + 4 * (m / (4 * kGroups)) + M * M / 64 * block, n + M * (m / 4 % kGroups)};
}

/// BLGP, the lane group pattern of B: the lane whose registers another one's stand for.
EMU_FN unsigned lane_of_b(unsigned lane, uint32_t blgp) {
  if (blgp <= 2) return (lane & 31) + 32 * (blgp - 1);
  return blgp == 3 ? (lane + 16) & 63 : (lane & 15) + 16 * (blgp - 4);
}

template <Element EA, Element EB, unsigned M, unsigned K, unsigned Blocks>
const Op* mfma(Wave& w, const Op* op) {
  constexpr bool kDouble = EA == Element::F64, kInteger = EA == Element::I8;
  constexpr unsigned kPerLane = K * M * Blocks / 64;
  using T = std::conditional_t<kDouble, double, std::conditional_t<kInteger, int32_t, float>>;
  // CBSZ and ABID: 2^CBSZ neighbouring blocks take the one block of A that ABID names.
  const uint32_t shared = (1u << (op->raw[0] >> 8 & 7)) - 1, chosen = op->raw[0] >> 11 & 15,
                 blgp = op->raw[1] >> 29;
  const unsigned negated = (op->src[0].mods | op->src[1].mods | op->src[2].mods) & kNeg;
  constexpr bool kPermutes = EA == Element::F32 || bits_of(EA) == 16 || kInteger;
  if (w.lanes != 64 || shared >= Blocks || chosen > shared || (shared && kDouble) ||
      (blgp && !kPermutes && !(kDouble && negated)))
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "MFMA with cbsz, abid or blgp that it does not have");
  constexpr unsigned kWords = (kPerLane * bits_of(EB) + 31) / 32 * 64;
  uint32_t permuted[kWords];
  const uint32_t *va = w.v + op->src[0].offset, *vb = w.v + op->src[1].offset;
  if (kPermutes && blgp) {
    for (unsigned i = 0; i < kWords; ++i) permuted[i] = vb[(i & ~63u) + lane_of_b(i & 63, blgp)];
    vb = permuted;
  }
  alignas(64) T a[Blocks][K][M], b[Blocks][K][M], sum[Blocks][M][M];
  const Source& c = op->src[2];
  for (unsigned block = 0; block < Blocks; ++block) {
    for (unsigned k = 0; k < K; ++k) {
      const unsigned group = Blocks * (k / kPerLane), from = (block & ~shared) | chosen;
      elements<EA, M>(va + M * (from + group), w.lanes, k % kPerLane, a[block][k]);
      elements<EB, M>(vb + M * (block + group), w.lanes, k % kPerLane, b[block][k]);
      if (kDouble && (op->src[0].mods & kNeg))
        for (T& x : a[block][k]) x = -x;
      if (kDouble && (op->src[1].mods & kNeg))
        for (T& x : b[block][k]) x = -x;
    }
    for (unsigned m = 0; m < M; ++m) {
      if constexpr (kDouble) {
        for (unsigned n = 0; n < M; ++n) {
          const Cell at = cell<M, Blocks>(block, m, n, true);
          const uint32_t* v = w.v + c.offset + at.reg * w.lanes + at.lane;
          sum[block][m][n] = std::bit_cast<T>(c.place == Place::Vector ? uint64_t(v[w.lanes]) << 32 | v[0]
                                                                       : scalar_bits(w, c, true));
        }
      } else if (c.place == Place::Vector) {
        // A row lies in neighbouring lanes of one register.
        const Cell at = cell<M, Blocks>(block, m, 0, false);
        std::memcpy(sum[block][m], w.v + c.offset + at.reg * w.lanes + at.lane, sizeof(sum[block][m]));
      } else {
        for (T& x : sum[block][m]) x = std::bit_cast<T>(uint32_t(scalar_bits(w, c, false)));
      }
    }
    if (kDouble && (c.mods & kNeg))
      for (auto& row : sum[block])
        for (T& x : row) x = -x;
    add_products(a[block], b[block], sum[block]);
  }
  for (unsigned block = 0; block < Blocks; ++block)
    for (unsigned m = 0; m < M; ++m) {
      if constexpr (kDouble) {
        for (unsigned n = 0; n < M; ++n) {
          const Cell at = cell<M, Blocks>(block, m, n, true);
          uint32_t* d = w.v + op->dst_offset + at.reg * w.lanes + at.lane;
          const uint64_t bits = std::bit_cast<uint64_t>(sum[block][m][n]);
          d[0] = uint32_t(bits);
          d[w.lanes] = uint32_t(bits >> 32);
        }
      } else {
        const Cell at = cell<M, Blocks>(block, m, 0, false);
        std::memcpy(w.v + op->dst_offset + at.reg * w.lanes + at.lane, sum[block][m], sizeof(sum[block][m]));
      }
    }
  return op + 1;
}

template <Element EA, unsigned M, unsigned K, unsigned Blocks = 1, Element EB = EA>
constexpr Row row(const char* name) {
  return matrix_row(name, mfma<EA, EB, M, K, Blocks>,
                    EA == Element::F64  ? Type::F64
                    : EA == Element::I8 ? Type::U32
                                        : Type::F32);
}
using E = Element;

constexpr Row kRows[] = {
    row<E::F32, 32, 1, 2>("v_mfma_f32_32x32x1f32"),
    row<E::F32, 16, 1, 4>("v_mfma_f32_16x16x1f32"),
    row<E::F32, 4, 1, 16>("v_mfma_f32_4x4x1f32"),
    row<E::F32, 32, 2>("v_mfma_f32_32x32x2f32"),
    row<E::F32, 16, 4>("v_mfma_f32_16x16x4f32"),
    row<E::F16, 32, 4, 2>("v_mfma_f32_32x32x4f16"),
    row<E::F16, 16, 4, 4>("v_mfma_f32_16x16x4f16"),
    row<E::F16, 4, 4, 16>("v_mfma_f32_4x4x4f16"),
    row<E::F16, 32, 8>("v_mfma_f32_32x32x8f16"),
    row<E::F16, 16, 16>("v_mfma_f32_16x16x16f16"),
    row<E::I8, 32, 4, 2>("v_mfma_i32_32x32x4i8"),
    row<E::I8, 16, 4, 4>("v_mfma_i32_16x16x4i8"),
    row<E::I8, 4, 4, 16>("v_mfma_i32_4x4x4i8"),
    row<E::I8, 32, 8>("v_mfma_i32_32x32x8i8"),
    row<E::I8, 16, 16>("v_mfma_i32_16x16x16i8"),
    row<E::Bf16, 32, 4, 2>("v_mfma_f32_32x32x4bf16_1k"),
    row<E::Bf16, 16, 4, 4>("v_mfma_f32_16x16x4bf16_1k"),
    row<E::Bf16, 4, 4, 16>("v_mfma_f32_4x4x4bf16_1k"),
    row<E::Bf16, 32, 8>("v_mfma_f32_32x32x8bf16_1k"),
    row<E::Bf16, 16, 16>("v_mfma_f32_16x16x16bf16_1k"),
    row<E::Bf16, 32, 2, 2>("v_mfma_f32_32x32x2bf16"),
    row<E::Bf16, 16, 2, 4>("v_mfma_f32_16x16x2bf16"),
    row<E::Bf16, 4, 2, 16>("v_mfma_f32_4x4x2bf16"),
    row<E::Bf16, 32, 4>("v_mfma_f32_32x32x4bf16"),
    row<E::Bf16, 16, 8>("v_mfma_f32_16x16x8bf16"),
    row<E::F64, 16, 4>("v_mfma_f64_16x16x4f64"),
    row<E::F64, 4, 4, 4>("v_mfma_f64_4x4x4f64"),
    row<E::F32, 32, 1, 2>("v_mfma_f32_32x32x1_2b_f32"),
    row<E::F32, 16, 1, 4>("v_mfma_f32_16x16x1_4b_f32"),
    row<E::F32, 4, 1, 16>("v_mfma_f32_4x4x1_16b_f32"),
    row<E::F32, 32, 2>("v_mfma_f32_32x32x2_f32"),
    row<E::F32, 16, 4>("v_mfma_f32_16x16x4_f32"),
    row<E::F16, 32, 4, 2>("v_mfma_f32_32x32x4_2b_f16"),
    row<E::F16, 16, 4, 4>("v_mfma_f32_16x16x4_4b_f16"),
    row<E::F16, 4, 4, 16>("v_mfma_f32_4x4x4_16b_f16"),
    row<E::F16, 32, 8>("v_mfma_f32_32x32x8_f16"),
    row<E::F16, 16, 16>("v_mfma_f32_16x16x16_f16"),
    row<E::I8, 32, 4, 2>("v_mfma_i32_32x32x4_2b_i8"),
    row<E::I8, 16, 4, 4>("v_mfma_i32_16x16x4_4b_i8"),
    row<E::I8, 4, 4, 16>("v_mfma_i32_4x4x4_16b_i8"),
    row<E::I8, 32, 16>("v_mfma_i32_32x32x16_i8"),
    row<E::I8, 16, 32>("v_mfma_i32_16x16x32_i8"),
    row<E::Bf16, 32, 4, 2>("v_mfma_f32_32x32x4_2b_bf16"),
    row<E::Bf16, 16, 4, 4>("v_mfma_f32_16x16x4_4b_bf16"),
    row<E::Bf16, 4, 4, 16>("v_mfma_f32_4x4x4_16b_bf16"),
    row<E::Bf16, 32, 8>("v_mfma_f32_32x32x8_bf16"),
    row<E::Bf16, 16, 16>("v_mfma_f32_16x16x16_bf16"),
    row<E::Xf32, 16, 8>("v_mfma_f32_16x16x8_xf32"),
    row<E::Xf32, 32, 4>("v_mfma_f32_32x32x4_xf32"),
    row<E::F64, 16, 4>("v_mfma_f64_16x16x4_f64"),
    row<E::F64, 4, 4, 4>("v_mfma_f64_4x4x4_4b_f64"),
    row<E::Bf8, 16, 32, 1, E::Bf8>("v_mfma_f32_16x16x32_bf8_bf8"),
    row<E::Bf8, 16, 32, 1, E::Fp8>("v_mfma_f32_16x16x32_bf8_fp8"),
    row<E::Fp8, 16, 32, 1, E::Bf8>("v_mfma_f32_16x16x32_fp8_bf8"),
    row<E::Fp8, 16, 32, 1, E::Fp8>("v_mfma_f32_16x16x32_fp8_fp8"),
    row<E::Bf8, 32, 16, 1, E::Bf8>("v_mfma_f32_32x32x16_bf8_bf8"),
    row<E::Bf8, 32, 16, 1, E::Fp8>("v_mfma_f32_32x32x16_bf8_fp8"),
    row<E::Fp8, 32, 16, 1, E::Bf8>("v_mfma_f32_32x32x16_fp8_bf8"),
    row<E::Fp8, 32, 16, 1, E::Fp8>("v_mfma_f32_32x32x16_fp8_fp8"),
};

}  // namespace
EMU_GROUP(matrix_cdna, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
