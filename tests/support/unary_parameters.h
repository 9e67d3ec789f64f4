// SPDX-License-Identifier: Apache-2.0
// Numbers for the parameter of unary operations.
#pragma once

#include <span>
#include <string_view>

namespace beeswax::test {

inline constexpr double kExponentsTried[] = {2.5, -3, -0.5, 0.3, 20}, kNumbersTried[] = {1.25, 0.5};

/// What tests try as the parameter of that name; those that try one number take the first. A name that stands
/// nowhere here has numbers too, so that a new row of unary.def is tested from its one line.
constexpr std::span<const double> unary_parameters(std::string_view name) {
  return name == "exponent" ? std::span<const double>(kExponentsTried)
                            : std::span<const double>(kNumbersTried);
}

}  // namespace beeswax::test
