// SPDX-License-Identifier: Apache-2.0
// The kinds of ceilings.
#pragma once

namespace beeswax::bench {

/// What a case's rate is divided by. Every ceiling is measured by a loop of our own, between the samples of
/// the case, on the same threads. Bandwidths count nominal bytes: those read plus those written.
enum class Ceiling {
  None,
  Read,     ///< sum of 64-bit words
  Write,    ///< fill
  Copy,     ///< one array read, one written
  Triad,    ///< two arrays read, one written
  Widen2,   ///< one array read, two bytes written for each: the mix of a cast to twice the size
  Widen4,   ///< four bytes written for each
  Narrow2,  ///< one byte written for each two that are read: a cast to half the size
  Narrow4,  ///< for each four
  Narrow8,  ///< for each eight: a comparison of two f32 tensors
  FmaF32,   ///< chains of f32 multiply-adds in registers; two operations each
  FmaF64,   ///< the same in f64
  Int8Dot,  ///< chains of 8-bit dot products in registers; two operations for each product
};
inline constexpr int kCeilingCount = 13;

/// "copy", "f32 fma", ...; "-" for None.
const char* ceiling_name(Ceiling ceiling);
/// Whether the ceiling is in operations (else bytes) per second.
bool ceiling_counts_operations(Ceiling ceiling);

}  // namespace beeswax::bench
