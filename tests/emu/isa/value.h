// SPDX-License-Identifier: Apache-2.0
// A value of AMD's pseudo-code: up to 128 bits and what they are read as.
#pragma once

#include <stdexcept>
#include <string>

#include "emu/isa/exact.h"

namespace emu::isa {

enum class Base : uint8_t { Bits, Unsigned, Signed, Float, Bfloat, Fp8, Bf8 };

struct Value {
  Base base = Base::Bits;
  int width = 32;
  /// Sums, products and shifts are this wide: a slice of a 32-bit value counts in 32 bits.
  int arithmetic = 32;
  u128 bits = 0;
  /// Bits of a NaN that arithmetic made: which NaN is not said.
  u128 loose = 0;

  bool floating() const { return base == Base::Float || base == Base::Bfloat; }
  bool truth() const { return bits != 0; }
};

/// What the text has and the interpreter has not; the message says what.
struct TextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline Value make(Base base, int width, u128 bits) { return {base, width, width, bits & ones(width), 0}; }
inline Value make_signed(int width, i128 value) { return make(Base::Signed, width, u128(value)); }
inline Value make_bool(bool b) { return make(Base::Unsigned, 1, b); }

/// Two's complement of a value that is signed, else the bits.
i128 as_integer(const Value& v);
Format format_of(const Value& v);
Number as_number(const Value& v);
/// Rounds; an arithmetic NaN is loose.
Value from_number(const Number& n, Base base, int width, Rounding rounding);
/// Another width and kind of the same number: 32'F(x), 64'U(x), an assignment. A NaN keeps its payload.
Value converted(const Value& v, Base base, int width, Rounding rounding);
/// The same bits read as another type: x.f32.
Value viewed(const Value& v, Base base, int width);
Value sliced(const Value& v, int low, int count);

}  // namespace emu::isa
