// SPDX-License-Identifier: Apache-2.0
// The functions that AMD's text uses and does not define. What each means is in AMD's ISA documents, in the
// descriptions of the instructions that use it.
#include <cmath>

#include "emu/isa/machine.h"

namespace emu::isa {
namespace {

constexpr Rounding kNearest = Rounding::NearestEven;

Number floor_of(const Number& x, Rounding rounding) {
  const Number whole = truncated(x);
  return x.negative && compare(whole, x) == 1 ? add(whole, integer(true, 1), rounding) : whole;
}
/// Nearest integer, ties to even.
Number rounded(const Number& x) {
  if (x.nan() || x.infinite() || x.zero()) return x;
  const Number low = floor_of(x, kNearest);
  const Number rest = add(x, negated(low), kNearest);
  Number half = integer(false, 1);
  half.exponent = -1;
  const int side = compare(rest, half);
  const bool odd = (to_integer(low, -(i128(1) << 100), i128(1) << 100) & 1) != 0;
  return side == 1 || (side == 0 && odd) ? add(low, integer(false, 1), kNearest) : low;
}
long double real(const Number& x) {
  if (x.nan()) return std::nanl("");
  if (x.infinite()) return x.negative ? -HUGE_VALL : HUGE_VALL;
  const long double m = std::ldexp(static_cast<long double>(uint64_t(x.mantissa >> 64)), 64) +
                        static_cast<long double>(uint64_t(x.mantissa));
  return (x.negative ? -1 : 1) * std::ldexp(m, x.exponent);
}
Number number(long double x) {
  Number n;
  n.negative = std::signbit(x);
  n.kind = std::isnan(x)   ? Number::Kind::Nan
           : std::isinf(x) ? Number::Kind::Infinite
           : x == 0        ? Number::Kind::Zero
                           : Number::Kind::Finite;
  if (n.kind != Number::Kind::Finite) return n;
  int exponent = 0;
  n.mantissa = uint64_t(std::ldexp(std::frexp(std::fabs(x), &exponent), 64));
  n.exponent = exponent - 64;
  return n;
}

struct TypeName {
  Base base;
  int width;
};
/// "f32" of "f32_to_i16".
bool read_type(const std::string& word, TypeName& out) {
  const size_t digits = word.find_first_of("0123456789");
  if (digits == std::string::npos || word.find_first_not_of("0123456789", digits) != std::string::npos)
    return false;
  const std::string letters = word.substr(0, digits);
  out.width = std::stoi(word.substr(digits));
  if (letters == "f")
    out.base = Base::Float;
  else if (letters == "bf")
    out.base = out.width == 8 ? Base::Bf8 : Base::Bfloat;
  else if (letters == "fp" && out.width == 8)
    out.base = Base::Fp8;
  else if (letters == "u")
    out.base = Base::Unsigned;
  else if (letters == "i")
    out.base = Base::Signed;
  else
    return false;
  return true;
}
Value clamped(const Number& n, TypeName to) {
  const bool is_signed = to.base == Base::Signed;
  const i128 high = i128(ones(is_signed ? to.width - 1 : to.width)), low = is_signed ? -high - 1 : 0;
  return make(to.base, to.width, u128(to_integer(n, low, high)));
}
/// f32_to_i16 and its like. Floats to integers: toward zero, saturating, a NaN is 0.
bool conversion(const std::string& name, const Value& v, const State& state, Value& out) {
  const size_t middle = name.find("_to_");
  if (middle == std::string::npos) return false;
  TypeName from, to;
  if (!read_type(name.substr(0, middle), from)) return false;
  const std::string target = name.substr(middle + 4);
  if (target == "snorm" || target == "unorm") {
    const bool is_signed = target == "snorm";
    Number n = as_number(v);
    const Number one = integer(false, 1), least = is_signed ? integer(true, 1) : integer(false, 0);
    if (compare(n, one) == 1) n = one;
    if (compare(n, least) == -1) n = least;
    n = rounded(multiply(n, integer(false, is_signed ? 32767 : 65535)));
    out = clamped(n, {is_signed ? Base::Signed : Base::Unsigned, 16});
    return true;
  }
  if (!read_type(target, to)) return false;
  const bool to_float = to.base == Base::Float || to.base == Base::Bfloat;
  if (from.base == Base::Fp8 || from.base == Base::Bf8) {
    if (to.base != Base::Float || to.width != 32) return false;
    out = from_number(unpack_fp8(unsigned(v.bits & 0xff), from.base == Base::Bf8, state.ocp), to.base,
                      to.width, kNearest);
    return true;
  }
  if (to.base == Base::Fp8 || to.base == Base::Bf8) return false;
  Value x = viewed(v, from.base, from.width);
  if (v.floating()) x = v;
  out = to_float ? from_number(as_number(x), to.base, to.width, state.rounding) : clamped(as_number(x), to);
  return true;
}

}  // namespace

Value call(const std::string& name, const std::vector<Value>& a, const State& state) {
  const auto need = [&](size_t count) {
    if (a.size() != count) throw TextError(name + " with " + std::to_string(a.size()) + " arguments");
  };
  if (name == "nop" || name == "s_nop") return make_bool(false);
  need(name == "fma" || name == "float32"                               ? 3
       : name == "ldexp" || name == "pow" || name == "signext_from_bit" ? 2
                                                                        : 1);
  const Value& x = a[0];
  Value out;
  if (conversion(name, x, state, out)) return out;
  if (name == "v_cvt_i16_f32") return clamped(as_number(x), {Base::Signed, 16});
  if (name == "v_cvt_u16_f32") return clamped(as_number(x), {Base::Unsigned, 16});
  if (name == "signext") return make_signed(64, as_integer(x));
  if (name == "signext_from_bit") {
    const i128 count = as_integer(a[1]);
    if (count <= 0) return make(Base::Signed, x.width, 0);
    if (count >= x.width) return x;
    Value v = make(Base::Signed, int(count), x.bits);
    return make_signed(x.width, as_integer(v));
  }
  if (!x.floating()) throw TextError("function " + name + " of an integer");
  const Number n = as_number(x);
  const Format f = format_of(x);
  const auto result = [&](const Number& r) { return from_number(r, x.base, x.width, state.rounding); };
  if (name == "isNAN") return make_bool(n.nan());
  if (name == "isSignalNAN") return make_bool(n.nan() && n.signaling);
  if (name == "isQuietNAN") return make_bool(n.nan() && !n.signaling);
  if (name == "sign") return make_bool(n.negative);
  if (name == "abs") {
    out = x;
    out.bits &= ones(x.width - 1);
    return out;
  }
  if (name == "cvtToQuietNAN") {
    out = x;
    out.bits |= u128(1) << (f.mantissa_bits - 1);
    return out;
  }
  if (name == "exponent") return make_signed(32, i128(x.bits >> f.mantissa_bits) & f.top());
  if (name == "mantissa") {
    // In [1/2, 1), with the number's sign.
    if (n.zero() || n.nan() || n.infinite()) return x;
    Number m = n;
    int top = 127;
    while ((m.mantissa >> top & 1) == 0) --top;
    m.exponent = -1 - top;
    return result(m);
  }
  if (name == "fma") return result(add(multiply(n, as_number(a[1])), as_number(a[2]), state.rounding));
  if (name == "trunc") return result(truncated(n));
  if (name == "floor") return result(floor_of(n, state.rounding));
  if (name == "fract") return result(add(n, negated(floor_of(n, state.rounding)), state.rounding));
  if (name == "isEven") return make_bool((to_integer(n, -(i128(1) << 100), i128(1) << 100) & 1) == 0);
  if (name == "sqrt") return result(square_root(n));
  if (name == "ldexp") return result(scaled(n, limited(as_integer(a[1]))));
  if (name == "log2") return result(number(std::log2(real(n))));
  if (name == "pow") return result(number(std::exp2(real(as_number(a[1])))));  // the base is always 2
  throw TextError("function " + name);
}

}  // namespace emu::isa
