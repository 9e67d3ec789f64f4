// SPDX-License-Identifier: Apache-2.0
// The library's version.
#pragma once

#include "beeswax/export.h"

namespace beeswax {

/// "0.1.0"
BW_API const char* version();

}  // namespace beeswax
