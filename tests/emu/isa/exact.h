// SPDX-License-Identifier: Apache-2.0
// Binary floating point on integers: numbers are a sign, 128 bits and an exponent, and are rounded once, when
// they are packed into a format. Shares nothing with the host's floating point or with the emulator.
#pragma once

#include <cstdint>

namespace emu::isa {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

struct Format {
  int exponent_bits, mantissa_bits;
  int width() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int top() const { return (1 << exponent_bits) - 1; }
};
inline constexpr Format kHalf{5, 10}, kBfloat{8, 7}, kSingle{8, 23}, kDouble{11, 52};

enum class Rounding { NearestEven, TowardZero, Up, Down };

/// mantissa * 2^exponent, and a little more where `sticky` is set.
struct Number {
  enum class Kind { Zero, Finite, Infinite, Nan };
  Kind kind = Kind::Zero;
  bool negative = false, signaling = false, sticky = false;
  int exponent = 0;
  u128 mantissa = 0;
  bool zero() const { return kind == Kind::Zero; }
  bool nan() const { return kind == Kind::Nan; }
  bool infinite() const { return kind == Kind::Infinite; }
};

inline u128 ones(int count) { return count >= 128 ? ~u128(0) : (u128(1) << count) - 1; }

Number unpack(u128 bits, Format format);
/// The nearest number of the format; a NaN becomes the quiet one with an empty payload.
u128 pack(const Number& number, Format format, Rounding rounding);
Number integer(bool negative, u128 magnitude);

Number negated(Number a);
Number add(const Number& a, const Number& b, Rounding rounding);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number square_root(const Number& a);
/// An exponent that decides as well as any larger one.
inline int limited(i128 power) { return power > 100000 ? 100000 : power < -100000 ? -100000 : int(power); }
Number truncated(const Number& a);
/// Times 2^power.
Number scaled(Number a, int power);
/// -1, 0, 1; 2 when a NaN is among them.
int compare(const Number& a, const Number& b);
/// Toward zero, at most `high` and at least `low`; a NaN is 0.
i128 to_integer(const Number& a, i128 low, i128 high);

/// The 8-bit formats: `ocp` is e4m3fn and e5m2 (gfx12), otherwise the formats without negative zero (gfx942).
Number unpack_fp8(unsigned bits, bool bf8, bool ocp);

}  // namespace emu::isa
