// SPDX-License-Identifier: Apache-2.0
#include "emu/isa/value.h"

namespace emu::isa {

i128 as_integer(const Value& v) {
  if (v.base == Base::Signed && v.width < 128 && (v.bits >> (v.width - 1) & 1) != 0)
    return i128(v.bits | ~ones(v.width));
  return i128(v.bits);
}

Format format_of(const Value& v) {
  if (v.base == Base::Bfloat) return kBfloat;
  if (v.base == Base::Float && v.width == 16) return kHalf;
  if (v.base == Base::Float && v.width == 32) return kSingle;
  if (v.base == Base::Float && v.width == 64) return kDouble;
  throw TextError("no floating-point format of " + std::to_string(v.width) + " bits");
}

Number as_number(const Value& v) {
  if (v.floating()) return unpack(v.bits, format_of(v));
  // Only gfx12's text converts these by a cast.
  if (v.base == Base::Fp8 || v.base == Base::Bf8)
    return unpack_fp8(unsigned(v.bits & 0xff), v.base == Base::Bf8, true);
  const i128 value = as_integer(v);
  return integer(value < 0, u128(value < 0 ? -value : value));
}

Value from_number(const Number& n, Base base, int width, Rounding rounding) {
  Value v = make(base, width, 0);
  v.bits = pack(n, format_of(v), rounding);
  if (n.nan()) v.loose = ones(width);
  return v;
}

Value converted(const Value& v, Base base, int width, Rounding rounding) {
  const bool to_float = base == Base::Float || base == Base::Bfloat;
  if (to_float && v.floating()) {
    if (v.base == base && v.width == width) return v;
    Value out = from_number(as_number(v), base, width, rounding);
    const Format from = format_of(v), to = format_of(out);
    if (as_number(v).nan()) {
      // The quiet bit and what follows it; sign kept.
      u128 payload = v.bits & ones(from.mantissa_bits);
      const int shift = to.mantissa_bits - from.mantissa_bits;
      payload = shift >= 0 ? payload << shift : payload >> -shift;
      out.bits = (v.bits >> (v.width - 1) & 1) << (width - 1) | u128(unsigned(to.top())) << to.mantissa_bits |
                 payload;
      out.loose = v.loose != 0 ? ones(width) : 0;
    }
    return out;
  }
  if (to_float && v.base == Base::Bits) return viewed(v, base, width);
  if (to_float) return from_number(as_number(v), base, width, rounding);
  // From a float only its bits can be meant: conversions to integers have names of their own.
  Value out = make(base, width, v.floating() ? v.bits : u128(as_integer(v)));
  out.loose = v.loose & ones(width);
  return out;
}

Value viewed(const Value& v, Base base, int width) {
  const bool to_float = base == Base::Float || base == Base::Bfloat;
  if (to_float && v.floating() && v.width != width) return converted(v, base, width, Rounding::NearestEven);
  // A signed number keeps its value in more bits.
  const bool extends = base == Base::Signed && v.base == Base::Signed && width > v.width;
  Value out = make(base, width, extends ? u128(as_integer(v)) : v.bits & ones(v.width));
  out.loose = v.loose & ones(width);
  return out;
}

Value sliced(const Value& v, int low, int count) {
  if (low < 0 || count <= 0 || low > 127) throw TextError("slice outside a value");
  Value out = make(v.base == Base::Bits ? Base::Bits : Base::Unsigned, count, v.bits >> low);
  out.loose = v.loose >> low & ones(count);
  if (v.arithmetic > count) out.arithmetic = v.arithmetic;
  return out;
}

}  // namespace emu::isa
