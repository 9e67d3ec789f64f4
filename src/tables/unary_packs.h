// SPDX-License-Identifier: Apache-2.0
// How many packs a thread makes of a row of unary.def, which GPU kernels and the host code that launches them
// must agree on.
#pragma once

#include "tables/same_text.h"

namespace beeswax {

/// Whether a row's expression takes the sine or the cosine of its argument: the only functions whose large
/// arguments cost more.
constexpr bool has_angle(const char* expr) {
  for (; *expr != 0; ++expr)
    if (expr[0] == 'm' && expr[1] == ':' && expr[2] == ':' && (expr[3] == 's' || expr[3] == 'c') &&
        (expr[4] == 'i' || expr[4] == 'o') && (expr[5] == 'n' || expr[5] == 's') && expr[6] == '(')
      return true;
  return false;
}

/// Whether a row is costly: narrow elements have a shorter expression, or there is an angle.
constexpr bool unary_is_costly(const char* expr, const char* half) {
  return !same_text(half, "SAME") || has_angle(expr);
}
/// Packs of a thread: two of costly functions, of which a second load need not wait for the first; but one of
/// 8-byte elements, whose functions fill the registers.
constexpr int unary_packs(bool costly, int bytes) { return costly && bytes <= 4 ? 2 : 1; }

}  // namespace beeswax
