// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum of halves, on bits: a signaling NaN cannot be told apart once a half became a float.
#pragma once
#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN bool half_is_nan(uint16_t h) { return (h & 0x7fff) > 0x7c00; }
EMU_FN bool half_is_signaling(uint16_t h) { return half_is_nan(h) && !(h & 0x200); }
/// A half as MODE has it read: a denormal one may be a zero.
EMU_FN uint16_t half_read(uint16_t h, Mode m) {
  return m.flush_halves && (h & 0x7c00) == 0 ? uint16_t(h & 0x8000) : h;
}
/// Of two numbers; -0 < +0.
template <bool Max>
EMU_FN uint16_t half_extreme(uint16_t a, uint16_t b) {
  const float x = half_value(a), y = half_value(b);
  if (x == y) return uint16_t(Max ? a & b : a | b);
  return (Max ? x > y : x < y) ? a : b;
}
/// v_min and v_max: a NaN gives way to a number; with the IEEE bit a signaling one comes back quiet.
template <bool Max>
EMU_FN uint16_t half_by_mode(uint16_t a, uint16_t b, Mode m) {
  a = half_read(a, m);
  b = half_read(b, m);
  if (m.ieee && half_is_signaling(a)) return uint16_t(a | 0x200);
  if (m.ieee && half_is_signaling(b)) return uint16_t(b | 0x200);
  if (half_is_nan(b) && !(m.second_nan && half_is_nan(a))) return a;
  return half_is_nan(a) ? b : half_extreme<Max>(a, b);
}
EMU_FN uint16_t smaller_half(uint16_t a, uint16_t b, Mode m) { return half_by_mode<false>(a, b, m); }
EMU_FN uint16_t larger_half(uint16_t a, uint16_t b, Mode m) { return half_by_mode<true>(a, b, m); }
/// v_min_num and v_max_num: a number wins over any NaN, a NaN comes back quiet.
template <bool Max>
EMU_FN uint16_t half_number(uint16_t a, uint16_t b) {
  if (half_is_nan(a)) return half_is_nan(b) ? uint16_t(a | 0x200) : b;
  return half_is_nan(b) ? a : half_extreme<Max>(a, b);
}
/// v_minimum and v_maximum: a NaN wins, a signaling one first.
template <bool Max>
EMU_FN uint16_t half_nan_wins(uint16_t a, uint16_t b) {
  const bool first = half_is_signaling(a) || (half_is_nan(a) && !half_is_signaling(b));
  if (half_is_nan(a) || half_is_nan(b)) return uint16_t((first ? a : b) | 0x200);
  return half_extreme<Max>(a, b);
}
EMU_FN uint16_t half_middle(uint16_t a, uint16_t b, uint16_t c) {
  if (half_is_nan(a) || half_is_nan(b) || half_is_nan(c))
    return half_number<false>(half_number<false>(a, b), c);
  const float top = half_value(half_number<true>(half_number<true>(a, b), c));
  return top == half_value(a)   ? half_number<true>(b, c)
         : top == half_value(b) ? half_number<true>(a, c)
                                : half_number<true>(a, b);
}
EMU_FN Half half_from(uint16_t bits) { return {half_value(bits)}; }

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
