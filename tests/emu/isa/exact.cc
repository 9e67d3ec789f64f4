// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/exact.h"

namespace emu::isa {
namespace {

using Kind = Number::Kind;

int top_bit(u128 m) {
  const uint64_t high = uint64_t(m >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(uint64_t(m));
}
/// The same value with the highest bit at `bit`; what falls out at the bottom is remembered.
Number normalized(Number a, int bit) {
  if (a.kind != Kind::Finite) return a;
  const int shift = bit - top_bit(a.mantissa);
  if (shift >= 0) {
    a.mantissa <<= shift;
  } else {
    a.sticky |= (a.mantissa & ones(-shift)) != 0;
    a.mantissa >>= -shift;
  }
  a.exponent -= shift;
  return a;
}
Number special(Kind kind, bool negative) {
  Number n;
  n.kind = kind;
  n.negative = negative;
  return n;
}

}  // namespace

Number unpack(u128 bits, Format f) {
  Number n;
  n.negative = (bits >> (f.width() - 1) & 1) != 0;
  const int exponent = int(bits >> f.mantissa_bits) & f.top();
  n.mantissa = bits & ones(f.mantissa_bits);
  if (exponent == f.top()) {
    n.kind = n.mantissa == 0 ? Kind::Infinite : Kind::Nan;
    n.signaling = n.nan() && (n.mantissa >> (f.mantissa_bits - 1)) == 0;
  } else if (exponent != 0 || n.mantissa != 0) {
    n.kind = Kind::Finite;
    if (exponent != 0) n.mantissa |= u128(1) << f.mantissa_bits;
    n.exponent = (exponent == 0 ? 1 : exponent) - f.bias() - f.mantissa_bits;
  }
  return n;
}

u128 pack(const Number& number, Format f, Rounding rounding) {
  const u128 sign = u128(number.negative) << (f.width() - 1);
  const u128 infinity = u128(unsigned(f.top())) << f.mantissa_bits;
  if (number.nan()) return infinity | u128(1) << (f.mantissa_bits - 1);
  if (number.infinite()) return sign | infinity;
  if (number.zero()) return sign;
  Number n = normalized(number, 120);
  // The exponent of the lowest bit that the format holds for this number.
  const int lowest = 1 - f.bias() - f.mantissa_bits;
  int unit = n.exponent + 120 - f.mantissa_bits;
  if (unit < lowest) unit = lowest;
  const int drop = unit - n.exponent;  // bits of the mantissa below the unit; at least 1
  u128 kept = drop > 126 ? 0 : n.mantissa >> drop;
  const u128 rest = drop > 126 ? 1 : n.mantissa & ones(drop);
  const u128 half = drop > 126 ? 2 : u128(1) << (drop - 1);
  const bool inexact = rest != 0 || n.sticky;
  bool up = false;
  switch (rounding) {
    case Rounding::NearestEven:
      up = rest > half || (rest == half && (n.sticky || (kept & 1) != 0));
      break;
    case Rounding::TowardZero:
      break;
    case Rounding::Up:
      up = inexact && !n.negative;
      break;
    case Rounding::Down:
      up = inexact && n.negative;
      break;
  }
  if (up) ++kept;
  // Without the hidden bit the number is denormal; a carry out of the mantissa raises the exponent by itself.
  const int field = unit - lowest;
  u128 bits = kept;
  if (kept >= u128(1) << f.mantissa_bits) bits = (u128(unsigned(field)) << f.mantissa_bits) + kept;
  if (bits >= infinity) {
    const bool largest = rounding == Rounding::TowardZero || (rounding == Rounding::Up && n.negative) ||
                         (rounding == Rounding::Down && !n.negative);
    bits = largest ? infinity - 1 : infinity;
  }
  return sign | bits;
}

Number integer(bool negative, u128 magnitude) {
  Number n = special(magnitude == 0 ? Kind::Zero : Kind::Finite, negative && magnitude != 0);
  n.mantissa = magnitude;
  return n;
}

Number negated(Number a) {
  a.negative = !a.negative;
  return a;
}

Number add(const Number& a, const Number& b, Rounding rounding) {
  if (a.nan() || b.nan()) return special(Kind::Nan, false);
  if (a.infinite() && b.infinite() && a.negative != b.negative) return special(Kind::Nan, false);
  if (a.infinite()) return a;
  if (b.infinite()) return b;
  if (a.zero() && b.zero())
    return special(Kind::Zero, a.negative == b.negative ? a.negative : rounding == Rounding::Down);
  if (a.zero()) return b;
  if (b.zero()) return a;
  Number x = normalized(a, 124), y = normalized(b, 124);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.mantissa < y.mantissa)) {
    const Number t = x;
    x = y;
    y = t;
  }
  const int shift = x.exponent - y.exponent;
  bool rest = y.sticky;
  if (shift > 126) {
    rest = true;
    y.mantissa = 0;
  } else {
    rest |= (y.mantissa & ones(shift)) != 0;
    y.mantissa >>= shift;
  }
  if (x.negative == y.negative) {
    x.mantissa += y.mantissa;
    x.sticky |= rest;
  } else {
    x.mantissa -= y.mantissa;
    // A little was taken away: one unit less, and a little more than that.
    if (rest) --x.mantissa;
    x.sticky |= rest;
    if (x.mantissa == 0) return special(Kind::Zero, rounding == Rounding::Down);
  }
  return x;
}

Number multiply(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.nan() || b.nan() || (a.infinite() && b.zero()) || (a.zero() && b.infinite()))
    return special(Kind::Nan, false);
  if (a.infinite() || b.infinite()) return special(Kind::Infinite, negative);
  if (a.zero() || b.zero()) return special(Kind::Zero, negative);
  const Number x = normalized(a, 60), y = normalized(b, 60);
  Number n = special(Kind::Finite, negative);
  n.mantissa = x.mantissa * y.mantissa;
  n.exponent = x.exponent + y.exponent;
  n.sticky = x.sticky || y.sticky;
  return n;
}

Number divide(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.nan() || b.nan() || (a.infinite() && b.infinite()) || (a.zero() && b.zero()))
    return special(Kind::Nan, false);
  if (a.infinite() || b.zero()) return special(Kind::Infinite, negative);
  if (b.infinite() || a.zero()) return special(Kind::Zero, negative);
  const Number x = normalized(a, 126), y = normalized(b, 55);
  Number n = special(Kind::Finite, negative);
  n.mantissa = x.mantissa / y.mantissa;
  n.exponent = x.exponent - y.exponent;
  n.sticky = x.mantissa % y.mantissa != 0 || x.sticky || y.sticky;
  return n;
}

Number square_root(const Number& a) {
  if (a.nan() || (a.negative && !a.zero())) return special(Kind::Nan, false);
  if (a.zero() || a.infinite()) return a;
  Number x = normalized(a, 126);
  if ((x.exponent & 1) != 0) x = normalized(a, 125);
  u128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const u128 tried = root | u128(1) << bit;
    if (tried * tried <= x.mantissa) root = tried;
  }
  Number n = special(Kind::Finite, false);
  n.mantissa = root;
  n.exponent = x.exponent / 2;
  n.sticky = root * root != x.mantissa || x.sticky;
  return n;
}

Number truncated(const Number& a) {
  if (a.kind != Kind::Finite || a.exponent >= 0) return a;
  Number n = a;
  n.sticky = false;
  n.mantissa = n.exponent < -127 ? 0 : n.mantissa >> -n.exponent << -n.exponent;
  if (n.mantissa == 0) return special(Kind::Zero, a.negative);
  return n;
}

Number scaled(Number a, int power) {
  a.exponent += power;
  return a;
}

int compare(const Number& a, const Number& b) {
  if (a.nan() || b.nan()) return 2;
  if (a.zero() && b.zero()) return 0;
  if (a.infinite() && b.infinite() && a.negative == b.negative) return 0;
  const Number d = add(a, negated(b), Rounding::NearestEven);
  return d.zero() ? 0 : d.negative ? -1 : 1;
}

i128 to_integer(const Number& a, i128 low, i128 high) {
  if (a.nan() || a.zero()) return 0;
  const Number n = normalized(a, 120);
  if (a.infinite() || n.exponent > -20) return a.negative ? low : high;
  if (n.exponent < -127) return 0;
  const i128 magnitude = i128(n.mantissa >> -n.exponent);
  const i128 value = a.negative ? -magnitude : magnitude;
  return value < low ? low : value > high ? high : value;
}

Number unpack_fp8(unsigned bits, bool bf8, bool ocp) {
  const Format f = bf8 ? Format{5, 2} : Format{4, 3};
  const int exponent = int(bits >> f.mantissa_bits) & f.top();
  if (ocp && bf8) return unpack(bits, f);
  if (ocp ? (bits & 0x7f) == 0x7f : bits == 0x80) return special(Kind::Nan, false);
  Number n = special(Kind::Zero, (bits & 0x80) != 0);
  n.mantissa = bits & unsigned(ones(f.mantissa_bits));
  if (exponent == 0 && n.mantissa == 0) return n;
  n.kind = Kind::Finite;
  if (exponent != 0) n.mantissa |= u128(1) << f.mantissa_bits;
  n.exponent = (exponent == 0 ? 1 : exponent) - f.bias() - f.mantissa_bits - (ocp ? 0 : 1);
  return n;
}

}  // namespace emu::isa
