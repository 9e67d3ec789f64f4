// SPDX-License-Identifier: Apache-2.0
// Comparing the texts of table columns while compiling.
#pragma once

namespace beeswax {

constexpr bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace beeswax
