// SPDX-License-Identifier: Apache-2.0
// Products whose A is sparse, two of each four elements along k being stored: SMFMAC of gfx942 and SWMMAC of
// gfx12. As AMD's matrix instruction calculator has it (README, "compression index"), two stored elements of
// a lane go with four elements of B in the lanes of the same group, and four bits of the lane's index say
// which: the lower two for the first. Products are added in the order of the lanes' elements, each by one
// fused operation (hardware documents no order).
#include "emu/exec/ops/atomics.h"
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/matrix_tiles.h"
#include "emu/exec/service.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

/// Element `at` of a lane, whose registers begin at v.
template <Element E, bool Fnuz>
EMU_FN auto element_at(const uint32_t* v, unsigned lanes, unsigned at, bool is_signed) {
  const unsigned bit = at * bits_of(E);
  return element<E, Fnuz>(v[bit / 32 * lanes] >> bit % 32, is_signed);
}

/// sum[m][n] += A's row m times B's column n. A lane holds `Stored` elements of a row, the lanes of one group
/// 2 * Stored rows of B.
template <Element EA, Element EB, unsigned M, unsigned Lanes, unsigned Stored, bool Fnuz, class T>
EMU_FN void multiply(const Wave& w, const Op* op, uint32_t set, bool signed_a, bool signed_b, T (*sum)[M]) {
  const uint32_t *va = w.v + op->src[0].offset, *vb = w.v + op->src[1].offset,
                 *index = w.v + op->src[2].offset;
  for (unsigned group = 0; group < Lanes / M; ++group) {
    T b[2 * Stored][M];
    for (unsigned n = 0; n < M; ++n)
      for (unsigned k = 0; k < 2 * Stored; ++k)
        b[k][n] = element_at<EB, Fnuz>(vb + group * M + n, Lanes, k, signed_b);
    for (unsigned m = 0; m < M; ++m) {
      const unsigned lane = group * M + m;
      const uint32_t which = index[lane] >> (set * 2 * Stored % 32);
      for (unsigned at = 0; at < Stored; ++at) {
        const T a = element_at<EA, Fnuz>(va + lane, Lanes, at, signed_a);
        const T* row = b[at / 2 * 4 + (which >> (2 * at) & 3)];
        for (unsigned n = 0; n < M; ++n) {
          if constexpr (std::is_same_v<T, int64_t>)
            sum[m][n] += a * row[n];
          else
            sum[m][n] = __builtin_fmaf(a, row[n], sum[m][n]);
        }
      }
    }
  }
}

template <Element EA, Element EB, unsigned M, unsigned K>
const Op* smfmac(Wave& w, const Op* op) {
  constexpr bool kInteger = EA == Element::I8;
  constexpr unsigned kStored = K / 2 * M / 64, kGroups = 64 / M;
  using T = std::conditional_t<kInteger, int64_t, float>;
  if (w.lanes != 64 || op->raw[1] >> 29) raise(w, op, Fault::Kind::Unsupported, -1, 0, "SMFMAC with blgp");
  // CBSZ 0: ABID chooses the set of indexes; else the first one is taken.
  const uint32_t abid = op->raw[0] >> 11 & 15, set = op->raw[0] >> 8 & 7 ? 0 : abid % (16 / kStored);
  T sum[M][M];
  const auto place = [&](unsigned m, unsigned n) -> uint32_t& {
    const unsigned reg = m % 4 + 4 * (m / (4 * kGroups)), lane = n + M * (m / 4 % kGroups);
    return w.v[op->dst_offset + reg * 64 + lane];
  };
  for (unsigned m = 0; m < M; ++m)
    for (unsigned n = 0; n < M; ++n)
      sum[m][n] = kInteger ? T(int32_t(place(m, n))) : T(std::bit_cast<float>(place(m, n)));
  multiply<EA, EB, M, 64, kStored, true>(w, op, set, true, true, sum);
  for (unsigned m = 0; m < M; ++m)
    for (unsigned n = 0; n < M; ++n) {
      if constexpr (kInteger)
        place(m, n) = uint32_t(sum[m][n]);
      else
        place(m, n) = std::bit_cast<uint32_t>(sum[m][n]);
    }
  return op + 1;
}

template <Element EA, Element EB, Result R, unsigned K>
const Op* swmmac(Wave& w, const Op* op) {
  constexpr bool kInteger = R == Result::I32, kShort = R == Result::F16 || R == Result::Bf16;
  constexpr unsigned kStored = K / 4;
  using T = std::conditional_t<kInteger, int64_t, float>;
  if (w.lanes != 32) raise(w, op, Fault::Kind::Unsupported, -1, 0, "SWMMAC of 64 lanes");
  if (!kInteger && (op->raw[1] >> 29 || op->raw[0] >> 8 & 7))
    raise(w, op, Fault::Kind::Unsupported, -1, 0, "SWMMAC with neg");
  const uint32_t key = op->raw[0] >> 11 & 1, set = kStored == 16 ? 0 : key;
  T sum[16][16];
  const auto place = [&](unsigned m, unsigned n) -> uint32_t& {
    return w.v[op->dst_offset + (kShort ? m % 8 / 2 : m % 8) * 32 + n + 16 * (m / 8)];
  };
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 16; ++n) {
      const uint32_t bits = place(m, n) >> (kShort ? 16 * (m % 2) : 0);
      sum[m][n] = kInteger            ? T(int32_t(bits))
                  : R == Result::F16  ? T(half_value(bits & 0xffff))
                  : R == Result::Bf16 ? T(std::bit_cast<float>(bits << 16))
                                      : T(std::bit_cast<float>(bits));
    }
  multiply<EA, EB, 16, 32, kStored, false>(w, op, set, op->imm & 1, op->imm & 2, sum);
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 16; ++n) {
      uint32_t& d = place(m, n);
      if constexpr (kInteger) {
        const int64_t least = -2147483648LL, most = 2147483647, s = sum[m][n];
        d = uint32_t(!(op->flags & kClamp) ? s : s < least ? least : s > most ? most : s);
      } else if constexpr (kShort) {
        const uint32_t bits = R == Result::F16 ? half_bits(sum[m][n]) : bf16_bits(sum[m][n]);
        d = m % 2 ? (d & 0xffff) | bits << 16 : (d & 0xffff0000) | bits;
      } else {
        d = std::bit_cast<uint32_t>(sum[m][n]);
      }
    }
  return op + 1;
}

constexpr Row row(const char* name, Handler run, unsigned flags = 0) {
  return matrix_row(name, run, Type::Wide, flags);
}
using E = Element;

constexpr Row kRows[] = {
    row("v_smfmac_f32_16x16x32_f16", smfmac<E::F16, E::F16, 16, 32>),
    row("v_smfmac_f32_32x32x16_f16", smfmac<E::F16, E::F16, 32, 16>),
    row("v_smfmac_f32_16x16x32_bf16", smfmac<E::Bf16, E::Bf16, 16, 32>),
    row("v_smfmac_f32_32x32x16_bf16", smfmac<E::Bf16, E::Bf16, 32, 16>),
    row("v_smfmac_i32_16x16x64_i8", smfmac<E::I8, E::I8, 16, 64>),
    row("v_smfmac_i32_32x32x32_i8", smfmac<E::I8, E::I8, 32, 32>),
    row("v_smfmac_f32_16x16x64_bf8_bf8", smfmac<E::Bf8, E::Bf8, 16, 64>),
    row("v_smfmac_f32_16x16x64_bf8_fp8", smfmac<E::Bf8, E::Fp8, 16, 64>),
    row("v_smfmac_f32_16x16x64_fp8_bf8", smfmac<E::Fp8, E::Bf8, 16, 64>),
    row("v_smfmac_f32_16x16x64_fp8_fp8", smfmac<E::Fp8, E::Fp8, 16, 64>),
    row("v_smfmac_f32_32x32x32_bf8_bf8", smfmac<E::Bf8, E::Bf8, 32, 32>),
    row("v_smfmac_f32_32x32x32_bf8_fp8", smfmac<E::Bf8, E::Fp8, 32, 32>),
    row("v_smfmac_f32_32x32x32_fp8_bf8", smfmac<E::Fp8, E::Bf8, 32, 32>),
    row("v_smfmac_f32_32x32x32_fp8_fp8", smfmac<E::Fp8, E::Fp8, 32, 32>),
    row("v_swmmac_f32_16x16x32_f16", swmmac<E::F16, E::F16, Result::F32, 32>),
    row("v_swmmac_f32_16x16x32_bf16", swmmac<E::Bf16, E::Bf16, Result::F32, 32>),
    row("v_swmmac_f16_16x16x32_f16", swmmac<E::F16, E::F16, Result::F16, 32>),
    row("v_swmmac_bf16_16x16x32_bf16", swmmac<E::Bf16, E::Bf16, Result::Bf16, 32>),
    row("v_swmmac_i32_16x16x32_iu8", swmmac<E::I8, E::I8, Result::I32, 32>, kNegIsSign),
    row("v_swmmac_i32_16x16x32_iu4", swmmac<E::I4, E::I4, Result::I32, 32>, kNegIsSign),
    row("v_swmmac_i32_16x16x64_iu4", swmmac<E::I4, E::I4, Result::I32, 64>, kNegIsSign),
    row("v_swmmac_f32_16x16x32_fp8_fp8", swmmac<E::Fp8, E::Fp8, Result::F32, 32>),
    row("v_swmmac_f32_16x16x32_fp8_bf8", swmmac<E::Fp8, E::Bf8, Result::F32, 32>),
    row("v_swmmac_f32_16x16x32_bf8_fp8", swmmac<E::Bf8, E::Fp8, Result::F32, 32>),
    row("v_swmmac_f32_16x16x32_bf8_bf8", swmmac<E::Bf8, E::Bf8, Result::F32, 32>),
};

}  // namespace
EMU_GROUP(matrix_sparse, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
