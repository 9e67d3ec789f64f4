// SPDX-License-Identifier: Apache-2.0
// The narrow floating-point types. They hold bits; arithmetic widens to float, computes there and rounds
// once (round to nearest, ties to even). All conversions are branch-free, so loops over them vectorize, and
// exact to the bit on every device.
#pragma once

#include "beeswax/portable.h"

namespace beeswax {

/// float to IEEE binary16 bits. Overflow gives infinity; every NaN becomes the quiet NaN 0x7e00 with its
/// sign.
BW_FN uint16_t f16_from_float(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t mag = bits & 0x7fffffffu;
  // Normal results: rebias by 15 - 127 and round the 13 dropped bits to even.
  const uint32_t normal = (mag + 0xfffu + ((mag >> 13) & 1u) - (112u << 23)) >> 13;
  // Subnormal results: adding 0.5 aligns the last place with 2^-24, and the addition rounds.
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(mag) + 0.5f) - bit_cast<uint32_t>(0.5f);
  uint32_t out = mag < 0x38800000u ? tiny : normal;
  out = mag >= 0x477ff000u ? 0x7c00u : out;  // 65520 and above round to infinity
  out = mag > 0x7f800000u ? 0x7e00u : out;
  return static_cast<uint16_t>(out | sign);
}

/// IEEE binary16 bits to float, exactly; a NaN keeps its payload.
BW_FN float f16_to_float(uint16_t half) {
  const uint32_t sign = (static_cast<uint32_t>(half) & 0x8000u) << 16;
  const uint32_t mag = (static_cast<uint32_t>(half) & 0x7fffu) << 13;
  const uint32_t normal = mag + (112u << 23);
  const uint32_t special = mag + (224u << 23);  // infinity and NaN
  // Subnormal: a float with exponent 2^-14 and this fraction, less 2^-14.
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(mag + (113u << 23)) - bit_cast<float>(113u << 23));
  uint32_t out = mag < (1u << 23) ? tiny : normal;
  out = mag >= (31u << 23) ? special : out;
  return bit_cast<float>(out | sign);
}

/// float to bfloat16 bits. Every NaN becomes quiet.
BW_FN uint16_t bf16_from_float(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/// bfloat16 bits to float, exactly.
BW_FN float bf16_to_float(uint16_t half) { return bit_cast<float>(static_cast<uint32_t>(half) << 16); }

/// float to F8E4M3 (the variant without infinities: 1 sign, 4 exponent bits with bias 7, 3 fraction bits).
/// Saturates to 448, infinities too; NaN becomes 0x7f with its sign.
BW_FN uint8_t f8e4m3_from_float(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 24) & 0x80u;
  const uint32_t mag = bits & 0x7fffffffu;
  const uint32_t normal = (mag + 0x7ffffu + ((mag >> 20) & 1u) - (120u << 23)) >> 20;
  // Subnormal results have the last place 2^-9: adding 2^14 aligns it.
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(mag) + 16384.0f) - bit_cast<uint32_t>(16384.0f);
  uint32_t out = mag < 0x3c800000u ? tiny : normal;
  out = mag >= 0x43e00000u ? 0x7eu : out;  // 448 and above
  out = mag > 0x7f800000u ? 0x7fu : out;
  return static_cast<uint8_t>(out | sign);
}

/// F8E4M3 bits to float, exactly.
BW_FN float f8e4m3_to_float(uint8_t byte) {
  const uint32_t sign = (static_cast<uint32_t>(byte) & 0x80u) << 24;
  const uint32_t mag = (static_cast<uint32_t>(byte) & 0x7fu) << 20;
  const uint32_t normal = mag + (120u << 23);
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(mag + (121u << 23)) - bit_cast<float>(121u << 23));
  uint32_t out = mag < (1u << 23) ? tiny : normal;
  out = mag == (0x7fu << 20) ? 0x7fc00000u : out;
  return bit_cast<float>(out | sign);
}

/// IEEE binary16.
struct f16 {
  uint16_t bits;
  f16() = default;
  BW_MEMBER_FN explicit f16(float value) : bits(f16_from_float(value)) {}
  BW_MEMBER_FN explicit operator float() const { return f16_to_float(bits); }
};

/// bfloat16: the upper half of a float.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  BW_MEMBER_FN explicit bf16(float value) : bits(bf16_from_float(value)) {}
  BW_MEMBER_FN explicit operator float() const { return bf16_to_float(bits); }
};

/// F8E4M3 without infinities (the OCP "FN" variant).
struct f8e4m3 {
  uint8_t bits;
  f8e4m3() = default;
  BW_MEMBER_FN explicit f8e4m3(float value) : bits(f8e4m3_from_float(value)) {}
  BW_MEMBER_FN explicit operator float() const { return f8e4m3_to_float(bits); }
};

}  // namespace beeswax
