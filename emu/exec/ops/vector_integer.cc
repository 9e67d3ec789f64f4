// SPDX-License-Identifier: Apache-2.0
// Vector arithmetic on integers and bits.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

EMU_FN i32 low24(i32 x) { return x << 8 >> 8; }
EMU_FN u32 low24(u32 x) { return x & 0xffffff; }
EMU_FN u32 add_sat(u32 a, u32 b, bool clamp) {
  const u32 r = a + b;
  return clamp && r < a ? ~0u : r;
}
EMU_FN u32 sub_sat(u32 a, u32 b, bool clamp) { return clamp && a < b ? 0 : a - b; }
EMU_FN i32 clamp_i32(i64 x, bool clamp) {
  const i64 limited = x > 0x7fffffff ? 0x7fffffff : x < -i64(0x80000000) ? -i64(0x80000000) : x;
  return i32(clamp ? limited : x);
}
EMU_FN u32 clamp_u32(u64 x, bool clamp) { return clamp && x > 0xffffffffu ? ~0u : u32(x); }
EMU_FN i16 clamp_i16(i32 x, bool clamp) {
  const i32 limited = x > 32767 ? 32767 : x < -32768 ? -32768 : x;
  return i16(clamp ? limited : x);
}
EMU_FN u16 clamp_u16(i32 x, bool clamp) {
  const i32 limited = x > 65535 ? 65535 : x < 0 ? 0 : x;
  return u16(clamp ? limited : x);
}
EMU_FN u32 bfe_u(u32 x, u32 at, u32 width) { return x >> (at & 31) & ((1u << (width & 31)) - 1); }
EMU_FN i32 bfe_i(i32 x, u32 at, u32 width) {
  const u32 n = width & 31, part = u32(x >> (at & 31));
  return n == 0 ? 0 : i32(part << (32 - n)) >> (32 - n);
}
template <class T>
EMU_FN T min2(T a, T b) {
  return a < b ? a : b;
}
template <class T>
EMU_FN T max2(T a, T b) {
  return a > b ? a : b;
}
template <class T>
EMU_FN T med3(T a, T b, T c) {
  return max2(min2(a, b), min2(max2(a, b), c));
}
EMU_FN u32 reverse(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
EMU_FN u32 popcount(u32 x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  x = (x + (x >> 4)) & 0x0f0f0f0f;
  return x * 0x01010101 >> 24;
}
EMU_FN u32 leading(u32 x) { return x == 0 ? ~0u : u32(__builtin_clz(x)); }
EMU_FN u32 permuted_byte(u64 data, u32 selector) {
  const u32 s = selector & 0xff;
  if (s >= 13) return 0xff;
  if (s == 12) return 0;
  if (s >= 8) return u32(data >> (16 * (s - 8) + 15) & 1) * 0xff;
  return u32(data >> (8 * s) & 0xff);
}
EMU_FN u32 permute_bytes(u32 a, u32 b, u32 s) {
  const u64 data = u64(a) << 32 | b;
  return permuted_byte(data, s) | permuted_byte(data, s >> 8) << 8 | permuted_byte(data, s >> 16) << 16 |
         permuted_byte(data, s >> 24) << 24;
}
EMU_FN u32 byte_of(u32 x, int n) { return x >> (8 * n) & 0xff; }
EMU_FN u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
EMU_FN u32 sad8(u32 a, u32 b) {
  return difference(byte_of(a, 0), byte_of(b, 0)) + difference(byte_of(a, 1), byte_of(b, 1)) +
         difference(byte_of(a, 2), byte_of(b, 2)) + difference(byte_of(a, 3), byte_of(b, 3));
}
EMU_FN u32 masked(u32 a, u32 b, int n) {
  return byte_of(b, n) == 0 ? 0 : difference(byte_of(a, n), byte_of(b, n));
}
EMU_FN u32 msad8(u32 a, u32 b) {
  return masked(a, b, 0) + masked(a, b, 1) + masked(a, b, 2) + masked(a, b, 3);
}
template <u32 (*Sad)(u32, u32)>
EMU_FN u64 four_sads(u64 a, u32 b, u64 c) {
  u64 r = 0;
  for (int i = 0; i < 4; ++i)
    r |= u64(u16(Sad(u32(a >> (8 * i)), b) + u32(c >> (16 * i) & 0xffff))) << (16 * i);
  return r;
}
EMU_FN u32 lerp8(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) r |= ((byte_of(a, i) + byte_of(b, i) + (c >> (8 * i) & 1)) >> 1) << (8 * i);
  return r;
}
EMU_FN With<u32> add_carry(u32 a, u32 b, u32 in, bool clamp) {
  const u64 sum = u64(a) + b + in;
  return {clamp && sum >> 32 ? ~0u : u32(sum), u32(sum >> 32)};
}
EMU_FN With<u32> sub_carry(u32 a, u32 b, u32 in, bool clamp) {
  const u64 difference_ = u64(a) - b - in;
  const u32 borrow = u32(difference_ >> 63);
  return {clamp && borrow ? 0 : u32(difference_), borrow};
}
EMU_FN With<u64> mad64(u32 a, u32 b, u64 c) {
  const u64 product = u64(a) * b, sum = product + c;
  return {sum, sum < product};
}
EMU_FN With<u64> mad64(i32 a, i32 b, i64 c) {
  const i64 product = i64(a) * b;
  const i64 sum = i64(u64(product) + u64(c));
  // Bit 64 of the sum of 65 bits (AMD's pseudo-code): its sign, whether or not 64 bits hold it.
  const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
  return {u64(sum), u32((sum < 0) != overflow)};
}

constexpr Row kRows[] = {
    valu<[](u32 a) { return a; }>("v_mov_b32"),
    valu<[](u64 a) { return a; }>("v_mov_b64", kCarriesUp),
    valu<[](u16 a) { return a; }>("v_mov_b16"),
    valu<[](u32 a) { return ~a; }>("v_not_b32"),
    valu<[](u16 a) { return u16(~a); }>("v_not_b16"),
    valu<[](u32 a) { return reverse(a); }>("v_bfrev_b32"),
    valu<[](u32 a) { return leading(a); }>("v_clz_i32_u32"),
    valu<[](u32 a) { return leading(a); }>("v_ffbh_u32"),
    valu<[](u32 a) { return a == 0 ? ~0u : u32(__builtin_ctz(a)); }>("v_ctz_i32_b32"),
    valu<[](u32 a) { return a == 0 ? ~0u : u32(__builtin_ctz(a)); }>("v_ffbl_b32"),
    valu<[](i32 a) { return leading(u32(a ^ a >> 31)); }>("v_cls_i32"),
    valu<[](i32 a) { return leading(u32(a ^ a >> 31)); }>("v_ffbh_i32"),
    valu<[](u32 a, u32 b, Bit c) { return c.b ? b : a; }>("v_cndmask_b32", kSelects),
    valu<[](u16 a, u16 b, Bit c) { return c.b ? b : a; }>("v_cndmask_b16", kSelects),

    valu<[](u32 a, u32 b, Mode m) { return add_sat(a, b, m.clamp); }>("v_add_nc_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_sat(a, b, m.clamp); }>("v_sub_nc_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_sat(b, a, m.clamp); }>("v_subrev_nc_u32"),
    valu<[](u32 a, u32 b, Mode m) { return add_sat(a, b, m.clamp); }>("v_add_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_sat(a, b, m.clamp); }>("v_sub_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_sat(b, a, m.clamp); }>("v_subrev_u32"),
    valu<[](i32 a, i32 b, Mode m) { return clamp_i32(i64(a) + b, m.clamp); }>("v_add_nc_i32"),
    valu<[](i32 a, i32 b, Mode m) { return clamp_i32(i64(a) - b, m.clamp); }>("v_sub_nc_i32"),
    valu<[](i32 a, i32 b, Mode m) { return clamp_i32(i64(a) + b, m.clamp); }>("v_add_i32"),
    valu<[](i32 a, i32 b, Mode m) { return clamp_i32(i64(a) - b, m.clamp); }>("v_sub_i32"),
    valu<[](u32 a, u32 b, Mode m) { return add_carry(a, b, 0, m.clamp); }>("v_add_co_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_carry(a, b, 0, m.clamp); }>("v_sub_co_u32"),
    valu<[](u32 a, u32 b, Mode m) { return sub_carry(b, a, 0, m.clamp); }>("v_subrev_co_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return add_carry(a, b, c.b, m.clamp); }>("v_add_co_ci_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return sub_carry(a, b, c.b, m.clamp); }>("v_sub_co_ci_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return sub_carry(b, a, c.b, m.clamp); }>("v_subrev_co_ci_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return add_carry(a, b, c.b, m.clamp); }>("v_addc_co_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return sub_carry(a, b, c.b, m.clamp); }>("v_subb_co_u32"),
    valu<[](u32 a, u32 b, Bit c, Mode m) { return sub_carry(b, a, c.b, m.clamp); }>("v_subbrev_co_u32"),
    valu<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
    valu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
    valu<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>("v_lshl_add_u64", kCarriesUp),
    valu<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
    valu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>("v_lshl_or_b32"),
    valu<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
    valu<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
    valu<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>("v_xor3_b32"),
    valu<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
    valu<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
    valu<[](u32 a, u32 b, u32 c) { return bfe_u(a, b, c); }>("v_bfe_u32"),
    valu<[](i32 a, u32 b, u32 c) { return bfe_i(a, b, c); }>("v_bfe_i32"),
    valu<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"),
    valu<[](u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (c & 31)); }>("v_alignbit_b32"),
    valu<[](u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (8 * (c & 3))); }>("v_alignbyte_b32"),
    valu<[](u32 a, u32 b, u32 c) { return permute_bytes(a, b, c); }>("v_perm_b32"),
    valu<[](u32 a, u32 b) { return popcount(a) + b; }>("v_bcnt_u32_b32"),

    valu<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
    valu<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
    valu<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
    valu<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
    valu<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
    valu<[](u32 a, u32 b) { return (b >> (a & 31)); }>("v_lshrrev_b32"),
    valu<[](u32 a, i32 b) { return (b >> (a & 31)); }>("v_ashrrev_i32"),
    valu<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64", kCarriesUp),
    valu<[](u32 a, u64 b) { return (b >> (a & 63)); }>("v_lshrrev_b64"),
    valu<[](u32 a, i64 b) { return (b >> (a & 63)); }>("v_ashrrev_i64"),

    valu<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
    valu<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_i32"),
    valu<[](u32 a, u32 b) { return u32(u64(a) * b >> 32); }>("v_mul_hi_u32"),
    valu<[](i32 a, i32 b) { return i32(i64(a) * b >> 32); }>("v_mul_hi_i32"),
    valu<[](u32 a, u32 b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
    valu<[](i32 a, i32 b) { return low24(a) * low24(b); }>("v_mul_i32_i24"),
    valu<[](u32 a, u32 b) { return u32(u64(low24(a)) * low24(b) >> 32); }>("v_mul_hi_u32_u24"),
    valu<[](i32 a, i32 b) { return i32(i64(low24(a)) * low24(b) >> 32); }>("v_mul_hi_i32_i24"),
    valu<[](u32 a, u32 b, u32 c, Mode m) { return clamp_u32(u64(low24(a)) * low24(b) + c, m.clamp); }>(
        "v_mad_u32_u24"),
    valu<[](i32 a, i32 b, i32 c, Mode m) { return clamp_i32(i64(low24(a)) * low24(b) + c, m.clamp); }>(
        "v_mad_i32_i24"),
    valu<[](u16 a, u16 b, u32 c, Mode m) { return clamp_u32(u64(u32(a) * b) + c, m.clamp); }>(
        "v_mad_u32_u16"),
    valu<[](i16 a, i16 b, i32 c, Mode m) { return clamp_i32(i64(a * b) + c, m.clamp); }>("v_mad_i32_i16"),
    valu<[](u32 a, u32 b, u64 c) { return mad64(a, b, c); }>("v_mad_u64_u32", kCarriesUp),
    valu<[](i32 a, i32 b, i64 c) { return mad64(a, b, c); }>("v_mad_i64_i32", kCarriesUp),
    valu<[](u32 a, u32 b, u64 c) { return mad64(a, b, c); }>("v_mad_co_u64_u32", kCarriesUp),
    valu<[](i32 a, i32 b, i64 c) { return mad64(a, b, c); }>("v_mad_co_i64_i32", kCarriesUp),

    valu<[](i32 a, i32 b) { return min2(a, b); }>("v_min_i32"),
    valu<[](i32 a, i32 b) { return max2(a, b); }>("v_max_i32"),
    valu<[](u32 a, u32 b) { return min2(a, b); }>("v_min_u32"),
    valu<[](u32 a, u32 b) { return max2(a, b); }>("v_max_u32"),
    valu<[](i32 a, i32 b, i32 c) { return min2(min2(a, b), c); }>("v_min3_i32"),
    valu<[](i32 a, i32 b, i32 c) { return max2(max2(a, b), c); }>("v_max3_i32"),
    valu<[](u32 a, u32 b, u32 c) { return min2(min2(a, b), c); }>("v_min3_u32"),
    valu<[](u32 a, u32 b, u32 c) { return max2(max2(a, b), c); }>("v_max3_u32"),
    valu<[](i32 a, i32 b, i32 c) { return med3(a, b, c); }>("v_med3_i32"),
    valu<[](u32 a, u32 b, u32 c) { return med3(a, b, c); }>("v_med3_u32"),
    valu<[](i32 a, i32 b, i32 c) { return min2(max2(a, b), c); }>("v_maxmin_i32"),
    valu<[](i32 a, i32 b, i32 c) { return max2(min2(a, b), c); }>("v_minmax_i32"),
    valu<[](u32 a, u32 b, u32 c) { return min2(max2(a, b), c); }>("v_maxmin_u32"),
    valu<[](u32 a, u32 b, u32 c) { return max2(min2(a, b), c); }>("v_minmax_u32"),

    valu<[](u16 a, u16 b, Mode m) { return clamp_u16(a + b, m.clamp); }>("v_add_nc_u16"),
    valu<[](u16 a, u16 b, Mode m) { return clamp_u16(a - b, m.clamp); }>("v_sub_nc_u16"),
    valu<[](i16 a, i16 b, Mode m) { return clamp_i16(a + b, m.clamp); }>("v_add_nc_i16"),
    valu<[](i16 a, i16 b, Mode m) { return clamp_i16(a - b, m.clamp); }>("v_sub_nc_i16"),
    valu<[](u16 a, u16 b, Mode m) { return clamp_u16(a + b, m.clamp); }>("v_add_u16", kZeroHigh9),
    valu<[](u16 a, u16 b, Mode m) { return clamp_u16(a - b, m.clamp); }>("v_sub_u16", kZeroHigh9),
    valu<[](u16 a, u16 b, Mode m) { return clamp_u16(b - a, m.clamp); }>("v_subrev_u16", kZeroHigh9),
    valu<[](i16 a, i16 b, Mode m) { return clamp_i16(a + b, m.clamp); }>("v_add_i16"),
    valu<[](i16 a, i16 b, Mode m) { return clamp_i16(a - b, m.clamp); }>("v_sub_i16"),
    valu<[](u16 a, u16 b) { return u16(u32(a) * b); }>("v_mul_lo_u16", kZeroHigh9),
    valu<[](u16 a, u16 b, u16 c, Mode m) {
      return m.clamp && (u64(u32(a) * b) + c > 65535) ? u16(65535) : u16(u32(a) * b + c);
    }>("v_mad_u16"),
    valu<[](i16 a, i16 b, i16 c, Mode m) { return clamp_i16(i32(i64(a) * b + c), m.clamp); }>("v_mad_i16"),
    // gfx9's first forms, which clear the upper half.
    valu<[](u16 a, u16 b, u16 c, Mode m) {
      return m.clamp && (u64(u32(a) * b) + c > 65535) ? u16(65535) : u16(u32(a) * b + c);
    }>("v_mad_legacy_u16", kZeroHigh9),
    valu<[](i16 a, i16 b, i16 c, Mode m) { return clamp_i16(i32(i64(a) * b + c), m.clamp); }>(
        "v_mad_legacy_i16", kZeroHigh9),
    valu<[](u16 a, u16 b) { return u16(b << (a & 15)); }>("v_lshlrev_b16", kZeroHigh9),
    valu<[](u16 a, u16 b) { return u16((b >> (a & 15))); }>("v_lshrrev_b16", kZeroHigh9),
    valu<[](u16 a, i16 b) { return i16(b >> (a & 15)); }>("v_ashrrev_i16", kZeroHigh9),
    valu<[](u16 a, u16 b) { return u16(a & b); }>("v_and_b16"),
    valu<[](u16 a, u16 b) { return u16(a | b); }>("v_or_b16"),
    valu<[](u16 a, u16 b) { return u16(a ^ b); }>("v_xor_b16"),
    valu<[](u16 a, u16 b) { return min2(a, b); }>("v_min_u16", kZeroHigh9),
    valu<[](u16 a, u16 b) { return max2(a, b); }>("v_max_u16", kZeroHigh9),
    valu<[](i16 a, i16 b) { return min2(a, b); }>("v_min_i16", kZeroHigh9),
    valu<[](i16 a, i16 b) { return max2(a, b); }>("v_max_i16", kZeroHigh9),
    valu<[](u16 a, u16 b, u16 c) { return min2(min2(a, b), c); }>("v_min3_u16"),
    valu<[](u16 a, u16 b, u16 c) { return max2(max2(a, b), c); }>("v_max3_u16"),
    valu<[](i16 a, i16 b, i16 c) { return min2(min2(a, b), c); }>("v_min3_i16"),
    valu<[](i16 a, i16 b, i16 c) { return max2(max2(a, b), c); }>("v_max3_i16"),
    valu<[](u16 a, u16 b, u16 c) { return med3(a, b, c); }>("v_med3_u16"),
    valu<[](i16 a, i16 b, i16 c) { return med3(a, b, c); }>("v_med3_i16"),

    valu<[](u32 a, u32 b, u32 c) { return sad8(a, b) + c; }>("v_sad_u8"),
    valu<[](u32 a, u32 b, u32 c) { return (sad8(a, b) << 16) + c; }>("v_sad_hi_u8"),
    valu<[](u32 a, u32 b, u32 c) {
      return difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16) + c;
    }>("v_sad_u16"),
    valu<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; }>("v_sad_u32"),
    valu<[](u32 a, u32 b, u32 c) { return msad8(a, b) + c; }>("v_msad_u8"),
    valu<[](u64 a, u32 b, u64 c) { return four_sads<sad8>(a, b, c); }>("v_qsad_pk_u16_u8"),
    valu<[](u64 a, u32 b, u64 c) { return four_sads<msad8>(a, b, c); }>("v_mqsad_pk_u16_u8"),
    valu<[](u32 a, u32 b, u32 c) { return lerp8(a, b, c); }>("v_lerp_u8"),
};

}  // namespace
EMU_GROUP(vector_integer, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
