// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits. gfx942 has the formats without infinity and without -0, whose code is the one NaN (FNUZ);
// gfx12 has the OCP formats: fp8 (E4M3) with one NaN of either sign and no infinity, bf8 (E5M2) with both.
#pragma once
#include <bit>
#include <cstdint>

#include "emu/exec/ops/lanes.h"

namespace emu::exec {
namespace EMU_ISA {
namespace {

EMU_FN float two_to(int n) { return std::bit_cast<float>(uint32_t(n + 127) << 23); }

template <int ExponentBits, bool Fnuz>
EMU_FN float from_small(uint32_t code) {
  constexpr int kMantissa = 7 - ExponentBits, kBias = (1 << (ExponentBits - 1)) - (Fnuz ? 0 : 1);
  const uint32_t x = code & 0xff;
  const int e = int(x >> kMantissa) & ((1 << ExponentBits) - 1), m = int(x) & ((1 << kMantissa) - 1);
  const float sign = x & 0x80 ? -1.0f : 1.0f, nan = std::bit_cast<float>(0x7fc00000u);
  if (Fnuz && x == 0x80) return nan;
  if (!Fnuz && ExponentBits == 4 && (x & 0x7f) == 0x7f) return nan;
  if (!Fnuz && ExponentBits == 5 && e == 31) return m ? nan : sign * std::bit_cast<float>(0x7f800000u);
  return e == 0 ? sign * float(m) * two_to(1 - kBias - kMantissa)
                : sign * float(m + (1 << kMantissa)) * two_to(e - kBias - kMantissa);
}

/// To the nearest, ties to even, whatever MODE says of rounding. What is too large becomes infinity, NaN
/// where there is none; with MODE's FP16_OVFL a finite number becomes the largest one. A NaN of bf8 has all
/// bits of its mantissa set.
template <int ExponentBits, bool Fnuz>
EMU_FN uint32_t to_small(float f, bool limits) {
  constexpr int kMantissa = 7 - ExponentBits, kLeast = 1 - ((1 << (ExponentBits - 1)) - (Fnuz ? 0 : 1));
  constexpr uint32_t kLargest = Fnuz ? 0x7f : ExponentBits == 4 ? 0x7e : 0x7b;
  const uint32_t b = std::bit_cast<uint32_t>(f), sign = b >> 24 & 0x80, magnitude = b & 0x7fffffff;
  const uint32_t nan = Fnuz ? 0x80 : sign | 0x7f, infinite = Fnuz || ExponentBits == 4 ? nan : sign | 0x7c;
  if (magnitude > 0x7f800000) return nan;
  if (magnitude == 0x7f800000) return infinite;
  const int own = int(magnitude >> 23) - 127, e = own < kLeast ? kLeast : own;
  // Exact: a float times a power of two as a double.
  const double units =
      double(std::bit_cast<float>(magnitude)) * std::bit_cast<double>(uint64_t(kMantissa - e + 1023) << 52);
  const uint32_t whole = uint32_t(units);
  const double rest = units - double(whole);
  const uint32_t rounded = whole + (rest > 0.5 || (rest == 0.5 && (whole & 1)) ? 1 : 0);
  const uint32_t code = (uint32_t(e - kLeast) << kMantissa) + rounded;
  if (code > kLargest) return limits ? sign | kLargest : infinite;
  return Fnuz && code == 0 ? 0 : sign | code;
}

}  // namespace
}  // namespace EMU_ISA
}  // namespace emu::exec
