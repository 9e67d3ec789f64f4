// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic, compares and EXEC.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/half_extremes.h"
#include "emu/exec/ops/real.h"
#include "emu/exec/ops/scalars.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
using i16 = int16_t;

template <class T>
EMU_FN With<T> nonzero(T value) {
  return {value, value != 0};
}
EMU_FN With<u32> add_u(u32 a, u32 b, u32 in) {
  const u64 sum = u64(a) + b + in;
  return {u32(sum), u32(sum >> 32)};
}
EMU_FN With<u32> sub_u(u32 a, u32 b, u32 in) {
  const u64 difference = u64(a) - b - in;
  return {u32(difference), u32(difference >> 63)};
}
EMU_FN With<i32> add_i(i32 a, i32 b) {
  const i32 r = a + b;
  return {r, u32(((a ^ r) & (b ^ r)) < 0)};
}
EMU_FN With<i32> sub_i(i32 a, i32 b) {
  const i32 r = a - b;
  return {r, u32(((a ^ b) & (a ^ r)) < 0)};
}
EMU_FN With<u32> shift_add(u32 a, u32 b, int n) {
  const u64 sum = (u64(a) << n) + b;
  return {u32(sum), u32(sum > 0xffffffffu)};
}
EMU_FN u32 low_bits(u32 n) { return n >= 32 ? ~0u : (1u << n) - 1; }
EMU_FN u64 low_bits64(u32 n) { return n >= 64 ? ~u64(0) : (u64(1) << n) - 1; }
EMU_FN u32 field(u32 spec) { return (spec >> 16) & 0x7f; }
EMU_FN With<u32> bfe(u32 a, u32 b) { return nonzero(u32((a >> (b & 31)) & low_bits(field(b)))); }
EMU_FN With<u64> bfe64(u64 a, u32 b) { return nonzero(u64((a >> (b & 63)) & low_bits64(field(b)))); }
EMU_FN With<i32> bfe_signed(i32 a, u32 b) {
  const u32 n = field(b);
  if (n == 0) return {0, 0};
  const i32 part = a >> (b & 31);
  return nonzero(n >= 32 ? part : i32(u32(part) << (32 - n)) >> (32 - n));
}
EMU_FN With<i64> bfe_signed64(i64 a, u32 b) {
  const u32 n = field(b);
  if (n == 0) return {0, 0};
  const i64 part = a >> (b & 63);
  return nonzero(n >= 64 ? part : i64(u64(part) << (64 - n)) >> (64 - n));
}
EMU_FN u64 reverse64(u64 x) {
  x = ((x >> 1) & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = ((x >> 2) & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(x);
}
EMU_FN u32 lead(u64 x, int width) { return x == 0 ? ~0u : u32(__builtin_clzll(x) - (64 - width)); }
EMU_FN u32 trail(u64 x) { return x == 0 ? ~0u : u32(__builtin_ctzll(x)); }
EMU_FN u64 quads(u64 x, bool whole) {
  u64 r = 0;
  for (int i = 0; i < 16; ++i)
    if (x >> (4 * i) & 15) r |= whole ? u64(15) << (4 * i) : u64(1) << i;
  return r;
}
EMU_FN u64 replicate(u32 x) {
  u64 r = 0;
  for (int i = 0; i < 32; ++i)
    if (x >> i & 1) r |= u64(3) << (2 * i);
  return r;
}
EMU_FN With<u32> absolute_difference(i32 a, i32 b) {
  const i32 d = a - b;
  return nonzero(u32(d < 0 ? -d : d));
}
template <class To, class From>
EMU_FN To clamp_to(From x) {
  if (x != x) return 0;
  const double d = double(x);
  const double least = double(std::is_signed_v<To> ? -2147483648.0 : 0.0),
               most = std::is_signed_v<To> ? 2147483647.0 : 4294967295.0;
  return d <= least ? To(i64(least)) : d >= most ? To(i64(most)) : To(i64(d));
}
EMU_FN u32 rtz(float x) {
  const u32 b = bits(x), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  if (magnitude >= 0x47800000) return sign | 0x7bff;
  if (magnitude >= 0x38800000) return sign | (magnitude - 0x38000000) >> 13;
  const u32 shift = 126 - (magnitude >> 23);
  return sign | (shift > 31 ? 0 : ((magnitude & 0x7fffff) | 0x800000) >> shift);
}

/// EXEC <- f(source, EXEC); the destination gets the old EXEC, or the new one.
template <class T, T (*F)(T, T), bool GivesNew>
const Op* exec_op(Wave& w, const Op* op) {
  const T source = scalar_value<T>(w, op->src[0]);
  const T old = T(exec_of(w)), now = F(source, old);
  if (sizeof(T) == 8 || w.lanes > 32)
    exec_of(w) = sizeof(T) == 8 ? u64(now) : (exec_of(w) & ~u64(0xffffffff)) | u64(now);
  else
    exec_of(w) = u32(now);
  write_scalar(w, op->dst, GivesNew ? now : old);
  w.s[kScc] = now != 0;
  return op + 1;
}
template <class T, T (*F)(T, T), bool GivesNew = false>
constexpr Row exec_row(const char* name) {
  Row r{};
  r.name = name;
  r.run = &exec_op<T, F, GivesNew>;
  r.form = Form::Scalar;
  r.cls = Class::Scalar;
  r.dst = r.src[0] = sizeof(T) == 8 ? Type::U64 : Type::U32;
  r.flags = kWritesExec;
  r.truth = F(12, 10) & 15;
  return r;
}
constexpr Row bitwise(Row r, unsigned truth) {
  r.truth = uint8_t(truth & 15);
  return r;
}
template <class T>
constexpr T e_and(T s, T e) {
  return s & e;
}
template <class T>
constexpr T e_or(T s, T e) {
  return s | e;
}
template <class T>
constexpr T e_xor(T s, T e) {
  return s ^ e;
}
template <class T>
constexpr T e_nand(T s, T e) {
  return ~(s & e);
}
template <class T>
constexpr T e_nor(T s, T e) {
  return ~(s | e);
}
template <class T>
constexpr T e_xnor(T s, T e) {
  return ~(s ^ e);
}
template <class T>
constexpr T e_and_not0(T s, T e) {
  return ~s & e;
}
template <class T>
constexpr T e_or_not0(T s, T e) {
  return ~s | e;
}
template <class T>
constexpr T e_and_not1(T s, T e) {
  return s & ~e;
}
template <class T>
constexpr T e_or_not1(T s, T e) {
  return s | ~e;
}

// A pair of rows, 32 and 64 bits wide.
#define BITWISE(type, name, expression)                                         \
  bitwise(salu<[](type a, type b) { return nonzero(type(expression)); }>(name), \
          [](unsigned a, unsigned b) { return unsigned(expression); }(12, 10))
#define BOTH(name, expression) BITWISE(u32, name "_b32", expression), BITWISE(u64, name "_b64", expression)
#define EXEC_ROWS(name, f) \
  exec_row<u32, f<u32>>(name "_saveexec_b32"), exec_row<u64, f<u64>>(name "_saveexec_b64")
#define COMPARE(name, type, operation) salu<[](type a, type b) { return bool(a operation b); }>("s_cmp_" name)
#define COMPARE_K(name, type, imm, operation) \
  salu<[](type a, imm b) { return bool(a operation type(b)); }>("s_cmpk_" name)
#define FLOAT_COMPARE(name, expression)                                                                    \
  salu<[](float a, float b) { return bool(expression); }>("s_cmp_" name "_f32"), salu<[](Half x, Half y) { \
    const float a = x.f, b = y.f;                                                                          \
    return bool(expression);                                                                               \
  }>("s_cmp_" name "_f16")
#define RELATIONS(suffix, type)                                                                     \
  COMPARE("eq_" suffix, type, ==), COMPARE("lg_" suffix, type, !=), COMPARE("gt_" suffix, type, >), \
      COMPARE("ge_" suffix, type, >=), COMPARE("lt_" suffix, type, <), COMPARE("le_" suffix, type, <=)

constexpr Row kRows[] = {
    bitwise(salu<[](u32 a) { return a; }>("s_mov_b32"), 12),
    bitwise(salu<[](u64 a) { return a; }>("s_mov_b64"), 12),
    salu<[](i16 a) { return i32(a); }>("s_movk_i32"),
    salu<[](u32 a, u32 old, SccBit c) { return c.b ? a : old; }>("s_cmov_b32", kAccumulate),
    salu<[](u64 a, u64 old, SccBit c) { return c.b ? a : old; }>("s_cmov_b64", kAccumulate),
    salu<[](i16 a, i32 old, SccBit c) { return c.b ? i32(a) : old; }>("s_cmovk_i32", kAccumulate),
    bitwise(salu<[](u32 a) { return nonzero(~a); }>("s_not_b32"), 3),
    bitwise(salu<[](u64 a) { return nonzero(~a); }>("s_not_b64"), 3),
    salu<[](u32 a) { return u32(reverse64(a) >> 32); }>("s_brev_b32"),
    salu<[](u64 a) { return reverse64(a); }>("s_brev_b64"),
    salu<[](u32 a) { return trail(a); }>("s_ctz_i32_b32"),
    salu<[](u64 a) { return trail(a); }>("s_ctz_i32_b64"),
    salu<[](u32 a) { return trail(a); }>("s_ff1_i32_b32"),
    salu<[](u64 a) { return trail(a); }>("s_ff1_i32_b64"),
    salu<[](u32 a) { return trail(~a); }>("s_ff0_i32_b32"),
    salu<[](u64 a) { return trail(~a); }>("s_ff0_i32_b64"),
    salu<[](u32 a) { return lead(a, 32); }>("s_clz_i32_u32"),
    salu<[](u64 a) { return lead(a, 64); }>("s_clz_i32_u64"),
    salu<[](u32 a) { return lead(a, 32); }>("s_flbit_i32_b32"),
    salu<[](u64 a) { return lead(a, 64); }>("s_flbit_i32_b64"),
    salu<[](i32 a) { return lead(u32(a ^ (a >> 31)), 32); }>("s_cls_i32"),
    salu<[](i64 a) { return lead(u64(a ^ (a >> 63)), 64); }>("s_cls_i32_i64"),
    salu<[](i32 a) { return lead(u32(a ^ (a >> 31)), 32); }>("s_flbit_i32"),
    salu<[](i64 a) { return lead(u64(a ^ (a >> 63)), 64); }>("s_flbit_i32_i64"),
    salu<[](u32 a) { return i32(int8_t(a)); }>("s_sext_i32_i8"),
    salu<[](u32 a) { return i32(int16_t(a)); }>("s_sext_i32_i16"),
    salu<[](u32 a, u32 d) { return d & ~(1u << (a & 31)); }>("s_bitset0_b32", kAccumulate),
    salu<[](u32 a, u64 d) { return d & ~(u64(1) << (a & 63)); }>("s_bitset0_b64", kAccumulate),
    salu<[](u32 a, u32 d) { return d | 1u << (a & 31); }>("s_bitset1_b32", kAccumulate),
    salu<[](u32 a, u64 d) { return d | u64(1) << (a & 63); }>("s_bitset1_b64", kAccumulate),
    salu<[](u32 a) { return replicate(a); }>("s_bitreplicate_b64_b32"),
    salu<[](i32 a) { return nonzero(a < 0 ? -a : a); }>("s_abs_i32"),
    salu<[](u32 a) { return nonzero(u32(32 - __builtin_popcount(a))); }>("s_bcnt0_i32_b32"),
    salu<[](u64 a) { return nonzero(u32(64 - __builtin_popcountll(a))); }>("s_bcnt0_i32_b64"),
    salu<[](u32 a) { return nonzero(u32(__builtin_popcount(a))); }>("s_bcnt1_i32_b32"),
    salu<[](u64 a) { return nonzero(u32(__builtin_popcountll(a))); }>("s_bcnt1_i32_b64"),
    salu<[](u32 a) { return nonzero(u32(quads(a, false))); }>("s_quadmask_b32"),
    salu<[](u64 a) { return nonzero(quads(a, false)); }>("s_quadmask_b64"),
    salu<[](u32 a) { return nonzero(u32(quads(a, true))); }>("s_wqm_b32"),
    salu<[](u64 a) { return nonzero(quads(a, true)); }>("s_wqm_b64"),

    salu<[](u32 a, u32 b) { return add_u(a, b, 0); }>("s_add_u32"),
    salu<[](u32 a, u32 b) { return sub_u(a, b, 0); }>("s_sub_u32"),
    salu<[](u32 a, u32 b) { return add_u(a, b, 0); }>("s_add_co_u32"),
    salu<[](u32 a, u32 b) { return sub_u(a, b, 0); }>("s_sub_co_u32"),
    salu<[](i32 a, i32 b) { return add_i(a, b); }>("s_add_i32"),
    salu<[](i32 a, i32 b) { return sub_i(a, b); }>("s_sub_i32"),
    salu<[](i32 a, i32 b) { return add_i(a, b); }>("s_add_co_i32"),
    salu<[](i32 a, i32 b) { return sub_i(a, b); }>("s_sub_co_i32"),
    salu<[](u32 a, u32 b, SccBit c) { return add_u(a, b, c.b); }>("s_addc_u32"),
    salu<[](u32 a, u32 b, SccBit c) { return sub_u(a, b, c.b); }>("s_subb_u32"),
    salu<[](u32 a, u32 b, SccBit c) { return add_u(a, b, c.b); }>("s_add_co_ci_u32"),
    salu<[](u32 a, u32 b, SccBit c) { return sub_u(a, b, c.b); }>("s_sub_co_ci_u32"),
    salu<[](u64 a, u64 b) { return a + b; }>("s_add_nc_u64"),
    salu<[](u64 a, u64 b) { return a - b; }>("s_sub_nc_u64"),
    salu<[](u64 a, u64 b) { return a * b; }>("s_mul_u64"),
    salu<[](i16 b, i32 d) { return add_i(d, b); }>("s_addk_i32", kAccumulate),
    salu<[](i16 b, i32 d) { return add_i(d, b); }>("s_addk_co_i32", kAccumulate),
    salu<[](i16 b, i32 d) { return d * b; }>("s_mulk_i32", kAccumulate),
    salu<[](i32 a, i32 b) { return absolute_difference(a, b); }>("s_absdiff_i32"),
    salu<[](u32 a, u32 b) { return nonzero(a << (b & 31)); }>("s_lshl_b32"),
    salu<[](u64 a, u32 b) { return nonzero(a << (b & 63)); }>("s_lshl_b64"),
    salu<[](u32 a, u32 b) { return nonzero((a >> (b & 31))); }>("s_lshr_b32"),
    salu<[](u64 a, u32 b) { return nonzero((a >> (b & 63))); }>("s_lshr_b64"),
    salu<[](i32 a, u32 b) { return nonzero((a >> (b & 31))); }>("s_ashr_i32"),
    salu<[](i64 a, u32 b) { return nonzero((a >> (b & 63))); }>("s_ashr_i64"),
    salu<[](u32 a, u32 b) { return shift_add(a, b, 1); }>("s_lshl1_add_u32"),
    salu<[](u32 a, u32 b) { return shift_add(a, b, 2); }>("s_lshl2_add_u32"),
    salu<[](u32 a, u32 b) { return shift_add(a, b, 3); }>("s_lshl3_add_u32"),
    salu<[](u32 a, u32 b) { return shift_add(a, b, 4); }>("s_lshl4_add_u32"),
    salu<[](i32 a, i32 b) { return With<i32>{a < b ? a : b, a < b}; }>("s_min_i32"),
    salu<[](u32 a, u32 b) { return With<u32>{a < b ? a : b, a < b}; }>("s_min_u32"),
    salu<[](i32 a, i32 b) {
      const bool g = a >= b;  // SCC is set for equal ones too
      return With<i32>{g ? a : b, g};
    }>("s_max_i32"),
    salu<[](u32 a, u32 b) {
      const bool g = a >= b;
      return With<u32>{g ? a : b, g};
    }>("s_max_u32"),
    BOTH("s_and", a& b),
    BOTH("s_or", a | b),
    BOTH("s_xor", a ^ b),
    BOTH("s_nand", ~(a& b)),
    BOTH("s_nor", ~(a | b)),
    BOTH("s_xnor", ~(a ^ b)),
    BOTH("s_and_not1", a & ~b),
    BOTH("s_or_not1", a | ~b),
    BOTH("s_andn2", a & ~b),
    BOTH("s_orn2", a | ~b),
    salu<[](u32 a, u32 b) { return bfe(a, b); }>("s_bfe_u32"),
    salu<[](i32 a, u32 b) { return bfe_signed(a, b); }>("s_bfe_i32"),
    salu<[](u64 a, u32 b) { return bfe64(a, b); }>("s_bfe_u64"),
    salu<[](i64 a, u32 b) { return bfe_signed64(a, b); }>("s_bfe_i64"),
    salu<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("s_bfm_b32"),
    salu<[](u32 a, u32 b) { return ((u64(1) << (a & 63)) - 1) << (b & 63); }>("s_bfm_b64"),
    salu<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"),
    salu<[](u32 a, u32 b) { return u32((u64(a) * b) >> 32); }>("s_mul_hi_u32"),
    salu<[](i32 a, i32 b) { return i32((i64(a) * b) >> 32); }>("s_mul_hi_i32"),
    salu<[](u32 a, u32 b, SccBit c) { return c.b ? a : b; }>("s_cselect_b32"),
    salu<[](u64 a, u64 b, SccBit c) { return c.b ? a : b; }>("s_cselect_b64"),
    salu<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"),
    salu<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"),
    salu<[](u32 a, u32 b) { return (a >> 16) | (b & 0xffff0000); }>("s_pack_hh_b32_b16"),
    salu<[](u32 a, u32 b) { return (a >> 16) | b << 16; }>("s_pack_hl_b32_b16"),

    RELATIONS("i32", i32),
    RELATIONS("u32", u32),
    COMPARE("eq_u64", u64, ==),
    COMPARE("lg_u64", u64, !=),
    COMPARE_K("eq_i32", i32, i16, ==),
    COMPARE_K("lg_i32", i32, i16, !=),
    COMPARE_K("gt_i32", i32, i16, >),
    COMPARE_K("ge_i32", i32, i16, >=),
    COMPARE_K("lt_i32", i32, i16, <),
    COMPARE_K("le_i32", i32, i16, <=),
    COMPARE_K("eq_u32", u32, uint16_t, ==),
    COMPARE_K("lg_u32", u32, uint16_t, !=),
    COMPARE_K("gt_u32", u32, uint16_t, >),
    COMPARE_K("ge_u32", u32, uint16_t, >=),
    COMPARE_K("lt_u32", u32, uint16_t, <),
    COMPARE_K("le_u32", u32, uint16_t, <=),
    salu<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }>("s_bitcmp0_b32"),
    salu<[](u32 a, u32 b) { return (a >> (b & 31) & 1) != 0; }>("s_bitcmp1_b32"),
    salu<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }>("s_bitcmp0_b64"),
    salu<[](u64 a, u32 b) { return (a >> (b & 63) & 1) != 0; }>("s_bitcmp1_b64"),

    EXEC_ROWS("s_and", e_and),
    EXEC_ROWS("s_or", e_or),
    EXEC_ROWS("s_xor", e_xor),
    EXEC_ROWS("s_nand", e_nand),
    EXEC_ROWS("s_nor", e_nor),
    EXEC_ROWS("s_xnor", e_xnor),
    EXEC_ROWS("s_and_not0", e_and_not0),
    EXEC_ROWS("s_or_not0", e_or_not0),
    EXEC_ROWS("s_and_not1", e_and_not1),
    EXEC_ROWS("s_or_not1", e_or_not1),
    EXEC_ROWS("s_andn1", e_and_not0),
    EXEC_ROWS("s_orn1", e_or_not0),
    EXEC_ROWS("s_andn2", e_and_not1),
    EXEC_ROWS("s_orn2", e_or_not1),
    exec_row<u32, e_and_not0<u32>, true>("s_and_not0_wrexec_b32"),
    exec_row<u64, e_and_not0<u64>, true>("s_and_not0_wrexec_b64"),
    exec_row<u32, e_and_not1<u32>, true>("s_and_not1_wrexec_b32"),
    exec_row<u64, e_and_not1<u64>, true>("s_and_not1_wrexec_b64"),
    exec_row<u32, e_and_not0<u32>, true>("s_andn1_wrexec_b32"),
    exec_row<u64, e_and_not0<u64>, true>("s_andn1_wrexec_b64"),
    exec_row<u32, e_and_not1<u32>, true>("s_andn2_wrexec_b32"),
    exec_row<u64, e_and_not1<u64>, true>("s_andn2_wrexec_b64"),

    salu<[](float a, float b) { return a + b; }>("s_add_f32"),
    salu<[](float a, float b) { return a - b; }>("s_sub_f32"),
    salu<[](float a, float b) { return a * b; }>("s_mul_f32"),
    salu<[](float a, float b) { return smaller(a, b, {true, true, false, 0}); }>("s_min_f32"),
    salu<[](float a, float b) { return larger(a, b, {true, true, false, 0}); }>("s_max_f32"),
    salu<[](float a, float b) { return smaller_number(a, b); }>("s_min_num_f32"),
    salu<[](float a, float b) { return larger_number(a, b); }>("s_max_num_f32"),
    salu<[](float a, float b) { return minimum(a, b); }>("s_minimum_f32"),
    salu<[](float a, float b) { return maximum(a, b); }>("s_maximum_f32"),
    salu<[](float a, float b, float c) { return fused(a, b, c); }>("s_fmaak_f32"),
    salu<[](float a, float b, float c) { return fused(a, b, c); }>("s_fmamk_f32"),
    salu<[](float a, float b, float c) { return fused(a, b, c); }>("s_fmac_f32", kAccumulate),
    salu<[](float a) { return __builtin_ceilf(a); }>("s_ceil_f32"),
    salu<[](float a) { return floor_of(a); }>("s_floor_f32"),
    salu<[](float a) { return __builtin_truncf(a); }>("s_trunc_f32"),
    salu<[](float a) { return __builtin_roundevenf(a); }>("s_rndne_f32"),
    salu<[](i32 a) { return float(a); }>("s_cvt_f32_i32"),
    salu<[](u32 a) { return float(a); }>("s_cvt_f32_u32"),
    salu<[](float a) { return clamp_to<i32>(a); }>("s_cvt_i32_f32"),
    salu<[](float a) { return clamp_to<u32>(a); }>("s_cvt_u32_f32"),
    salu<[](float a) { return Half{a}; }>("s_cvt_f16_f32"),
    salu<[](Half a) { return a.f; }>("s_cvt_f32_f16"),
    salu<[](u32 a) { return half_value((a >> 16)); }>("s_cvt_hi_f32_f16"),
    salu<[](float a, float b) { return rtz(a) | rtz(b) << 16; }>("s_cvt_pk_rtz_f16_f32"),
    salu<[](Half a, Half b) { return Half{a.f + b.f}; }>("s_add_f16"),
    salu<[](Half a, Half b) { return Half{a.f - b.f}; }>("s_sub_f16"),
    salu<[](Half a, Half b) { return Half{a.f * b.f}; }>("s_mul_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(smaller_half(a, b, {true, true, false, 0})); }>(
        "s_min_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(larger_half(a, b, {true, true, false, 0})); }>(
        "s_max_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(half_number<false>(a, b)); }>("s_min_num_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(half_number<true>(a, b)); }>("s_max_num_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(half_nan_wins<false>(a, b)); }>("s_minimum_f16"),
    salu<[](uint16_t a, uint16_t b) { return half_from(half_nan_wins<true>(a, b)); }>("s_maximum_f16"),
    salu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("s_fmac_f16", kAccumulate),
    salu<[](Half a) { return Half{__builtin_ceilf(a.f)}; }>("s_ceil_f16"),
    salu<[](Half a) { return Half{floor_of(a.f)}; }>("s_floor_f16"),
    salu<[](Half a) { return Half{__builtin_truncf(a.f)}; }>("s_trunc_f16"),
    salu<[](Half a) { return Half{__builtin_roundevenf(a.f)}; }>("s_rndne_f16"),
    FLOAT_COMPARE("lt", a < b),
    FLOAT_COMPARE("eq", a == b),
    FLOAT_COMPARE("le", a <= b),
    FLOAT_COMPARE("gt", a > b),
    FLOAT_COMPARE("lg", (a < b) | (a > b)),
    FLOAT_COMPARE("ge", a >= b),
    FLOAT_COMPARE("o", (a == a) & (b == b)),
    FLOAT_COMPARE("u", (a != a) | (b != b)),
    FLOAT_COMPARE("nge", !(a >= b)),
    FLOAT_COMPARE("nlg", !((a < b) | (a > b))),
    FLOAT_COMPARE("ngt", !(a > b)),
    FLOAT_COMPARE("nle", !(a <= b)),
    FLOAT_COMPARE("neq", !(a == b)),
    FLOAT_COMPARE("nlt", !(a < b)),
};

}  // namespace
EMU_GROUP(scalar, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
