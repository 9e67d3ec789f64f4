// SPDX-License-Identifier: Apache-2.0
// Whole divisions by a positive number.
#pragma once

#include <cstdint>

namespace beeswax {

/// The quotient rounded toward minus infinity; b > 0.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
/// The quotient rounded toward plus infinity; b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
/// The smallest multiple of b that is not less than a; b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace beeswax
