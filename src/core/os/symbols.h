// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace beeswax::os {

/// What a source calls what the compiler calls `symbol`; the symbol itself where it is not mangled.
std::string demangled(const std::string& symbol);

}  // namespace beeswax::os
