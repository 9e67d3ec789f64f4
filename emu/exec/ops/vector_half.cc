// SPDX-License-Identifier: Apache-2.0
// Vector arithmetic on halves. Sums, products, quotients and roots of halves computed as floats round right
// when they are rounded again; fused products go through rounding to odd.
#include "emu/exec/ops/group.h"
#include "emu/exec/ops/half_extremes.h"
#include "emu/exec/ops/real.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

// Clamp and omod need a float result, so these go through Half; a NaN's payload survives the way.
EMU_FN Half half_of(uint16_t h) { return {half_value(h)}; }
EMU_FN Half min_half(uint16_t a, uint16_t b, Mode m) { return half_of(smaller_half(a, b, m)); }
EMU_FN Half max_half(uint16_t a, uint16_t b, Mode m) { return half_of(larger_half(a, b, m)); }
EMU_FN Half min3_half(uint16_t a, uint16_t b, uint16_t c, Mode m) {
  return half_of(smaller_half(smaller_half(a, b, m), c, m));
}
EMU_FN Half max3_half(uint16_t a, uint16_t b, uint16_t c, Mode m) {
  return half_of(larger_half(larger_half(a, b, m), c, m));
}
EMU_FN Half med3_half(uint16_t a, uint16_t b, uint16_t c, Mode m) {
  const auto nan = [](uint16_t h) { return (h & 0x7fff) > 0x7c00; };
  if (nan(a) || nan(b) || nan(c)) return min3_half(a, b, c, m);
  a = half_read(a, m);
  b = half_read(b, m);
  const uint16_t top = larger_half(larger_half(a, b, m), c, m);
  const float t = half_value(top);
  return half_of(t == half_value(a)   ? larger_half(b, c, m)
                 : t == half_value(b) ? larger_half(a, c, m)
                                      : larger_half(a, b, m));
}

EMU_FN Half fract_half(Half x) {
  const float r = x.f - floor_of(x.f), below = 0.99951171875f;
  return {r > below ? below : r};
}
EMU_FN int16_t frexp_exponent_half(Half x) {
  if (is_nan(x.f) || absolute(x.f) == kInfinity<float> || x.f == 0.0f) return 0;
  return int16_t(exponent(x.f) - 126);
}
EMU_FN Half frexp_mantissa_half(Half x) {
  if (is_nan(x.f) || absolute(x.f) == kInfinity<float> || x.f == 0.0f) return x;
  return {from_bits<float>((bits(x.f) & 0x807fffffu) | 126u << 23)};
}
EMU_FN bool classify_half(uint16_t h, uint16_t wanted) {
  const int magnitude = h & 0x7fff;
  const bool minus = h >> 15 != 0;
  const int bit = magnitude > 0x7c00    ? (h & 0x200 ? 1 : 0)
                  : magnitude == 0x7c00 ? (minus ? 2 : 9)
                  : magnitude >= 0x400  ? (minus ? 3 : 8)
                  : magnitude != 0      ? (minus ? 4 : 7)
                  : minus               ? 5
                                        : 6;
  return wanted >> bit & 1;
}
EMU_FN Half div_fixup_half(Half q, Half d, Half n) {
  const bool sign = negative(d.f) != negative(n.f);
  const auto with_sign = [sign](float x) { return Half{sign ? -x : x}; };
  if (is_nan(n.f)) return n;
  if (is_nan(d.f)) return d;
  const bool infinite_d = absolute(d.f) == kInfinity<float>, infinite_n = absolute(n.f) == kInfinity<float>;
  if ((d.f == 0 && n.f == 0) || (infinite_d && infinite_n)) return {-make_nan<float>()};
  if (d.f == 0 || infinite_n) return with_sign(kInfinity<float>);
  if (infinite_d || n.f == 0) return with_sign(0.0f);
  return with_sign(absolute(q.f));
}

#define PAIR(name, value)                                    \
  valu<[](uint16_t x, uint16_t y, Mode m) {                  \
    const uint16_t a = half_read(x, m), b = half_read(y, m); \
    return half_from(value);                                 \
  }>(name)
#define TRIPLE(name, value)                                                       \
  valu<[](uint16_t x, uint16_t y, uint16_t z, Mode m) {                           \
    const uint16_t a = half_read(x, m), b = half_read(y, m), c = half_read(z, m); \
    return half_from(value);                                                      \
  }>(name)
constexpr Row kRows[] = {
    valu<[](Half a, Half b) { return Half{a.f + b.f}; }>("v_add_f16", kZeroHigh9),
    valu<[](Half a, Half b) { return Half{a.f - b.f}; }>("v_sub_f16", kZeroHigh9),
    valu<[](Half a, Half b) { return Half{b.f - a.f}; }>("v_subrev_f16", kZeroHigh9),
    valu<[](Half a, Half b) { return Half{a.f * b.f}; }>("v_mul_f16", kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_fma_f16"),
    valu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_fmamk_f16"),
    valu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_fmaak_f16"),
    valu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_fmac_f16", kAccumulate),
    valu<[](Half a, Half b, Half c) { return fused_half({rounded_half(a.f * b.f)}, {1.0f}, c); }>(
        "v_mad_f16"),
    valu<[](Half a, Half b, Half c) { return fused_half({rounded_half(a.f * b.f)}, {1.0f}, c); }>(
        "v_mac_f16", kAccumulate | kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return fused_half({rounded_half(a.f * b.f)}, {1.0f}, c); }>(
        "v_madak_f16", kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return fused_half({rounded_half(a.f * b.f)}, {1.0f}, c); }>(
        "v_madmk_f16", kZeroHigh9),
    valu<[](uint16_t a, uint16_t b, Mode m) { return min_half(a, b, m); }>("v_min_f16", kZeroHigh9),
    valu<[](uint16_t a, uint16_t b, Mode m) { return max_half(a, b, m); }>("v_max_f16", kZeroHigh9),
    valu<[](uint16_t a, uint16_t b, uint16_t c, Mode m) { return min3_half(a, b, c, m); }>("v_min3_f16"),
    valu<[](uint16_t a, uint16_t b, uint16_t c, Mode m) { return max3_half(a, b, c, m); }>("v_max3_f16"),
    valu<[](uint16_t a, uint16_t b, uint16_t c, Mode m) { return med3_half(a, b, c, m); }>("v_med3_f16"),
    valu<[](uint16_t a, uint16_t b, uint16_t c, Mode m) { return min_half(larger_half(a, b, m), c, m); }>(
        "v_maxmin_f16"),
    valu<[](uint16_t a, uint16_t b, uint16_t c, Mode m) { return max_half(smaller_half(a, b, m), c, m); }>(
        "v_minmax_f16"),
    PAIR("v_min_num_f16", half_number<false>(a, b)),
    PAIR("v_max_num_f16", half_number<true>(a, b)),
    PAIR("v_minimum_f16", half_nan_wins<false>(a, b)),
    PAIR("v_maximum_f16", half_nan_wins<true>(a, b)),
    TRIPLE("v_min3_num_f16", half_number<false>(half_number<false>(a, b), c)),
    TRIPLE("v_max3_num_f16", half_number<true>(half_number<true>(a, b), c)),
    TRIPLE("v_med3_num_f16", half_middle(a, b, c)),
    TRIPLE("v_maxmin_num_f16", half_number<false>(half_number<true>(a, b), c)),
    TRIPLE("v_minmax_num_f16", half_number<true>(half_number<false>(a, b), c)),
    TRIPLE("v_minimum3_f16", half_nan_wins<false>(half_nan_wins<false>(a, b), c)),
    TRIPLE("v_maximum3_f16", half_nan_wins<true>(half_nan_wins<true>(a, b), c)),
    TRIPLE("v_maximumminimum_f16", half_nan_wins<false>(half_nan_wins<true>(a, b), c)),
    TRIPLE("v_minimummaximum_f16", half_nan_wins<true>(half_nan_wins<false>(a, b), c)),
    valu<[](Half a) { return Half{floor_of(a.f)}; }>("v_floor_f16", kZeroHigh9),
    valu<[](Half a) { return Half{__builtin_ceilf(a.f)}; }>("v_ceil_f16", kZeroHigh9),
    valu<[](Half a) { return Half{__builtin_truncf(a.f)}; }>("v_trunc_f16", kZeroHigh9),
    valu<[](Half a) { return Half{__builtin_roundevenf(a.f)}; }>("v_rndne_f16", kZeroHigh9),
    valu<[](Half a) { return fract_half(a); }>("v_fract_f16", kZeroHigh9),
    valu<[](Half a, int16_t n) { return Half{scale(a.f, n)}; }>("v_ldexp_f16", kZeroHigh9),
    valu<[](Half a) { return frexp_exponent_half(a); }>("v_frexp_exp_i16_f16", kZeroHigh9),
    valu<[](Half a) { return frexp_mantissa_half(a); }>("v_frexp_mant_f16", kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return div_fixup_half(a, b, c); }>("v_div_fixup_f16"),
    // gfx9's first forms, which clear the upper half.
    valu<[](Half a, Half b, Half c) { return div_fixup_half(a, b, c); }>("v_div_fixup_legacy_f16",
                                                                         kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return fused_half(a, b, c); }>("v_fma_legacy_f16", kZeroHigh9),
    valu<[](Half a, Half b, Half c) { return fused_half({rounded_half(a.f * b.f)}, {1.0f}, c); }>(
        "v_mad_legacy_f16", kZeroHigh9),
    valu<[](uint16_t a, uint16_t b) { return classify_half(a, b); }>("v_cmp_class_f16"),
    valu_exec<[](uint16_t a, uint16_t b) { return classify_half(a, b); }>("v_cmpx_class_f16"),
    valu<[](uint16_t a, uint16_t b) { return uint32_t(a) | uint32_t(b) << 16; }>("v_pack_b32_f16"),
};

}  // namespace
EMU_GROUP(vector_half, kRows)
}  // namespace EMU_ISA
}  // namespace emu::exec
